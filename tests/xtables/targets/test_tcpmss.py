"""Tests for `-j TCPMSS`; what the kernel does with it stands in tests/kernel/scenarios."""

from __future__ import annotations

import pytest

from podpath.datapath.vocabulary import StepDecision
from podpath.net import protocols
from podpath.xtables.context import RuleContext
from podpath.xtables.rule import MatchOption, Target
from podpath.xtables.targets.tcpmss import compile_target
from tests.datapath.given import Sender, given, given_rules, tcp
from tests.xtables.test_context import RULE, SETS

SYN = tcp(flags=protocols.SYN)._replace(length=60, mss=1460)
CONTEXT = RuleContext(RULE, "host", 4, "nft", SETS)
ONLY_SYN = "-p tcp -m tcp --tcp-flags SYN,RST SYN"


@pytest.mark.parametrize(("size", "offered", "after"), [
    (1200, 1460, 1200), (1500, 1460, 1460), (1200, 0, 1200), (1460, 1460, 1460),
])  # fmt: skip
def test_the_mss_of_a_syn_is_lowered_alone(size: int, offered: int, after: int) -> None:
    """To a size and never up; the step says so where it changed."""
    rules = given_rules(f"PREROUTING {ONLY_SYN} -j TCPMSS --set-mss {size}", table="mangle")
    sender = Sender(given(rules))
    skb = sender.skb(SYN._replace(mss=offered))
    sender.send(skb, "PREROUTING")

    assert after == skb.packet.mss
    decisions = {step.decision for step in sender.walk.trace.steps}
    assert (StepDecision.REWRITE in decisions) is (offered != after)


@pytest.mark.parametrize("options", [(), (MatchOption("set-mss", ("1",)),) * 2])
def test_one_option_is_expected(options: tuple[MatchOption, ...]) -> None:
    """None, and several, are refused."""
    with pytest.raises(ValueError, match="--clamp-mss-to-pmtu"):
        compile_target(Target("TCPMSS", options), CONTEXT)

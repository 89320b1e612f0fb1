"""Tests for targets that nobody knows, and those at which a walk ends."""

from __future__ import annotations

import pytest

from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.rules import ACT
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Queued, Verdict
from podpath.datapath.reasons.boundaries import TargetNotFollowed
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.vocabulary import Hook
from podpath.datapath.xtables.registry import compile_target
from podpath.node.netfilter import Target
from podpath.xtables.context import RuleContext
from tests.datapath.given import Sender, given, given_rules, given_tables, tcp
from tests.xtables.test_context import SETS


def meet(name: str, *answers: int) -> tuple[Verdict | None, HookState]:
    """Let a packet meet a rule with the target, on the likeliest branch or that of the answers."""
    sender = Sender(given())
    sender.walk.choices = Choices(answers)
    state = HookState(sender.walk, sender.skb(tcp(), oif="eth0"), Hook.OUTPUT)
    chain = given_tables(given_rules("FORWARD -j DROP"))[0].chains["FORWARD"]
    rule = chain.value.rules[0]  # type: ignore[union-attr]  # a known chain
    act = compile_target(Target(name), RuleContext(rule, "host", 4, "nft", SETS))
    assert act is not None
    return act(state, CompiledRule(rule, (), ACT, act)), state


def test_a_walk_ends_at_what_is_not_modeled() -> None:
    """It says which target that was."""
    verdict, state = meet("SYNPROXY")

    assert isinstance(verdict, Queued)
    assert isinstance(verdict.reason, TargetNotFollowed)
    assert "SYNPROXY" == verdict.reason.target
    assert state.decision is not None


def test_an_unknown_target_likely_goes_on() -> None:
    """The next rule is tried first; the other branches accept and drop."""
    verdict, state = meet("FROB")

    assert verdict is None
    assert state.decision is None


@pytest.mark.parametrize(("answer", "verdict"), [(1, ACCEPT), (2, DROP)])
def test_an_unknown_target_may_end_the_walk(answer: int, verdict: Verdict) -> None:
    """The other branches accept and drop the packet, by the rule."""
    found, state = meet("FROB", answer)

    assert verdict is found
    assert state.decision is not None

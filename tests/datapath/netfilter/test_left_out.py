"""Rules that the evidence leaves out: which decisions rest on them, and which stand before them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.netfilter.left_out import LeftOut, pass_left_out
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP
from podpath.datapath.tracing.trace import Step
from podpath.datapath.vocabulary import Hook
from podpath.net.provenance import Known
from podpath.node.netfilter import Chain
from tests.datapath.given import Given, Sender, given, given_rules, tcp, with_chain

MISSING = LeftOut("host", "filter", "FORWARD")
ASK = "iptables-nft-save -c"


def given_cut(*rules: str, in_line: int = 0, policy: str = "ACCEPT") -> Given:
    """Return a node whose FORWARD lacks rules; `in_line` of the shown ones stand at its head."""
    node = given(given_rules(*rules, policy=policy, chains=["USER"]))
    shown = node.netns.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(shown, Known)
    return with_chain(node, "FORWARD", Known(replace(shown.value, complete=False, in_line=in_line)))


def forward(node: Given) -> tuple[Sender, Step | None]:
    """Send a SYN through FORWARD; the step that the table recorded, where it did."""
    sender = Sender(node)
    sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), Hook.FORWARD)
    steps = [step for step in sender.walk.trace.steps if step.stage == "FORWARD filter"]
    return sender, steps[-1] if steps else None


def rests_on(node: Given) -> list[object]:
    """Return what the decision of FORWARD takes for granted."""
    _, step = forward(node)
    assert step is not None
    return [made.value for made in step.assumed]


def test_a_rule_behind_the_gap_rests_on_what_is_left_out() -> None:
    """A rule that is not shown may have accepted before it."""
    assert [MISSING] == rests_on(given_cut("FORWARD -j DROP"))


def test_a_rule_in_line_rests_on_nothing() -> None:
    """What stands at the head of the chain decides, whatever is missing below."""
    node = given_cut("FORWARD -p udp -j ACCEPT", "FORWARD -j DROP", in_line=2)

    assert [] == rests_on(node)
    assert [] == forward(node)[0].walk.choices.made


def test_the_first_rule_behind_the_gap_is_the_first_in_doubt() -> None:
    """With one rule in line the second one rests on what may stand between them."""
    node = given_cut("FORWARD -p udp -j ACCEPT", "FORWARD -j DROP", in_line=1)

    assert [MISSING] == rests_on(node)


def test_a_policy_rests_on_what_is_left_out() -> None:
    """A packet that comes to the end has passed every place where a rule may be missing."""
    assert [MISSING] == rests_on(given_cut(in_line=0, policy="DROP"))


def test_a_whole_chain_leaves_nothing_out() -> None:
    """Neither its rules nor its policy rest on anything."""
    assert [] == rests_on(given(given_rules("FORWARD -p udp -j ACCEPT", policy="DROP")))


@pytest.mark.parametrize("rule", ["FORWARD -j USER", "FORWARD -g USER"])
def test_what_a_called_chain_decides_rests_on_the_way_to_it(rule: str) -> None:
    """The jump stands behind the gap, and so does all that it leads to."""
    assert [MISSING] == rests_on(given_cut(rule, "USER -j DROP"))


def test_the_walk_goes_on_as_if_no_rule_matched() -> None:
    """What is left out forks nothing: the verdict is that of the rules that are shown."""
    for rule, verdict in (("FORWARD -j DROP", DROP), ("FORWARD -j ACCEPT", ACCEPT)):
        sender = Sender(given_cut(rule))
        skb = sender.skb(tcp(), iif="cni0", oif="eth0")
        assert verdict == sender.send(skb, Hook.FORWARD)
        assert [1] == sender.walk.choices.widths


def test_a_chain_is_asked_for_once() -> None:
    """Passed at several places and by several packets, it is one assumption with one question."""
    node = given_cut("FORWARD -p tcp", "FORWARD -j USER", "FORWARD -j DROP", "USER -p tcp")
    sender = Sender(node)
    for _ in range(2):
        sender.send(sender.skb(tcp(), iif="cni0", oif="eth0"), Hook.FORWARD)
    (made,) = sender.walk.choices.made

    assert (MISSING, False) == (made.value, made.random)
    assert made.ask.startswith("iptables")


def test_two_chains_are_two_assumptions() -> None:
    """Each is named by its own chain, and each is held once by the state, in the order met."""
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp()), Hook.FORWARD)
    state.table = "filter"
    for name in ("A", "B", "A"):
        pass_left_out(state, Chain(name=name, rules=(), complete=False), "table filter", ASK)

    assert [LeftOut("host", "filter", name) for name in "AB"] == [
        made.value for made in state.assumed
    ]
    assert {ASK} == {made.ask for made in state.assumed}

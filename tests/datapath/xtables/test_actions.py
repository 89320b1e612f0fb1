"""Tests for what targets do to a walk's packet: the deed, and the reason with its rule."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.tuples import inverse
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.reasons.rules import MarkSet, MarksSet, TosSet, ZoneSet
from podpath.datapath.vocabulary import Hook, StepDecision
from podpath.datapath.xtables.actions import Actions
from podpath.net import protocols
from podpath.node.netfilter import ConnTuple
from podpath.testing.nodes import ip
from podpath.xtables.seen import ZoneWanted
from tests.datapath.given import Sender, given, given_rules, given_tables, tcp


def actions() -> Actions:
    """Stand with a rule before a packet."""
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(), oif="eth0"), Hook.OUTPUT)
    chain = given_tables(given_rules("FORWARD -j DROP"))[0].chains["FORWARD"]
    return Actions(state, chain.value.rules[0])  # type: ignore[union-attr]  # a known chain


def test_a_mark_is_set_in_the_name_of_the_rule() -> None:
    """The packet has it, and the decision says which rule gave it."""
    acting = actions()
    acting.set_mark(7)
    decision = acting.state.decision

    assert 7 == acting.skb.mark
    assert decision is not None
    assert (StepDecision.MARK, MarkSet(acting.rule, 7), acting.rule.span) == decision


def test_tos_replaces_the_packet() -> None:
    """Packets are values: the walk has a new one."""
    acting = actions()
    before = acting.skb.packet
    acting.set_tos(0x10)

    assert before._replace(tos=0x10) == acting.skb.packet
    assert acting.state.decision is not None
    assert TosSet(acting.rule, 0x10) == acting.state.decision.reason


def test_a_zone_by_mark_is_the_lower_half_of_the_mark() -> None:
    """`--zone mark` takes 16 bits; a second template changes nothing."""
    acting = actions()
    acting.skb.mark = 0x70005
    acting.hang_template(ZoneWanted(from_mark=True), "ftp")
    acting.hang_template(ZoneWanted(9), "")

    assert acting.skb.template is not None
    assert (5, "ftp") == (acting.skb.template.zone.id, acting.skb.template.helper)
    assert acting.state.decision is not None
    assert ZoneSet(acting.rule, 5, "ftp") == acting.state.decision.reason


def test_both_marks_are_set_where_the_packet_has_a_connection() -> None:
    """One that conntrack did not see has its own mark alone."""
    tracked, untracked = actions(), actions()
    original = ConnTuple(ip("10.244.0.5"), ip("198.51.100.7"), protocols.TCP, 40000, 80)
    tracked.skb.connection = Connection(original, inverse(original))
    for acting in (tracked, untracked):
        acting.set_marks(3, 4)
        assert 3 == acting.skb.mark
        assert acting.state.decision is not None
        assert MarksSet(acting.rule, 3, 4) == acting.state.decision.reason

    assert 4 == tracked.skb.connection.mark

"""Tests of the packet under way."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Template, Zone
from podpath.datapath.vocabulary import CtInfo
from podpath.datapath.walk.skb import attached, is_untouched
from podpath.testing.nodes import given_node
from tests.datapath.walks import given_skb, given_walk, packet


def test_a_template_hangs_on_a_packet_until_conntrack_sees_it() -> None:
    """It counts as a confirmed connection of zeros, and no later rule may say something else."""
    skb = given_skb(given_walk(given_node()), packet("10.0.0.1", "10.0.0.2"))
    assert (attached(skb), is_untouched(skb)) == (None, True)
    skb.template = Template(Zone(7))
    held = attached(skb)
    assert (held is not None and held.confirmed, is_untouched(skb)) == (True, False)


def test_what_is_invalid_may_be_marked_again() -> None:
    """Nothing hangs on an invalid packet; one that a rule keeps from conntrack is not asked for
    again.
    """
    skb = given_skb(given_walk(given_node()), packet("10.0.0.1", "10.0.0.2"))
    seen = {}
    for state in (CtInfo.INVALID, CtInfo.UNTRACKED):
        skb.ctinfo = state
        seen[state] = is_untouched(skb)
    assert seen == {CtInfo.INVALID: True, CtInfo.UNTRACKED: False}

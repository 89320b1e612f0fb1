"""Tests for zones of connections."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Template, Zone, attached, is_untouched
from podpath.datapath.tracing.exploration import Choices
from podpath.datapath.walk.skb import Walk
from podpath.testing.nodes import given_node
from tests.datapath.walks import given_skb, packet


def test_a_zone_counts_in_its_directions_only() -> None:
    """A zone of one direction is the default zone in the other."""
    assert (5, 5) == (Zone(5).in_direction(reply=False), Zone(5).in_direction(reply=True))
    assert (5, 0) == (
        Zone(5, reply=False).in_direction(reply=False),
        Zone(5, reply=False).in_direction(reply=True),
    )
    assert (0, 5) == (
        Zone(5, original=False).in_direction(reply=False),
        Zone(5, original=False).in_direction(reply=True),
    )


def test_a_template_hangs_on_a_packet_until_conntrack_sees_it() -> None:
    """It counts as a confirmed connection of zeros, and no later rule may say something else."""
    skb = given_skb(Walk(given_node(), Choices()), packet("10.0.0.1", "10.0.0.2"))
    assert (attached(skb), is_untouched(skb)) == (None, True)
    skb.template = Template(Zone(7))
    held = attached(skb)
    assert (held is not None and held.confirmed, is_untouched(skb)) == (True, False)


def test_what_is_invalid_may_be_marked_again() -> None:
    """Nothing hangs on an invalid packet; one that a rule keeps from conntrack is not asked for
    again.
    """
    skb = given_skb(Walk(given_node(), Choices()), packet("10.0.0.1", "10.0.0.2"))
    seen = {}
    for state in ("INVALID", "UNTRACKED"):
        skb.ctinfo = state
        seen[state] = is_untouched(skb)
    assert seen == {"INVALID": True, "UNTRACKED": False}

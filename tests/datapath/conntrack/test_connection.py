"""Tests for zones of connections."""

from __future__ import annotations

from podpath.datapath.conntrack.connection import Zone


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

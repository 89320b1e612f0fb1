"""Translations, read off passages."""

from __future__ import annotations

from podpath.capture.sightings import FiveTuple, Passage, SeenPacket
from podpath.net.addresses import Address
from podpath_capture.matching.nat_map import find_translations


def passage(point: int, src: str, dst: str) -> Passage:
    """Make a passage with these ends."""
    ends = FiveTuple(6, Address.parse(src), 1000, Address.parse(dst), 80)
    seen = SeenPacket(point, "a", 1, 0)
    return Passage(
        point=point, ends=ends, tunnel=None, ttl=64, packets=1, payload=0, first=seen, last=seen
    )


def test_each_change_of_ends_is_a_translation() -> None:
    """Unchanged ends give none; which side changed is said, and where."""
    found = find_translations(
        [
            passage(0, "1.1.1.1", "2.2.2.2"), passage(1, "1.1.1.1", "2.2.2.2"),
            passage(2, "1.1.1.1", "3.3.3.3"), passage(2, "9.9.9.9", "3.3.3.3"),
            passage(4, "8.8.8.8", "4.4.4.4"),
        ]
    )  # fmt: skip

    assert [(1, 2, "destination"), (2, 2, "source"), (2, 4, "both")] == [
        (each.after, each.before, each.kind) for each in found
    ]

"""tcpdump's counts at the end of its text are held against the packets above them."""

from __future__ import annotations

import pytest

from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import GapKind, Source

LOST = "the kernel dropped 7 packets that the capture does not show"
LINE = "09:00:00.{} IP 10.0.0.1.40000 > 10.0.0.2.80: Flags [S], seq 1, win 64240, length 0"


@pytest.mark.parametrize(
    ("shown", "counts", "told"),
    [
        (3, ("3 packets captured", "0 packets dropped by kernel"), []),
        (2, ("12 packets captured",), ["tcpdump captured 12 packets, and 2 are shown"]),
        (3, ("3 packets captured", "7 packets dropped by kernel"), [LOST]),
        (0, ("12 packets captured",), []),
        (3, ("2 packets captured", "4 packets dropped by interface"), []),
    ],
)  # fmt: skip
def test_counts_at_the_end_are_held_against_the_packets(
    shown: int, counts: tuple[str, ...], told: list[str]
) -> None:
    """What of a capture somebody left out is told, and what the kernel dropped."""
    lines = [LINE.format(f"{number:06}") for number in range(shown)]
    reading = read_tcpdump(Source(name="a.txt", lines=(*lines, *counts)))
    assert told == [gap.why for gap in reading.gaps if gap.kind is GapKind.SELECTED]


def test_empty_lines_stand_for_packets_of_long_captures() -> None:
    """Of those only lines that tell something are shown."""
    lines = (LINE.format("000001"), *[""] * 11, "12 packets captured")

    assert () == read_tcpdump(Source(name="a.txt", lines=lines)).gaps

"""Short printed captures of a case: which packets belong to which."""

from __future__ import annotations

from podpath.collect.printed_frames import list_printed
from tests.checks.made_captures import case_of_captures, handshake

ETH1, ETH2 = "tcpdump -nn -i eth1", "tcpdump -nn -i eth2"


def test_each_text_is_a_capture_with_its_packets() -> None:
    """Two texts are two captures, in their order."""
    first, second = list_printed(case_of_captures({ETH1: handshake(), ETH2: handshake()[:2]}), ())

    assert (first.name, second.name) == ("capture-0.txt", "capture-1.txt")
    assert (3, 2) == (len(first.frames), len(second.frames))


def test_files_that_are_kept_as_columns_are_left_out() -> None:
    """Their packets are matched from their columns."""
    assert list_printed(case_of_captures({ETH1: handshake()}), {"capture-0.txt"}) == ()

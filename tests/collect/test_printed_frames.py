"""Short printed captures of a case: which packets belong to which."""

from __future__ import annotations

from podpath.collect.printed_frames import find_unshown_frames, list_printed
from podpath.net.provenance import GapKind
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


def test_packet_that_tells_of_others_is_quoted() -> None:
    """A segment whose bytes stand behind others that are acknowledged; of all of them, nothing."""
    start = "09:00:0{} IP 10.0.0.1.4000 > 10.0.0.2.80: Flags [{}], {}, win 64240, length {}"
    back = "09:00:0{} IP 10.0.0.2.80 > 10.0.0.1.4000: Flags [{}], {}, win 64240, length {}"
    talk = [
        start.format("0.000001", "S", "seq 99", 0),
        back.format("0.100001", "S.", "seq 499, ack 100", 0),
        start.format("1.000001", "P.", "seq 1:101, ack 1", 100),
        start.format("2.000001", "P.", "seq 101:201, ack 1", 100),
        back.format("3.000001", ".", "ack 201", 0),
    ]
    (whole,) = list_printed(case_of_captures({ETH1: tuple(talk)}), ())
    (part,) = list_printed(case_of_captures({ETH1: (*talk[:2], *talk[3:])}), ())
    (gap,) = find_unshown_frames(part)

    assert [] == [*find_unshown_frames(whole)]
    assert (GapKind.SELECTED, talk[3]) == (gap.kind, gap.span.text)
    assert gap.why.startswith(f"line {gap.span.line} comes behind data")

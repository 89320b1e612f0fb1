"""Captures of several points as facts: where they were taken."""

from __future__ import annotations

from pathlib import Path

from podpath.collect.captures import Kept
from podpath.collect.matched import MatchedCaptures, spell_connection
from podpath.collect.read import read_evidence
from tests.capture import frames

SYN = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp()))


def matched(*paths: Path) -> MatchedCaptures:
    """Read captures and put them together."""
    kept: list[Kept] = []
    read_evidence([str(path) for path in paths], keep=kept.append)
    return MatchedCaptures(kept)


def test_points_are_files_with_their_times_and_counts(tmp_path: Path) -> None:
    """Each file is a point, named after it, with the time of its first and last packet."""
    for name in ("a.pcap", "b.pcap"):
        (tmp_path / name).write_bytes(frames.pcap([SYN] * 3))
    points = matched(tmp_path / "a.pcap", tmp_path / "b.pcap").points

    assert ["a.pcap", "b.pcap"] == [point.name for point in points]
    assert [(3, 0), (3, 0)] == [(point.packets, point.dropped) for point in points]
    assert [frames.START + 2] * 2 == [int(point.last or 0) for point in points]


def test_one_connection_is_spelled_from_who_opened_it(tmp_path: Path) -> None:
    """Whatever point shows it first, its words are those of a probe."""
    (tmp_path / "a.pcap").write_bytes(frames.pcap([SYN]))
    made = matched(tmp_path / "a.pcap")

    assert ["tcp 10.0.0.1:40000 > 10.0.0.2:80"] == [spell_connection(one) for one in made.matching]


def test_packets_are_quoted_by_their_number(tmp_path: Path) -> None:
    """A packet's line is what tcpdump prints of it, and its number is that of the packet."""
    (tmp_path / "a.pcap").write_bytes(frames.pcap([SYN] * 3))
    made = matched(tmp_path / "a.pcap")
    (span,) = made.quote([made.matching.connection(0).forward.passages[0].last])

    assert (3, str(tmp_path / "a.pcap")) == (span.line, span.source.name)
    assert "10.0.0.1.40000 > 10.0.0.2.80: Flags [S]" in span.text


def test_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    """Where a name alone would not tell which file is meant, the folder is told."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.pcap").write_bytes(frames.pcap([SYN]))
    points = matched(tmp_path / "one" / "a.pcap", tmp_path / "two" / "a.pcap").points

    assert [str(tmp_path / "one" / "a.pcap"), str(tmp_path / "two" / "a.pcap")] == [point.name for point in points]


def segment(flags: int, numbers: tuple[int, int], *, back: bool = False) -> bytes:
    """Make a frame of the connection, or of its way back."""
    ports, ends = ((80, 40000), ("10.0.0.2", "10.0.0.1")) if back else ((40000, 80), ("10.0.0.1", "10.0.0.2"))
    return frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(flags, ports=ports, numbers=numbers), ends=ends))


def test_loss_between_two_points_is_a_fact_with_its_packets(tmp_path: Path) -> None:
    """The ACK that the second point does not show is told with the packet where it was last seen, and what was seen around it."""
    handshake = [segment(0x02, (1000, 0)), segment(0x12, (7000, 1001), back=True), segment(0x10, (1001, 7001))]
    again = [segment(0x12, (7000, 1001), back=True)] * 2
    (tmp_path / "near.pcap").write_bytes(frames.pcap([*handshake, *again]))
    times = (0, 1, 3, 4)  # the file's packets come a second apart: the ACK of the third second is left out
    whole = frames.pcap([*handshake, *again])
    size = 16 + len(handshake[0])
    (tmp_path / "far.pcap").write_bytes(whole[:24] + b"".join(whole[24 + at * size : 24 + (at + 1) * size] for at in times))
    (lost,) = matched(tmp_path / "near.pcap", tmp_path / "far.pcap").find_lost()

    assert ("tcp 10.0.0.1:40000 > 10.0.0.2:80", True, "ACK") == (lost.connection, lost.forward, lost.what)
    assert (("near.pcap", 3), "far.pcap") == ((lost.seen[-1][0], lost.seen[-1][1].line), lost.missing_at)

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

    assert [str(tmp_path / "a.pcap"), str(tmp_path / "b.pcap")] == [point.name for point in points]
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

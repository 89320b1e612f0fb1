"""Captures of several points as facts: where they were taken."""

from __future__ import annotations

from pathlib import Path

from podpath.collect.captures import Kept
from podpath.collect.matched import MatchedCaptures, spell_connection
from podpath.collect.printed_frames import list_printed
from podpath.collect.read import read_evidence
from tests.capture import frames
from tests.checks.made_captures import CLIENT, SERVER, case_of_captures, exchange, handshake, tcp

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

    assert made.matching is not None
    assert ["tcp 10.0.0.1:40000 > 10.0.0.2:80"] == [spell_connection(one) for one in made.matching]
    assert made.find_lost() == ()


def test_capture_without_connections_has_its_points_alone(tmp_path: Path) -> None:
    """Where nothing can be matched the points are told all the same."""
    (tmp_path / "a.pcap").write_bytes(frames.pcap([frames.ethernet(0x88CC, b"lldp")] * 2))
    made = matched(tmp_path / "a.pcap")

    assert (None, (), None) == (made.matching, made.find_lost(), made.draw(()))
    assert [2] == [point.packets for point in made.points]


def test_printed_captures_are_followed_as_packets_are() -> None:
    """Of two printed captures, one without the client's ACK, the loss is told with the line that
    shows the packet last.
    """
    whole = (
        *handshake(),
        *(tcp(after, f"{SERVER} > {CLIENT}", "S.", 77_000, 1001) for after in (1.0, 3.0)),
    )
    case = case_of_captures(
        {"tcpdump -nn -i eth1": whole, "tcpdump -nn -i eth2": (*whole[:2], *whole[3:])}
    )
    made = MatchedCaptures((), list_printed(case, ()))
    (lost,) = made.find_lost()

    assert ("ACK", "capture-0.txt:3") == (lost.what, str(lost.seen[-1][1]))
    assert lost.missing_at.startswith("capture-1.txt")
    assert made.points == ()
    assert made.draw([lost.connection]) is not None


def test_printed_captures_of_what_works_lose_nothing() -> None:
    """The same packets at two points, the second a moment later, are all there."""
    case = case_of_captures(
        {
            "tcpdump -nn -i eth1": (*handshake(), *exchange(0.1), *exchange(0.5)),
            "tcpdump -nn -i eth2": (*handshake(0.0002), *exchange(0.1002), *exchange(0.5002)),
        }
    )

    assert MatchedCaptures((), list_printed(case, ())).find_lost() == ()


def test_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    """Where a name alone would not tell which file is meant, the folder is told."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.pcap").write_bytes(frames.pcap([SYN]))
    points = matched(tmp_path / "one" / "a.pcap", tmp_path / "two" / "a.pcap").points

    assert [str(tmp_path / "one" / "a.pcap"), str(tmp_path / "two" / "a.pcap")] == [
        point.name for point in points
    ]


def segment(flags: int, numbers: tuple[int, int], *, back: bool = False) -> bytes:
    """Make a frame of the connection, or of its way back."""
    ports, ends = (
        ((80, 40000), ("10.0.0.2", "10.0.0.1")) if back else ((40000, 80), ("10.0.0.1", "10.0.0.2"))
    )
    return frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(flags, ports=ports, numbers=numbers), ends=ends)
    )


def test_loss_between_two_points_is_a_fact_with_its_packets(tmp_path: Path) -> None:
    """The ACK that the second point does not show is told with the packet where it was last seen,
    and what was seen around it.
    """
    handshake = [
        segment(0x02, (1000, 0)),
        segment(0x12, (7000, 1001), back=True),
        segment(0x10, (1001, 7001)),
    ]
    again = [segment(0x12, (7000, 1001), back=True)] * 2
    (tmp_path / "near.pcap").write_bytes(frames.pcap([*handshake, *again]))
    times = (
        0,
        1,
        3,
        4,
    )  # the file's packets come a second apart: the ACK of the third second is left out
    whole = frames.pcap([*handshake, *again])
    size = 16 + len(handshake[0])
    (tmp_path / "far.pcap").write_bytes(
        whole[:24] + b"".join(whole[24 + at * size : 24 + (at + 1) * size] for at in times)
    )
    (lost,) = matched(tmp_path / "near.pcap", tmp_path / "far.pcap").find_lost()

    assert ("tcp 10.0.0.1:40000 > 10.0.0.2:80", True, "ACK") == (
        lost.connection,
        lost.forward,
        lost.what,
    )
    assert (("near.pcap", 3), "far.pcap") == (
        (lost.seen[-1][0], lost.seen[-1][1].line),
        lost.missing_at,
    )

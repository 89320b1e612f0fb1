"""Captures that are too long to be held: the same lines and answers as of one that is held."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import podpath
from podpath.capture.sightings import Ladder
from podpath.collect import captures, long_captures
from podpath.collect.capture_files import read_capture_files
from podpath.collect.captures import Kept
from podpath.collect.long_captures import read_held, survey_long
from podpath.net.errors import EvidenceError
from podpath.node.case import LostPacket
from podpath_capture import survey
from podpath_capture.matching import shares
from tests.capture import frames
from tests.capture.planted import World, write_pcap
from tests.capture.planted_talk import populate

ENDS, BACK = ("10.7.0.5", "198.18.4.9"), ("198.18.4.9", "10.7.0.5")


def handshake(port: int, *, answered: bool) -> list[bytes]:
    """Make the packets of a connection's beginning; one that is not answered asks twice."""
    syn = frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(0x02, ports=(port, 443), numbers=(1000, 0)), ends=ENDS)
    )
    answer = frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(0x12, ports=(443, port), numbers=(7, 1001)), ends=BACK)
    )
    ack = frames.ethernet(
        0x0800, frames.ipv4(6, frames.tcp(0x10, ports=(port, 443), numbers=(1001, 8)), ends=ENDS)
    )
    return [syn, answer, ack] if answered else [syn, syn]


@pytest.fixture
def capture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a capture of connections that work and one that does not; any of more than two packets
    counts as long.
    """
    monkeypatch.setattr(captures, "WHOLE", 2)
    path = tmp_path / "eth0.pcap"
    packets = [
        frame for port in range(41000, 41004) for frame in handshake(port, answered=port != 41002)
    ]
    path.write_bytes(frames.pcap(packets))
    return path


def answer(*captures: Path, only: tuple[str, ...] = ()) -> tuple[int, dict[str, Any]]:
    """Ask what captures show; the exit code and the document."""
    shown = podpath.captures(captures, only)
    return shown.exit_code, shown.data()


@pytest.mark.parametrize("only", [(), (":41001",), ("10.7.0.5",)])
def test_survey_answers_as_the_whole_does(
    capture: Path, monkeypatch: pytest.MonkeyPatch, only: tuple[str, ...]
) -> None:
    """Findings, points, states, connections and gaps are those of a capture that is held."""
    held = answer(capture, only=only)
    monkeypatch.setattr(long_captures, "LONGEST", 2)

    assert held == answer(capture, only=only)
    assert held[1]["connections"]


def test_lines_carry_the_packets_numbers(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packets that tell something are quoted by their places in the file; all of them are
    counted.
    """
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    kept: list[Kept] = []
    told: list[float] = []
    evidence = read_capture_files([str(capture), str(capture)], kept.append, told.append)

    (_, reading), _ = evidence.readings
    assert [7, 8, 11] == [record.span.line for record in reading.records]
    assert [11, 11] == [one.total for one in kept]
    assert told == sorted(told)
    assert 0.5 < told[-1] <= 1


@pytest.fixture
def points(tmp_path: Path) -> list[Path]:
    """Write what points show of connections that lose packets between them."""
    world = populate(World(3))
    paths = []
    for hop, shots in zip(world.hops, world.shots, strict=True):
        paths.append(tmp_path / hop.name)
        paths[-1].write_bytes(write_pcap(shots, link_type=276 if hop.cooked else 1))
    return paths


def spell(lost: LostPacket) -> tuple[str, str, str, tuple[int, ...]]:
    """Say what was lost where, without the packets around it."""
    lines = tuple(span.line for _, span in lost.seen)
    return lost.connection, lost.what, lost.missing_at, lines


def lay(drawn: Ladder) -> tuple[object, ...]:
    """Say what a ladder shows but for times: each share finds by itself how clocks differ."""
    posts = tuple((post.name, post.ends, post.tunnel) for post in drawn.posts)
    return posts, sorted((step.what, step.packets, step.lost) for step in drawn.steps)


def test_long_captures_are_followed(points: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was lost between points is told, and a connection drawn, as of captures that are held,
    though they are matched in shares.
    """
    held = podpath.captures(points)
    name = held.case.facts.lost[0].connection
    drawn = podpath.captures(points, [name]).ladder()
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    monkeypatch.setattr(shares, "SHARE", 200)
    found = podpath.captures(points)
    other = podpath.captures(points, [name]).ladder()

    assert held.case.facts.lost
    assert sorted(map(spell, held.case.facts.lost)) == sorted(map(spell, found.case.facts.lost))
    assert lay(drawn) == lay(other)
    assert found.ladder().steps


def test_connections_that_are_too_long_to_be_followed_are_told(
    points: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What to cut out is said instead of what was lost; so it is for a drawing."""
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    monkeypatch.setattr(shares, "MOST", 1)
    found = podpath.captures(points)

    assert "are of connections that have too many to be followed" in json.dumps(found.data())
    with pytest.raises(podpath.UsageError, match="tcpdump -r"):
        found.with_ladder()


def test_long_captures_are_measured(points: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connection comes to the same numbers as that of a capture that is held."""
    held = podpath.captures(points).with_measures().measured
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    monkeypatch.setattr(survey, "BATCH", 50)
    found = podpath.captures(points)
    matched = found.case.matched
    assert matched is not None
    early = tuple(matched.measure(until=min(one.first for one in held) + 100))

    assert held == found.with_measures().measured
    assert len(held) > len(early) > 20


def test_full_disk_is_an_error(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where columns cannot be written, what they are written to is said."""
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    monkeypatch.setattr("tempfile.tempdir", str(capture.with_name("none")))

    with pytest.raises(EvidenceError, match="folder for temporary files"):
        survey_long("eth0.pcap", capture.read_bytes())


@pytest.mark.parametrize("record", [1, 10_000])
def test_short_capture_is_held(capture: Path, monkeypatch: pytest.MonkeyPatch, record: int) -> None:
    """A capture is held up to so many packets, whether they are counted first or as they are
    read.
    """
    data = capture.read_bytes()
    monkeypatch.setattr(long_captures, "LIKELY_RECORD", record)
    monkeypatch.setattr(long_captures, "LONGEST", 11)
    held = read_held(data)
    monkeypatch.setattr(long_captures, "LONGEST", 10)

    assert held is not None
    assert 11 == len(held.packets)
    assert None is read_held(data)

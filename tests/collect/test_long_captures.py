"""Captures that are too long to be held: the same lines and answers as of one that is held, and not
followed across points.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import podpath
from podpath.collect import captures, long_captures
from podpath.collect.capture_files import read_capture_files
from podpath.collect.captures import Kept
from podpath.collect.long_captures import read_held, survey_long
from podpath.net.errors import EvidenceError
from tests.capture import frames

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


def test_long_captures_are_not_followed_and_say_so(
    capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two points of which one is long: what to cut out is said, instead of what was lost; so it is
    for a drawing.
    """
    other = capture.with_name("eth1.pcap")
    other.write_bytes(frames.pcap(handshake(41000, answered=True)[:2]))
    monkeypatch.setattr(long_captures, "LONGEST", 2)
    _, document = answer(capture, other)
    with pytest.raises(podpath.UsageError, match="tcpdump -r"):
        podpath.captures(capture).with_ladder()

    assert "11 packets are too many to be followed" in json.dumps(document["gaps"])
    assert [11, 2] == sorted((point["packets"] for point in document["points"]), reverse=True)


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

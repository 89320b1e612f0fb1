"""A packet that is lost between two capture points weighs the same in short captures and in long
ones.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import podpath
from podpath.checks.finding import Finding, Severity
from podpath.net.errors import UsageError
from podpath.report.claims import spell_claim
from tests.capture.planted import (
    ACK,
    MILLISECOND,
    PUSH,
    SECOND,
    START,
    Ends,
    Hop,
    World,
    write_pcap,
)
from tests.capture.planted_talk import Talker, beat

ENDS = Ends("10.244.0.2", 40000, "10.96.0.1", 80)
PLAIN = Ends("10.244.0.3", 40001, "10.96.0.1", 80)
"""A connection that nothing happens to."""


def capture_two_points(folder: Path, *, size: int, others: int) -> list[str]:
    """Write two captures of a connection that goes on after one packet of the client is lost
    between them: with `size` bytes of data, which come again, or a bare acknowledgment. Beside it
    `others` segments pass.
    """
    hops = [
        Hop(name=f"{name}.pcap", host=0, offset=0, delay=20_000, routed=False, whole=False)
        for name in ("veth7", "eth0")
    ]
    world = World(1, hops=hops, loss=0.0)
    beat(world)
    talker = Talker(world, ENDS, START + 50 * SECOND)
    talker.open()
    talker.talk(forward=False, size=900)
    world.send([talker.packet(forward=False, flags=ACK | PUSH, size=500)], ENDS, talker.time)
    talker.time += MILLISECOND
    talker.next[False] += 500
    talker.acked[True] += 500
    lost = talker.packet(forward=True, flags=ACK | (PUSH if size else 0), size=size)
    world.send([lost], ENDS, talker.time, cut_at=1)
    talker.time += 300 * MILLISECOND
    for _ in range(3):
        talker.talk(forward=False, size=900)
    other = Talker(world, PLAIN, START + 55 * SECOND)
    other.open()
    for _ in range(others):
        other.talk(forward=True, size=100)
    paths = [folder / hop.name for hop in hops]
    for path, shots in zip(paths, world.shots, strict=True):
        path.write_bytes(write_pcap(sorted(shots, key=lambda shot: shot.time)))
    return [str(path) for path in paths]


def find_lost(paths: list[str], *only: str, since: str = "", until: str = "") -> list[Finding]:
    """Return what is said to be lost between points."""
    findings = podpath.captures(paths, only, since=since, until=until).findings
    return [finding for finding in findings if finding.check == "lost-between"]


@pytest.mark.parametrize("others", [3, 900])
def test_lost_bare_acknowledgment_is_a_note_whatever_the_files_length(
    tmp_path: Path, others: int
) -> None:
    """The next one says the same; a capture of more packets than are shown changes nothing."""
    (finding,) = find_lost(capture_two_points(tmp_path, size=0, others=others))

    assert finding.severity == Severity.NOTE
    assert "between veth7.pcap and eth0.pcap" in spell_claim(finding.claim)


@pytest.mark.parametrize("others", [3, 900])
def test_lost_data_are_a_fault_whatever_the_files_length(tmp_path: Path, others: int) -> None:
    """Of a long capture whose connections all work no packet is shown, and still no all-clear is
    given: neither of all of it, nor of the connection, nor of the time of the loss.
    """
    paths = capture_two_points(tmp_path, size=100, others=others)

    for found in (
        find_lost(paths),
        find_lost(paths, ":40000"),
        find_lost(paths, since="+49", until="+53"),
    ):
        assert [finding.severity for finding in found] == [Severity.FAULT]
    with pytest.raises(UsageError, match="no packet"):
        podpath.captures(paths, since="+20", until="+30")

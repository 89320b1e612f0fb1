"""Failures are counted in captures of any length, and no server hides another one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from podpath.library.captures import captures
from podpath.net.addresses import Address
from podpath.node.case import FailureTally
from podpath.report.claims import spell_claim
from podpath_capture.flows.failures import Failures
from podpath_capture.flows.flows import number_flows
from podpath_capture.reading.read import read_capture
from tests.capture import frames

NEAR, REFUSES, SILENT, NAMES = "10.0.0.1", "10.0.0.3", "10.0.0.4", "10.0.0.53"


def tcp(port: int, server: tuple[str, int], flags: int, *, back: bool = False) -> bytes:
    """Make a segment between the client and a server."""
    ends, ports = (NEAR, server[0]), (port, server[1])
    segment = frames.tcp(flags, ports=ports[::-1] if back else ports, numbers=(port, port))
    return frames.ethernet(0x0800, frames.ipv4(6, segment, ends=ends[::-1] if back else ends))


def name(port: int, *, back: bool = False) -> bytes:
    """Make a name lookup, or its answer."""
    ends, ports = (NEAR, NAMES), (port, 53)
    datagram = frames.udp(ports[::-1] if back else ports, bytes(30))
    return frames.ethernet(0x0800, frames.ipv4(17, datagram, ends=ends[::-1] if back else ends))


def busy() -> list[bytes]:
    """Make 3,500 refused connections, then one to a server that is silent, and 20 lookups of which
    15 get no answer.
    """
    made: list[bytes] = []
    for port in range(10_000, 13_500):
        made += [tcp(port, (REFUSES, 81), 0x02), tcp(port, (REFUSES, 81), 0x14, back=True)]
    made += [tcp(20_000, (SILENT, 82), 0x02) for _ in range(3)]
    for port in range(30_000, 30_020):
        made += [name(port), *([name(port, back=True)] if port % 4 == 0 else [])]
    return made


def test_tallies_are_of_the_whole_capture(tmp_path: Path) -> None:
    """The claim counts all of them, though few are quoted; the rare failures are told beside the
    frequent ones.
    """
    file = tmp_path / "busy.pcap"
    file.write_bytes(frames.pcap(busy()))
    result = captures([str(file)])
    claims = [spell_claim(finding.claim) for finding in result.findings]

    assert "3500 of 3500 connections to 10.0.0.3:81 are refused." in claims
    assert "DNS queries to 10.0.0.53:53 get no answer: 15 of 20." in claims
    assert any("10.0.0.4:82" in claim for claim in claims)
    assert result.case.facts.tallies[6, Address.parse(REFUSES), 81] == FailureTally(3500, 3500)


def test_parts_count_what_the_whole_counts() -> None:
    """Flows that come in parts, as a survey gives them, add up."""
    columns = read_capture(frames.pcap(busy())).packets.columns
    flows = number_flows(columns)
    whole, parts = Failures(), Failures()
    whole.add(columns, flows)
    for low, high in ((0, 7), (7, 3503), (3503, len(flows))):
        rows = np.flatnonzero((flows.number >= low) & (flows.number < high))
        few = type(columns)(**{key: getattr(columns, key)[rows] for key in columns.__slots__})
        parts.add(few, number_flows(few), rows)

    assert whole.tallies == parts.tallies
    assert whole.rows.tolist() == parts.rows.tolist()


def lookup(number: int, *, back: bool = False) -> bytes:
    """Make a lookup from a port that the client keeps, or its answer."""
    ends, ports = (NEAR, NAMES), (40_000, 53)
    message = number.to_bytes(2, "big") + bytes(28)
    datagram = frames.udp(ports[::-1] if back else ports, message)
    return frames.ethernet(0x0800, frames.ipv4(17, datagram, ends=ends[::-1] if back else ends))


def test_lookups_of_one_port_are_counted_one_by_one(tmp_path: Path) -> None:
    """Of 3,000 every fifth has no answer; the last may still have one. In a capture of which few
    packets are shown, those are quoted that have none.
    """
    made: list[bytes] = []
    for number in range(1, 3001):
        made += [lookup(number), *([lookup(number, back=True)] if number % 5 else [])]
    file = tmp_path / "resolver.pcap"
    file.write_bytes(frames.pcap(made))
    (finding,) = captures([str(file)]).findings

    assert "DNS queries to 10.0.0.53:53 get no answer: 599 of 3000." == spell_claim(finding.claim)
    assert [9, 18, 27] == [span.line for span in finding.evidence]

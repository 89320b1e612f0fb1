"""What is measured of connections, held against frames whose numbers are known."""

from __future__ import annotations

from pathlib import Path

import podpath
from podpath.capture.measures import ConnectionMeasures
from tests.capture import frames

NEAR, FAR = "10.7.0.5", "198.18.4.9"
SYN, SYN_ACK, ACK, PUSH, FIN, RST = 0x02, 0x12, 0x10, 0x18, 0x11, 0x04


def segment(flags: int, seq: int, ack: int, size: int = 0, *, back: bool = False) -> bytes:
    """Make a frame of one connection to port 443."""
    ports, ends = ((443, 41000), (FAR, NEAR)) if back else ((41000, 443), (NEAR, FAR))
    made = frames.tcp(flags, ports=ports, numbers=(seq, ack), data=bytes(size))
    return frames.ethernet(0x0800, frames.ipv4(6, made, ends=ends))


def lookup(port: int, number: int, *, code: int | None = None, back: bool = False) -> bytes:
    """Make a frame of a query, or of its answer with a code."""
    flags = 0x0100 if code is None else 0x8180 | code
    header = number.to_bytes(2, "big") + flags.to_bytes(2, "big") + bytes(8)
    ports, ends = ((53, port), (FAR, NEAR)) if back else ((port, 53), (NEAR, FAR))
    return frames.ethernet(0x0800, frames.ipv4(17, frames.udp(ports, header), ends=ends))


def measure(folder: Path, *made: bytes) -> tuple[ConnectionMeasures, ...]:
    """Measure frames that come a second apart."""
    path = folder / "eth0.pcap"
    path.write_bytes(frames.pcap(made))
    return podpath.captures(path).with_measures().measured


def test_connection_that_works_is_told_in_numbers(tmp_path: Path) -> None:
    """Both directions apart: packets, payload, what came again, and the handshake's time."""
    (one,) = measure(
        tmp_path,
        segment(SYN, 1000, 0),
        segment(SYN_ACK, 77, 1001, back=True),
        segment(ACK, 1001, 78),
        segment(PUSH, 1001, 78, 100),
        segment(PUSH, 1001, 78, 100),
        segment(ACK, 78, 1101, back=True),
        segment(PUSH, 78, 1101, 300, back=True),
        segment(FIN, 378, 1101, back=True),
        segment(FIN, 1101, 379),
    )

    assert "tcp 10.7.0.5:41000 > 198.18.4.9:443" == one.connection
    assert ("SF", "ShADTadfF") == (one.state, one.history)
    assert (5, 4, 200, 300) == one[6:10]
    assert (1, 0) == (one.client_retransmissions, one.server_retransmissions)
    assert (8.0, 2.0, 500 / 8) == (one.duration, one.rtt, one.throughput)


def test_repeated_handshake_has_no_round_trip_time(tmp_path: Path) -> None:
    """Nobody can tell which of two SYNs was answered (Karn's rule)."""
    (one,) = measure(
        tmp_path,
        segment(SYN, 1000, 0),
        segment(SYN, 1000, 0),
        segment(SYN_ACK, 77, 1001, back=True),
        segment(ACK, 1001, 78),
    )

    assert (None, "S1", "ShA") == (one.rtt, one.state, one.history)
    assert one.client_retransmissions == 1


def test_connection_that_begins_with_its_server_is_turned(tmp_path: Path) -> None:
    """A capture that begins late shows the lower port's data first."""
    (one,) = measure(tmp_path, segment(PUSH, 78, 1, 300, back=True), segment(ACK, 1, 378))

    assert ("tcp 10.7.0.5:41000 > 198.18.4.9:443", "^dA") == (one.connection, one.history)
    assert (1, 1, 0, 300) == one[6:10]


def test_lookups_are_paired_by_their_numbers(tmp_path: Path) -> None:
    """The longest answer time, and how many answers are errors."""
    works, fails = measure(
        tmp_path,
        lookup(5000, 1),
        lookup(5000, 2),
        lookup(5000, 2, code=0, back=True),
        lookup(5000, 1, code=0, back=True),
        lookup(5001, 3),
        lookup(5001, 3, code=3, back=True),
        lookup(5001, 4),
    )

    assert (2, 2, 0, 3.0) == (
        works.dns_queries, works.dns_answers, works.dns_failures, works.dns_latency
    )  # fmt: skip
    assert (2, 1, 1, 1.0) == (
        fails.dns_queries, fails.dns_answers, fails.dns_failures, fails.dns_latency
    )  # fmt: skip
    assert works.state == ""


def test_measures_of_a_stretch_count_its_packets_alone(tmp_path: Path) -> None:
    """Where a start and an end are named; a connection without a packet within is not listed."""
    path = tmp_path / "eth0.pcap"
    path.write_bytes(
        frames.pcap(
            [
                segment(SYN, 1000, 0),
                segment(SYN_ACK, 77, 1001, back=True),
                segment(ACK, 1001, 78),
                lookup(50_000, 7),
            ]
        )
    )
    (one,) = podpath.captures(path, since="+0.5", until="+2").with_measures().measured

    assert (1, 1) == (one.client_packets, one.server_packets)

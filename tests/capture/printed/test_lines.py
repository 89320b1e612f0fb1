"""Packets as lines: what the reader of printed captures makes of them is what the columns say."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.evidence.records import PacketRecord
from podpath.evidence.tcpdump.output import read_tcpdump
from podpath.net.provenance import Source
from podpath_capture.printed.lines import RenderedLines, render_lines
from podpath_capture.reading.read import read_capture
from tests.capture import frames

TIMESTAMPS = bytes.fromhex("0101080a0000000700000008")


def lines_of(*packets: bytes, link_type: int = 1, names: dict[int, str] | None = None) -> list[str]:
    """Render all packets of a capture."""
    packets_read = read_capture(frames.pcap(packets, link_type=link_type)).packets
    return render_lines(packets_read, range(len(packets_read)), names)


def records_of(lines: list[str]) -> list[PacketRecord]:
    """Read lines as a printed capture, with nothing left unread."""
    reading = read_tcpdump(
        Source(name="capture", lines=tuple(lines), command="tcpdump -nn -e -S -tttt")
    )
    assert reading.gaps == ()
    return [record for record in reading.records if isinstance(record, PacketRecord)]


def test_line_is_tcpdumps() -> None:
    """A segment is printed as tcpdump prints it."""
    segment = frames.tcp(0x18, numbers=(1000, 2000), options=TIMESTAMPS, data=b"hello")

    expected = (
        "2023-11-14 22:13:20.000005 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 "
        "(0x0800), length 71: 10.0.0.1.40000 > 10.0.0.2.80: Flags [P.], seq 1000:1005, ack 2000, "
        "win 64240, options [TS val 7 ecr 8], length 5"
    )
    assert [expected] == lines_of(frames.ethernet(0x0800, frames.ipv4(6, segment)))


@given(
    st.integers(0, 255),
    st.tuples(*[st.integers(0, 0xFFFFFFFF)] * 2),
    st.tuples(*[st.integers(0, 65535)] * 2),
    st.booleans(),
)
def test_tcp_is_read_back(
    flags: int,
    numbers: tuple[int, int],
    ports: tuple[int, int],
    six: bool,  # noqa: FBT001
) -> None:
    """Flags, numbers and ends of any segment survive being printed."""
    segment = frames.tcp(flags, ports=ports, numbers=numbers, data=b"xyz")
    frame = (
        frames.ethernet(0x86DD, frames.ipv6(6, segment))
        if six
        else frames.ethernet(0x0800, frames.ipv4(6, segment))
    )
    (record,) = records_of(lines_of(frame))
    packet = record.packet
    assert packet is not None

    assert (flags, *ports, 3, numbers[0]) == (
        packet.flags,
        packet.sport,
        packet.dport,
        packet.payload,
        packet.seq,
    )
    assert packet.ack == (numbers[1] if flags & 0x10 else 0)
    assert not record.relative
    assert "fd00::2" if six else "10.0.0.2" == str(packet.dst)


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        (3, 4, (3, 4)),
        (3, 3, (3, 3)),
        (3, 1, (3, 1)),
        (3, 0, (3, 0)),
        (3, 13, (3, 13)),
        (3, 10, (3, 10)),
        (11, 0, (11, 0)),
    ],
)
def test_icmp_errors_are_read_back(kind: int, code: int, expected: tuple[int, int]) -> None:
    """Type, code and the target of the quoted packet survive being printed."""
    error = struct.pack(">BBHHH", kind, code, 0, 0, 1400) + frames.ipv4(
        17, frames.udp((5, 53), b"")
    )
    (record,) = records_of(
        lines_of(frames.ethernet(0x0800, frames.ipv4(1, error, ends=("10.0.0.9", "10.0.0.1"))))
    )
    assert record.packet is not None

    assert expected == (record.packet.icmp_type, record.packet.icmp_code)
    assert kind != 3 or (
        record.packet.quoted is not None and str(record.packet.quoted.dst) == "10.0.0.2"
    )


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [(1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 3, 0), (1, 4, 53), (3, 0, 0)],
)
def test_icmp6_errors_are_read_back(kind: int, code: int, expected: int) -> None:
    """Type, code, target and port of the quoted packet survive being printed, as far as tcpdump
    prints them.
    """
    error = struct.pack(">BBHI", kind, code, 0, 0) + frames.ipv6(17, frames.udp((5, 53), b""))
    (record,) = records_of(
        lines_of(frames.ethernet(0x86DD, frames.ipv6(58, error, ends=("fd00::9", "fd00::1"))))
    )
    assert record.packet is not None
    assert record.packet.quoted is not None

    assert (kind, code) == (record.packet.icmp_type, record.packet.icmp_code)
    assert ("fd00::1", "fd00::2") == (str(record.packet.quoted.src), str(record.packet.quoted.dst))
    assert expected == record.packet.quoted.dport


@pytest.mark.kernel("tcpdump")
def test_icmp6_errors_are_printed_as_tcpdump_does(tmp_path: Path) -> None:
    """What an error says of the packet that it quotes is what tcpdump says of it."""
    bodies = [
        frames.ipv6(following, body)
        for following, body in ((6, frames.tcp()), (17, frames.udp((5, 53), b"")))
    ]
    kinds = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 0), (3, 0)]
    errors = [
        frames.ipv6(58, struct.pack(">BBHI", *kind, 0, 1280) + body)
        for kind in kinds
        for body in bodies
    ]
    packets = [frames.ethernet(0x86DD, error) for error in errors]
    path = tmp_path / "errors.pcap"
    path.write_bytes(frames.pcap(packets))
    done = subprocess.run(
        ["tcpdump", "-nn", "-r", str(path)], capture_output=True, text=True, check=True
    )
    printed = [line.partition("ICMP6, ")[2].replace("  ", " ") for line in done.stdout.splitlines()]

    assert printed == [line.partition("ICMP6, ")[2] for line in lines_of(*packets)]


def test_echo_and_icmp6_are_read_back() -> None:
    """Echo keeps its identifier and number; messages of ICMPv6 their type."""
    echo = frames.ipv4(1, struct.pack(">BBHHH", 8, 0, 0, 77, 3) + bytes(56))
    big = frames.ipv6(58, struct.pack(">BBHI", 2, 0, 0, 1280) + frames.ipv6(6, frames.tcp()))
    first, second = records_of(
        lines_of(frames.ethernet(0x0800, echo), frames.ethernet(0x86DD, big))
    )
    assert first.packet is not None
    assert second.packet is not None

    assert (8, 77, 3, 2) == (
        first.packet.icmp_type,
        first.packet.sport,
        first.packet.seq,
        second.packet.icmp_type,
    )


def test_arp_is_read_back() -> None:
    """Requests and replies keep their ends; a reply its MAC."""
    ends = frames.MAC_A + b"\x0a\0\0\1", frames.MAC_B + b"\x0a\0\0\2"
    ask, reply = (bytes.fromhex(f"000108000604000{kind}") + ends[0] + ends[1] for kind in (1, 2))
    asked, told = records_of(lines_of(frames.ethernet(0x0806, ask), frames.ethernet(0x0806, reply)))
    assert asked.arp is not None
    assert told.arp is not None

    assert ("request", "10.0.0.1", "10.0.0.2") == (
        asked.arp.operation,
        str(asked.arp.sender),
        str(asked.arp.target),
    )
    assert ("reply", "10.0.0.1", "02:00:00:00:00:01") == (
        told.arp.operation,
        str(told.arp.sender),
        told.arp.sender_mac,
    )


def test_any_capture_names_devices() -> None:
    """A packet of a cooked capture has its direction, and its device where the index has a name."""
    cooked = (
        struct.pack(">HHIHBB", 0x0800, 0, 12, 1, 4, 6)
        + frames.MAC_A
        + bytes(2)
        + frames.ipv4(6, frames.tcp())
    )
    named, unnamed = (
        lines_of(cooked, link_type=276, names={12: "eth0"}),
        lines_of(cooked, link_type=276),
    )

    assert [("eth0", "out"), (None, "out")] == [
        (each.link, each.direction) for each in records_of([*named, *unnamed])
    ]


@pytest.mark.parametrize(
    ("outer", "note"),
    [
        (frames.udp((5, 8472), struct.pack(">II", 0x08000000, 5 << 8)), "VXLAN vni 5"),
        (frames.udp((5, 6081), struct.pack(">BBHI", 0, 0, 0x6558, 5 << 8)), "Geneve vni 5"),
    ],
)
def test_tunnels_stand_on_one_line(outer: bytes, note: str) -> None:
    """The outer packet and the inner one are both read from one line."""
    inner = frames.ethernet(0x0800, frames.ipv4(6, frames.tcp(), ends=("10.1.0.1", "10.2.0.2")))
    datagram = outer[:4] + struct.pack(">H", len(outer) + len(inner)) + outer[6:] + inner
    lines = lines_of(frames.ethernet(0x0800, frames.ipv4(17, datagram)))
    carrier, carried = records_of(lines)
    assert carrier.packet is not None
    assert carried.packet is not None

    assert len(lines) == 1
    assert ("10.0.0.2", "10.2.0.2", 80) == (
        str(carrier.packet.dst),
        str(carried.packet.dst),
        carried.packet.dport,
    )
    assert note in carried.note


def test_ip_in_ip_stands_on_one_line() -> None:
    """IP in IP and GRE show both packets."""
    inner = frames.ipv4(6, frames.tcp(), ends=("10.1.0.1", "10.2.0.2"))
    for packet in (frames.ipv4(4, inner), frames.ipv4(47, b"\0\0\x08\0" + inner)):
        _, carried = records_of(lines_of(frames.ethernet(0x0800, packet)))
        assert carried.packet is not None
        assert "10.2.0.2" == str(carried.packet.dst)


@given(st.lists(st.binary(max_size=120), max_size=5), st.sampled_from([0, 1, 101, 113, 276]))
def test_any_packet_has_a_line(packets: list[bytes], link_type: int) -> None:
    """However broken, a packet gives one line, which may be empty."""
    assert len(packets) == len(lines_of(*packets, link_type=link_type))


def test_lines_are_written_as_they_are_read() -> None:
    """A line is written when it is asked for, by itself or as one of some."""
    asked: list[int] = []

    def write(at: int) -> str:
        asked.append(at)
        return f"line {at}"

    lines = RenderedLines(write, range(1000))
    some = lines[10:20][2:4]

    assert ([], 1000, 2) == (asked[:], len(lines), len(some))
    assert ["line 12", "line 13"] == list(some)
    assert ([12, 13], "line 999") == (asked[:], lines[-1])

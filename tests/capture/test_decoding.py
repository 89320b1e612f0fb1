"""Headers of every kind to columns."""

from __future__ import annotations

import struct

import pytest

from podpath.net.addresses import Address
from podpath_capture.columns import MALFORMED, SACK_OK, SCALE, TIMESTAMPS, Packets
from podpath_capture.reading.read import read_capture
from tests.capture import frames

SEGMENT = frames.tcp(data=b"hello")
PLAIN = frames.ipv4(6, SEGMENT)
VXLAN = struct.pack(">II", 0x08000000, 5 << 8) + frames.ethernet(
    0x0800, frames.ipv4(6, SEGMENT, ends=("10.1.0.1", "10.2.0.2"))
)


def decode(*packets: bytes, link_type: int = 1) -> Packets:
    """Read packets of one capture."""
    found = read_capture(frames.pcap(packets, link_type=link_type))
    assert found.damages == ()
    return found.packets


def test_macs_and_fields() -> None:
    """Every field of a plain segment stands in its column."""
    columns = decode(frames.ethernet(0x0800, PLAIN)).columns

    assert (int.from_bytes(frames.MAC_A, "big"), int.from_bytes(frames.MAC_B, "big")) == (
        columns.smac[0],
        columns.dmac[0],
    )
    assert [Address.parse(frames.CLIENT).value, Address.parse(frames.SERVER).value] == [
        columns.src[0],
        columns.dst[0],
    ]
    assert (64, 0x1234, 0x4000, 45, 5, 64240) == tuple(
        int(getattr(columns, name)[0])
        for name in ("ttl", "ident", "fragment", "length", "payload", "window")
    )
    assert (14, 54) == (columns.network_at[0], columns.data_at[0])


@pytest.mark.parametrize(
    ("link_type", "head"),
    [
        (1, frames.ethernet(0x0800, b"")),
        (1, frames.ethernet(0x8100, frames.vlan(7, 0x0800, b""))),
        (1, frames.ethernet(0x88A8, frames.vlan(9, 0x8100, frames.vlan(7, 0x0800, b"")))),
        (1, frames.ethernet(40, bytes.fromhex("aaaa030000000800"))),
        (113, struct.pack(">3H", 4, 1, 6) + frames.MAC_A + bytes(2) + b"\x08\x00"),
        (276, struct.pack(">HHIHBB", 0x0800, 0, 12, 1, 4, 6) + frames.MAC_A + bytes(2)),
        (101, b""), (228, b""), (0, struct.pack("<I", 2)), (0, struct.pack(">I", 2)), (108, struct.pack(">I", 2)),  # noqa: E501
    ],
)  # fmt: skip
def test_link_types(link_type: int, head: bytes) -> None:
    """The same packet is read behind every link header, alone and among others."""
    columns = decode(head + PLAIN, head + PLAIN, link_type=link_type).columns

    assert [(4, 6, 40000, 80, 1000, 5)] * 2 == [
        tuple(
            int(getattr(columns, name)[row])
            for name in ("version", "protocol", "sport", "dport", "seq", "payload")
        )
        for row in range(2)
    ]
    assert (7 if b"\x81\x00" in head else 0) == columns.vlan[0]


def test_cooked_capture_knows_device_and_direction() -> None:
    """SLL2 gives the device's number, the packet's type and the sender's MAC."""
    head = struct.pack(">HHIHBB", 0x0800, 0, 12, 1, 4, 6) + frames.MAC_A + bytes(2)
    columns = decode(head + PLAIN, link_type=276).columns

    assert (12, 5, int.from_bytes(frames.MAC_A, "big")) == (
        columns.ifindex[0],
        columns.direction[0],
        columns.smac[0],
    )


def test_ipv6_addresses_are_numbered() -> None:
    """Equal IPv6 addresses have equal numbers, and the table gives them back."""
    back = frames.ipv6(6, SEGMENT, ends=("fd00::2", "fd00::1"))
    packets = decode(
        frames.ethernet(0x86DD, frames.ipv6(6, SEGMENT)), frames.ethernet(0x86DD, back)
    )
    src, dst = packets.columns.src, packets.columns.dst

    assert (src[0], dst[0]) == (dst[1], src[1])
    assert "fd00::1" == str(Address(6, packets.addresses[src[0]]))


def test_extension_headers_of_ipv6() -> None:
    """Hop-by-hop and destination options, routing and authentication headers lead to the transport
    header.
    """
    chain = (
        bytes([60, 0])
        + bytes(6)
        + bytes([43, 1])
        + bytes(14)
        + bytes([51, 0])
        + bytes(6)
        + bytes([6, 4])
        + bytes(22)
    )
    columns = decode(frames.ethernet(0x86DD, frames.ipv6(0, chain + SEGMENT))).columns

    assert (6, 80, 5) == (columns.protocol[0], columns.dport[0], columns.payload[0])


def test_fragments() -> None:
    """Only first fragments have ports, in both families."""
    later = struct.pack(">BBHI", 6, 0, 100 << 3, 77)
    first = struct.pack(">BBHI", 6, 0, 1, 77)
    columns = decode(
        frames.ethernet(0x0800, frames.ipv4(6, SEGMENT, fragment=0x2000)),
        frames.ethernet(0x0800, frames.ipv4(6, b"x" * 25, fragment=100)),
        frames.ethernet(0x86DD, frames.ipv6(44, first + SEGMENT)),
        frames.ethernet(0x86DD, frames.ipv6(44, later + b"x" * 25)),
    ).columns

    assert [80, 0, 80, 0] == columns.dport.tolist()
    assert [0x2000, 100, 0x2000, 100] == columns.fragment.tolist()
    assert [6] * 4 == columns.protocol.tolist()
    assert [77, 77] == columns.ident[2:].tolist()


def test_super_packet_without_a_length() -> None:
    """An IP length of 0 stands for all that was on the wire."""
    big = frames.ipv4(6, frames.tcp(0x10, data=bytes(70_000)), length=0)
    big6 = frames.ipv6(6, frames.tcp(0x10, data=bytes(70_000)), length=0)

    assert [70_000, 70_000] == decode(
        frames.ethernet(0x0800, big), frames.ethernet(0x86DD, big6)
    ).columns.payload.tolist()


def test_a_length_beyond_the_wire_is_not_believed() -> None:
    """Where the IP header says more than the wire carried, the payload is what was on the wire, as
    tshark and tcpdump take it.
    """
    long = frames.ipv4(6, SEGMENT, length=1000)
    long6 = frames.ipv6(6, SEGMENT, length=1000)
    columns = decode(frames.ethernet(0x0800, long), frames.ethernet(0x86DD, long6)).columns

    assert ([1000, 1040], [5, 5]) == (columns.length.tolist(), columns.payload.tolist())


def test_padding_is_no_payload() -> None:
    """Bytes behind the IP packet's length are not the segment's."""
    assert [5] == decode(frames.ethernet(0x0800, PLAIN) + bytes(20)).columns.payload.tolist()


@pytest.mark.parametrize(
    ("options", "bits"),
    [
        ("020405b40402080a0000000700000008" + "01030307", SACK_OK | TIMESTAMPS | SCALE),
        ("020405b4" + "01010402" + "0101080a0000000700000008", SACK_OK | TIMESTAMPS),
        ("0402" + "080a0000000700000008" + "020405b4", SACK_OK | TIMESTAMPS),
    ],
)
def test_tcp_options_in_any_order(options: str, bits: int) -> None:
    """Segment size, timestamps and flags are found where Linux puts them, and elsewhere."""
    segment = frames.tcp(options=bytes.fromhex(options))
    columns = decode(
        frames.ethernet(0x0800, frames.ipv4(6, segment)), frames.ethernet(0x0800, PLAIN)
    ).columns

    assert [(1460, 7, 8, bits), (0, 0, 0, 0)] == [
        (columns.mss[row], columns.tsval[row], columns.tsecr[row], columns.options[row])
        for row in range(2)
    ]


@pytest.mark.parametrize(
    ("outer", "vni", "inner"),
    [
        (frames.ipv4(17, frames.udp((5, 4789), VXLAN)), 5, "10.1.0.1"),
        (frames.ipv4(17, frames.udp((5, 8472), VXLAN)), 5, "10.1.0.1"),
        (frames.ipv4(17, frames.udp((5, 14789), VXLAN)), 5, "10.1.0.1"),
        (
            frames.ipv4(
                17,
                frames.udp(
                    (5, 6081), struct.pack(">BBHI", 1, 0, 0x6558, 5 << 8) + b"optn" + VXLAN[8:]
                ),
            ),
            5,
            "10.1.0.1",
        ),
        (
            frames.ipv4(
                17,
                frames.udp((6081, 5), struct.pack(">BBHI", 0, 0, 0x6558, 5 << 8) + VXLAN[8:]),
            ),
            5,
            "10.1.0.1",
        ),
        (frames.ipv4(4, PLAIN), 0, frames.CLIENT),
        (frames.ipv4(47, b"\0\0\x08\0" + PLAIN), 0, frames.CLIENT),
        (frames.ipv4(47, b"\x20\0\x08\0" + struct.pack(">I", 99) + PLAIN), 99, frames.CLIENT),
        (
            frames.ipv4(
                47, b"\xb0\0\x65\x58" + bytes(4) + struct.pack(">I", 99) + bytes(4) + VXLAN[8:]
            ),
            99,
            "10.1.0.1",
        ),
    ],
)
def test_tunnels(outer: bytes, vni: int, inner: str) -> None:
    """The columns are the inner packet's; the tunnel's ends and its identifier stand beside."""
    columns = decode(frames.ethernet(0x0800, outer), frames.ethernet(0x0800, PLAIN)).columns

    assert [1, 0] == columns.depth.tolist()
    assert [(80, 5)] * 2 == list(zip(columns.dport.tolist(), columns.payload.tolist(), strict=True))
    assert (vni, inner) == (columns.vni[0], str(Address(4, int(columns.src[0]))))
    assert frames.CLIENT == str(Address(4, int(columns.outer_src[0])))


@pytest.mark.parametrize("head", [b"\x40\0\x65\x58", b"\0\x01\x65\x58", b"\0\0\x65\x59"])
def test_what_comes_from_the_port_of_geneve_may_be_anything(head: bytes) -> None:
    """An answer from that port is Geneve only where its version, reserved bits and type are."""
    outer = frames.ipv4(17, frames.udp((6081, 5), head + struct.pack(">I", 5 << 8) + VXLAN[8:]))

    assert [0] == decode(frames.ethernet(0x0800, outer)).columns.depth.tolist()


def test_tunnels_in_tunnels_end() -> None:
    """However deep somebody nests, reading ends."""
    packet = PLAIN
    for _ in range(20):
        packet = frames.ipv4(4, packet)

    assert [8] == decode(frames.ethernet(0x0800, packet)).columns.depth.tolist()


def test_icmp_error_quotes_its_packet() -> None:
    """The quoted packet's addresses, ports and number stand in the side table, with the MTU."""
    error = struct.pack(">BBHHH", 3, 4, 0, 0, 1400) + frames.ipv4(6, SEGMENT[:8])
    error6 = struct.pack(">BBHI", 2, 0, 0, 1280) + frames.ipv6(6, SEGMENT)
    packets = decode(
        frames.ethernet(0x0800, frames.ipv4(1, error)),
        frames.ethernet(0x86DD, frames.ipv6(58, error6)),
    )
    quotes = packets.quotes

    assert [3, 2] == packets.columns.icmp_type.tolist()
    assert ([0, 1], [1400, 1280], [40000, 40000], [80, 80], [1000, 1000]) == (
        quotes.row.tolist(), quotes.mtu.tolist(), quotes.sport.tolist(), quotes.dport.tolist(),
        quotes.seq.tolist(),
    )  # fmt: skip
    assert "fd00::2" == str(Address(6, packets.addresses[quotes.dst[1]]))


@pytest.mark.parametrize(
    ("following", "headers", "protocol", "port"),
    [
        (0, bytes((6, 0)) + bytes(6), 6, 80),
        (60, bytes((43, 1)) + bytes(14) + bytes((6, 0)) + bytes(6), 6, 80),
        (44, bytes((6, 0, 0, 1)) + bytes(4), 6, 80),
        (51, bytes((6, 4)) + bytes(22), 6, 80),
        (44, bytes((6, 0, 0, 9)) + bytes(4), 6, 0),
        (0, bytes((6, 200)) + bytes(6), 59, 0),
    ],
    ids=["hop-by-hop", "two", "first fragment", "authentication", "later fragment", "cut"],
)
def test_quoted_ports_stand_behind_extension_headers(
    following: int, headers: bytes, protocol: int, port: int
) -> None:
    """Of a quoted IPv6 packet the transport header is found behind its extensions, beside a quote
    that has none.
    """
    error = struct.pack(">BBHI", 1, 3, 0, 0)
    quoted = frames.ipv6(following, headers + SEGMENT)
    cut = error + quoted if protocol != 59 else (error + quoted)[:52]
    packets = decode(
        frames.ethernet(0x86DD, frames.ipv6(58, cut)),
        frames.ethernet(0x86DD, frames.ipv6(58, error + frames.ipv6(6, SEGMENT))),
    )
    quotes = packets.quotes

    assert ([protocol, 6], [port, 80]) == (quotes.protocol.tolist(), quotes.dport.tolist())


def test_echo_has_identifier_and_number() -> None:
    """Echo's identifier stands for ports, its sequence number for TCP's."""
    columns = decode(
        frames.ethernet(0x0800, frames.ipv4(1, struct.pack(">BBHHH", 8, 0, 0, 77, 3) + bytes(56)))
    ).columns

    assert (77, 77, 3, 56, 8) == (
        columns.sport[0],
        columns.dport[0],
        columns.seq[0],
        columns.payload[0],
        columns.icmp_type[0],
    )


def test_arp_goes_to_its_side_table() -> None:
    """Who asks, for whom, and with which MACs."""
    body = (
        bytes.fromhex("0001080006040002")
        + frames.MAC_A
        + b"\x0a\0\0\1"
        + frames.MAC_B
        + b"\x0a\0\0\2"
    )
    packets = decode(frames.ethernet(0x0800, PLAIN), frames.ethernet(0x0806, body))
    arps = packets.arps

    assert [(1, 2, 0x0A000001, 0x0A000002, 0x020000000001, 0x020000000002)] == [
        (
            arps.row[0],
            arps.operation[0],
            arps.sender[0],
            arps.target[0],
            arps.sender_mac[0],
            arps.target_mac[0],
        )
    ]


def test_sctp_has_ports() -> None:
    """Ports of SCTP are read."""
    columns = decode(
        frames.ethernet(0x0800, frames.ipv4(132, struct.pack(">HHII", 5, 36412, 1, 0) + bytes(16)))
    ).columns

    assert (132, 5, 36412, 16) == (
        columns.protocol[0],
        columns.sport[0],
        columns.dport[0],
        columns.payload[0],
    )


def test_contradictions_are_marked() -> None:
    """A header shorter than the least, or a length less than its header, is malformed."""
    columns = decode(
        frames.ethernet(0x0800, b"\x44" + PLAIN[1:]),
        frames.ethernet(0x0800, frames.ipv4(6, SEGMENT, length=10)),
        frames.ethernet(0x0800, frames.ipv4(6, SEGMENT[:12] + b"\x40" + SEGMENT[13:])),
        frames.ethernet(0x86DD, PLAIN + bytes(20)),
    ).columns

    assert [MALFORMED] * 4 == columns.broken.tolist()

"""Packets side by side are read as each would be alone, whatever stands beside them."""

from __future__ import annotations

import struct
from dataclasses import fields

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podpath_capture.columns import Arps, PacketColumns, Packets, Quotes
from podpath_capture.decoding.decode import decode_packets
from podpath_capture.decoding.layers import Group, HeaderBytes, Output
from podpath_capture.files.file import as_bytes, index_packets
from podpath_capture.files.index import Contents, join
from podpath_capture.reading.read import read_capture
from tests.capture import frames

SEGMENT = frames.tcp(0x18, options=bytes.fromhex("0101080a0000000700000008"), data=b"hello")
PLAIN = frames.ethernet(0x0800, frames.ipv4(6, SEGMENT))
SIX = frames.ethernet(0x86DD, frames.ipv6(6, SEGMENT))
VXLAN = frames.udp((5, 8472), struct.pack(">II", 0x08000000, 5 << 8) + PLAIN)
LONG = frames.tcp(
    0x02, options=bytes.fromhex("020405b40402080a000000070000000801030307") + b"\1" * 20
)
CHAIN = bytes([60, 2]) + bytes(22) + bytes([6, 3]) + bytes(30)
FAR = CHAIN[:24] + bytes([58, 3]) + CHAIN[26:] + struct.pack(">BBHI", 2, 0, 0, 1280)
"""An ICMPv6 error so far on that its header stands behind the block."""
ARP = (
    bytes.fromhex("0001080006040002") + frames.MAC_A + b"\x0a\0\0\1" + frames.MAC_B + b"\x0a\0\0\2"
)
ERROR = struct.pack(">BBHHH", 3, 4, 0, 0, 1400) + frames.ipv4(
    6, SEGMENT[:8], ends=("10.0.0.9", "10.0.0.1")
)
KINDS = [
    PLAIN,
    SIX,
    frames.ethernet(0x0800, frames.ipv4(17, VXLAN)),
    frames.ethernet(0x86DD, frames.ipv6(17, VXLAN)),
    frames.ethernet(0x0800, frames.ipv4(17, frames.udp((5, 53), b"question"))),
    frames.ethernet(0x0800, frames.ipv4(6, LONG)),
    frames.ethernet(0x86DD, frames.ipv6(0, CHAIN + LONG)),
    frames.ethernet(0x88A8, frames.vlan(9, 0x8100, frames.vlan(7, 0x0800, PLAIN[14:]))),
    frames.ethernet(0x0806, ARP),
    frames.ethernet(0x0800, frames.ipv4(1, ERROR)),
    frames.ethernet(0x0806, ARP[:4] + b"\x0e" + ARP[5:]),
    frames.ethernet(0x0806, ARP[:20]),
    frames.ethernet(0x0800, frames.ipv4(1, ERROR[:20])),
    frames.ethernet(0x86DD, frames.ipv6(58, struct.pack(">BBHI", 2, 0, 0, 1280) + SIX[14:])),
    frames.ethernet(0x0800, frames.ipv4(4, PLAIN[14:])),
    frames.ethernet(0x0800, frames.ipv4(47, b"\x20\0\x08\0" + struct.pack(">I", 99) + PLAIN[14:])),
    frames.ethernet(0x0800, frames.ipv4(6, SEGMENT, fragment=0x2000)),
    frames.ethernet(0x0800, frames.ipv4(6, SEGMENT, fragment=77)),
    frames.ethernet(0x0800, frames.ipv4(132, struct.pack(">HHII", 5, 36412, 1, 0) + bytes(16))),
    frames.ethernet(0x0800, b"\x44" + PLAIN[15:]),
    PLAIN[:40],
    frames.ethernet(0x86DD, frames.ipv6(0, FAR + SIX[14:])),
    frames.ethernet(0x86DD, frames.ipv6(0, FAR + SIX[14:]))[:-50],
    frames.ethernet(0x0800, frames.ipv4(6, SEGMENT[:12] + b"\x40" + SEGMENT[13:])),
    frames.ethernet(0x88CC, b"other"),
]
"""A frame of every kind of header."""


def rows(packets: Packets) -> list[tuple[object, ...]]:
    """Return each packet's columns, ARP and quotes, with addresses in place of their numbers."""
    columns = packets.columns
    names = [field.name for field in fields(PacketColumns) if field.name not in {"time", "offset"}]
    values = {name: getattr(columns, name).tolist() for name in names}
    for name, versions in (
        ("src", "version"),
        ("dst", "version"),
        ("outer_src", "outer_version"),
        ("outer_dst", "outer_version"),
    ):
        families = values[versions]
        values[name] = [
            packets.addresses[at] if kind == 6 else at
            for at, kind in zip(values[name], families, strict=True)
        ]
    sides: list[list[object]] = [[] for _ in range(len(columns))]
    for kind in (Arps, Quotes):
        table = packets.arps if kind is Arps else packets.quotes
        for place, row in enumerate(table.row.tolist()):
            sides[row].append(
                [
                    getattr(table, field.name)[place].item()
                    for field in fields(kind)
                    if field.name != "row"
                ]
            )
    return [(*each, str(side)) for *each, side in zip(*values.values(), sides, strict=True)]


@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=60), st.integers(2, 40))
def test_a_mixture_is_read_as_each_packet_alone(chosen: list[bytes], chunk: int) -> None:
    """Wide groups, narrow ones and those that waited give what a chunk of one packet gives."""
    data = as_bytes(frames.pcap(chosen))
    contents = Contents()
    index = join([*index_packets(data, contents)])

    alone = rows(decode_packets(data, index, contents.interfaces, 1))
    assert rows(decode_packets(data, index, contents.interfaces, chunk)) == alone
    assert rows(decode_packets(data, index, contents.interfaces)) == alone


@given(st.permutations(KINDS))
def test_captures_of_several_link_types_are_read_as_each_alone(order: list[bytes]) -> None:
    """Packets of two interfaces, one without Ethernet, stand in the order of the file."""
    head = frames.section() + frames.interface() + frames.interface(101)
    raw = [len(frame) % 2 for frame in order]
    parts = zip(order, raw, strict=True)
    mixed = read_capture(
        head + b"".join(frames.packet(frame[14 * bare :], bare) for frame, bare in parts)
    ).packets
    single = [
        read_capture(frames.pcap([frame[14 * bare :]], link_type=101 if bare else 1))
        for frame, bare in zip(order, raw, strict=True)
    ]
    without = [
        name for name in range(len(rows(mixed)[0])) if [row[name] for row in rows(mixed)] == raw
    ]

    assert without
    for row, alone in zip(rows(mixed), single, strict=True):
        kept = [value for place, value in enumerate(rows(alone.packets)[0]) if place not in without]
        assert kept == [value for place, value in enumerate(row) if place not in without]


def test_a_column_that_two_layers_write_keeps_the_inner_one() -> None:
    """A whole chunk in VXLAN has the inner packet's fields, and the outer's beside them."""
    packets = read_capture(frames.pcap([KINDS[2]] * 50)).packets

    assert np.unique(packets.columns.dport).tolist() == [80]
    assert np.unique(packets.columns.outer_dport).tolist() == [8472]
    assert np.unique(packets.columns.data_at).tolist() == [14 + 20 + 8 + 8 + 14 + 20 + 32]


def test_a_group_of_picked_packets_stays_one() -> None:
    """Where the header of picked packets stands behind the block, what is kept of them stands
    beside lists as before.
    """
    data = np.arange(1000, dtype=np.uint8)
    room = np.array([200, 300, 150], np.int32)
    block = HeaderBytes(Output(data, {}), np.array([0, 200, 500]), room, slice(0, 3))
    picked = Group(block, np.array([0, 2]), 140, np.array([60, 10], np.int32)).ready(8)

    assert picked.read(0, "u1").tolist() == [140, (500 + 140) % 256]
    kept = picked.keep(np.array([False, True]))
    assert (len(kept), kept.left.tolist(), kept.numbers.tolist()) == (1, [10], [2])

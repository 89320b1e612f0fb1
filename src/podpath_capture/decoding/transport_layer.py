"""TCP with its options, UDP and SCTP: ports, numbers, and how much they carry."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podpath_capture.columns import SACK, SACK_OK, SCALE, TIMESTAMPS
from podpath_capture.decoding.layers import Group, Mask
from podpath_capture.decoding.work import Layer, Work


class OptionLayout(NamedTuple):
    """An order of options that is often seen, so that its fields stand at known places of the
    header.
    """

    words: tuple[tuple[int, int, int], ...]
    """Where a word stands, which of its bits count, and what they are."""
    stamps_at: int
    options: int
    mss_at: int = 0


_STAMPS = (20, 0xFFFFFFFF, 0x0101080A)
LAYOUTS: dict[int, tuple[OptionLayout, ...]] = {
    32: (OptionLayout((_STAMPS,), 24, TIMESTAMPS),),
    40: (
        OptionLayout(
            (
                (20, 0xFFFF0000, 0x02040000), (24, 0xFFFFFFFF, 0x0402080A),
                (36, 0xFFFFFF00, 0x01030300),
            ),
            28, SACK_OK | TIMESTAMPS | SCALE, 22,
        ),
    ),
    44: (OptionLayout((_STAMPS, (32, 0xFFFFFFFF, 0x0101050A)), 24, TIMESTAMPS | SACK),),
    52: (OptionLayout((_STAMPS, (32, 0xFFFFFFFF, 0x01010512)), 24, TIMESTAMPS | SACK),),
}  # fmt: skip
"""By the size of the header: what Linux sends (net/ipv4/tcp_output.c:tcp_options_write v6.12). All
else is walked.
"""
VXLAN_PORTS, GENEVE_PORT = (4789, 8472), 6081
"""IANA's port and Linux's, which flannel and Cilium use; Geneve's."""
GENEVE_TYPES = (0x6558, 0x0800, 0x86DD)
NAMES, DNS_HEADER = 53, 12
"""The port of name servers, and the bytes that every message begins with (RFC 1035, 4.1.1)."""
GTP_PORT = 2152
GRE_PORT, AYIYA_PORT = 4754, 5072
RARE = (GRE_PORT, AYIYA_PORT)
"""Ports of tunnels that are hardly used."""
GRE_TYPES = (0x0800, 0x86DD, 0x6558)
IPV6_NEXT = 41
"""The number of IPv6 as what another header carries."""
"""Of GTP-U, what mobile networks carry."""
CARRIED = (0x0800, 0x86DD, 0x0806, 0x8100)
"""EtherTypes by which the content of a datagram shows that it is VXLAN on another port."""
MOST_OPTIONS = 40


def decode_tcp(group: Group) -> Iterator[Work]:
    """Read a TCP header."""
    whole = group.ready(20)
    if whole.block.least < whole.offset + 20:
        room = group.room
        read_ports(group.keep((room >= 4) & (room < 20)))
    if not len(whole):
        return
    group = whole.refuse(whole.read(12, "u1") < 0x50)
    if not len(group):
        return
    first, second = group.words(0), group.words(8)
    head = second.one(4) >> 2 & np.uint8(0x3C)
    group.put("sport", first.two(0))
    group.put("dport", first.two(2))
    group.put("seq", first.four(4))
    group.put("ack", second.four(0))
    group.put("flags", second.one(5))
    group.put("window", second.two(6))
    group.put("payload", np.maximum(group.left - head, 0))
    group.put("data_at", group.position() + head)
    for size, part in group.split(head):
        if size > 20:
            read_options(part.ready(20), size)
    yield from ()


def read_ports(group: Group) -> None:
    """Read source and destination port."""
    if len(group):
        group = group.ready(4)
        ports = group.read(0, ">u4")
        group.put("sport", ports >> np.uint32(16))
        group.put("dport", ports & np.uint32(0xFFFF))


def read_options(group: Group, size: int) -> None:
    """Read the options of TCP headers of one size; timestamps where Linux puts them go the short
    way.
    """
    group = group.keep(group.room >= size) if group.block.least < group.offset + size else group
    group = group.ready(size)
    if not len(group):
        return
    for layout in LAYOUTS.get(size, ()):
        same = reduce(
            and_,
            (group.read(at, ">u4") & np.uint32(mask) == value for at, mask, value in layout.words),
        )
        alike = group.keep(same)
        if len(alike):
            _read_layout(alike, layout)
        if alike is group:
            return
        group = group.keep(~same)
        if not len(group):
            return
    _walk_options(group, size)


def _read_layout(group: Group, layout: OptionLayout) -> None:
    stamps = group.words(layout.stamps_at)
    group.put("tsval", stamps.four(0))
    group.put("tsecr", stamps.four(4))
    group.put("options", layout.options)
    if layout.mss_at:
        group.put("mss", group.read(layout.mss_at, ">u2"))


def _walk_options(group: Group, size: int) -> None:
    """Go through the options of each packet, one option of all packets at a time."""
    group = group.narrow()
    count = len(group)
    area = np.stack([group.read(at, "u1") for at in range(20, size)], axis=1)
    area = np.concatenate((area, np.zeros((count, 12), np.uint8)), axis=1)
    rows, place = np.arange(count), np.zeros(count, np.int64)
    found = {name: np.zeros(count, np.int64) for name in ("mss", "tsval", "tsecr", "options")}
    for _ in range(MOST_OPTIONS):
        kind = area[rows, place]
        length = np.where(kind == 1, 1, area[rows, place + 1])
        going = (
            (kind != 0)
            & (length > 0)
            & (place + length <= size - 20)
            & ((kind == 1) | (length > 1))
        )
        rows, place, kind, length = rows[going], place[going], kind[going], length[going]
        if not len(rows):
            break
        _keep_option(area, found, rows, place, kind.astype(np.int64) << 8 | length)
        place = place + length
        inside = place < size - 20
        rows, place = rows[inside], place[inside]
    for name, values in found.items():
        group.put(name, values)


def _keep_option(
    area: NDArray[Any],
    found: dict[str, NDArray[Any]],
    rows: NDArray[Any],
    place: NDArray[Any],
    key: NDArray[Any],
) -> None:
    """Keep the options that are looked at, by kind and length."""
    for wanted, bit in ((0x0402, SACK_OK), (0x0303, SCALE), (0x080A, TIMESTAMPS)):
        found["options"][rows[key == wanted]] |= bit
    found["options"][rows[(key >> 8 == 5)]] |= SACK
    size = key == 0x0204
    found["mss"][rows[size]] = number(area, rows[size], place[size] + 2, 2)
    stamps = key == 0x080A
    found["tsval"][rows[stamps]] = number(area, rows[stamps], place[stamps] + 2, 4)
    found["tsecr"][rows[stamps]] = number(area, rows[stamps], place[stamps] + 6, 4)


def number(area: NDArray[Any], rows: NDArray[Any], place: NDArray[Any], width: int) -> NDArray[Any]:
    """Read a number of some bytes at a place of each row."""
    value = np.zeros(len(rows), np.int64)
    for byte in range(width):
        value = value << 8 | area[rows, place + byte]
    return value


def decode_udp(group: Group) -> Iterator[Work]:
    """Read a UDP header, and find the tunnels that it carries."""
    whole = group.ready(8)
    if whole.block.least < whole.offset + 8:
        read_ports(group.keep(group.room >= 4))
    if not len(whole):
        return
    group = whole
    read_ports(group)
    length = group.read(4, ">u2").astype(np.int32)
    group = group.move(8, np.where(length >= 8, length, group.left) - 8)
    group.put("payload", np.maximum(group.left, 0))
    group.put("data_at", group.position())
    _read_query(group)
    inner = group.keep((group.room >= 22) & (group.left >= 22))
    if len(inner):
        yield from _find_tunnels(inner.ready(22))


def _read_query(group: Group) -> None:
    """Read the identifier that a DNS message and its answer have in common."""
    named = (group.column("sport") == NAMES) | (group.column("dport") == NAMES)
    if group.any(named):
        asking = group.keep(named & (group.room >= DNS_HEADER) & (group.left >= DNS_HEADER))
        if len(asking):
            asking = asking.ready(DNS_HEADER)
            asking.put("query", asking.read(0, ">u2"))


def _find_tunnels(group: Group) -> Iterator[Work]:
    port = group.column("dport")
    vxlan = is_vxlan(group, np.isin(port, VXLAN_PORTS))
    if vxlan.any():
        yield Layer.VXLAN, group.keep(vxlan)
    geneve = _is_geneve(group)
    if geneve.any():
        yield Layer.GENEVE, group.keep(geneve)
    gtp = (port == GTP_PORT) & (group.room >= 8)
    if group.any(gtp):
        yield Layer.GTP, group.keep(gtp)
    rare = np.isin(port, RARE) | np.isin(group.column("sport"), RARE)
    if group.any(rare):
        yield from _find_rare(group.keep(rare))


def _find_rare(group: Group) -> Iterator[Work]:
    """Go on with tunnels that are hardly used, by their ports and by what they begin with."""
    port, start = group.column("dport"), group.read(0, ">u4")
    gre = (port == GRE_PORT) & (start & np.uint32(0x4FFF0000) == 0)
    gre &= np.isin(start & np.uint32(0xFFFF), GRE_TYPES)
    if gre.any():
        yield Layer.GRE, group.keep(gre)
    ayiya = (port == AYIYA_PORT) | (group.column("sport") == AYIYA_PORT)
    ayiya &= start & np.uint32(0xFF) == IPV6_NEXT
    if ayiya.any():
        yield Layer.AYIYA, group.keep(ayiya)


def _is_geneve(group: Group) -> Mask:
    """Tell which datagrams are Geneve: by port, and answers to a sender's port by what they begin
    with (RFC 8926): no reserved bit, a frame of Ethernet or IP within.
    """
    start = group.read(0, ">u4")
    answer = (group.column("sport") == GENEVE_PORT) & (start & np.uint32(0xC03F0000) == 0)
    answer &= np.isin(start & np.uint32(0xFFFF), GENEVE_TYPES) & (group.read(7, "u1") == 0)
    valid: Mask = ((group.column("dport") == GENEVE_PORT) & (start >> np.uint32(30) == 0)) | answer
    return valid


def is_vxlan(group: Group, by_port: Mask) -> Mask:
    """Tell which datagrams are VXLAN: by port with the flag of a valid VNI, on other ports by every
    reserved bit (RFC 7348).
    """
    flags = group.read(0, ">u4")
    clean = (flags == 0x08000000) & (group.read(7, "u1") == 0)
    content = clean & np.isin(group.read(20, ">u2"), CARRIED)
    valid: Mask = (by_port & (flags & np.uint32(0x08000000) != 0)) | content
    return valid


def decode_sctp(group: Group) -> Iterator[Work]:
    """Read the ports of SCTP."""
    group = group.narrow().ready(12)
    if len(group):
        read_ports(group)
        group.put("payload", np.maximum(group.left - 12, 0))
        group.put("data_at", group.position(12))
    yield from ()

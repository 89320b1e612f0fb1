"""ICMP and ICMPv6: echo with its identifier and number, errors with the packet that they quote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath.net import protocols
from podpath_capture.arrays.segments import distinct
from podpath_capture.decoding.layers import Group
from podpath_capture.decoding.network_layer import AUTHENTICATION, FRAGMENT, OPTIONS
from podpath_capture.decoding.work import Work

ECHOES = {4: (8, 0), 6: (128, 129)}
ERRORS = {4: (3, 4, 5, 11, 12), 6: (1, 2, 3, 4)}
NOTHING_FOLLOWS = 59
"""What a quote is said to hold that ends within its extension headers (RFC 8200, 4.7)."""
WITH_PORTS = (protocols.TCP, protocols.UDP, protocols.SCTP, protocols.UDPLITE)


def decode_icmp4(group: Group) -> Iterator[Work]:
    """Read an ICMP header."""
    _decode(group, 4)
    yield from ()


def decode_icmp6(group: Group) -> Iterator[Work]:
    """Read an ICMPv6 header."""
    _decode(group, 6)
    yield from ()


def _decode(group: Group, version: int) -> None:
    group = group.narrow().ready(8)
    if not len(group):
        return
    kind = group.read(0, "u1")
    group.put("icmp_type", kind)
    group.put("icmp_code", group.read(1, "u1"))
    group.put("payload", np.maximum(group.left - 8, 0))
    group.put("data_at", group.position(8))
    echo = group.keep(np.isin(kind, ECHOES[version]))
    if len(echo):
        for port in ("sport", "dport"):
            echo.put(port, echo.read(4, ">u2"))
        echo.put("seq", echo.read(6, ">u2"))
    errors = group.keep(np.isin(kind, ERRORS[version]))
    if len(errors):
        _read_quotes(errors, version)


def _read_quotes(group: Group, version: int) -> None:
    """Read the packets that errors quote into their side table; those that were cut before it have
    none.
    """
    if version == 4:
        limited = (group.read(0, "u1") == 3) & (group.read(1, "u1") == 4)
        mtu = np.where(limited, group.read(6, ">u2"), 0).astype(np.uint32)
    else:
        mtu = np.where(group.read(0, "u1") == 2, group.read(4, ">u4"), 0).astype(np.uint32)
    least = 20 if version == 4 else 40
    whole = group.room >= 8 + least
    group, mtu = group.keep(whole), mtu[whole]
    if not len(group):
        return
    right = group.move(8).ready(least)
    first = right.read(0, "u1")
    for value, part in right.split(first):
        mine = mtu[first == value]
        if version == 4 and value >> 4 == 4 and value & 15 >= 5:
            later = (part.read(6, ">u2") & 0x1FFF) != 0
            addresses = part.read(12, ">u4"), part.read(16, ">u4")
            row = {
                "protocol": part.read(9, "u1"),
                "ident": part.read(4, ">u2"),
                "length": part.read(2, ">u2"),
            }
            _keep(part, mine, addresses, row, np.where(later, 0, (value & 15) * 4))
        elif version == 6 and value >> 4 == 6:
            number = part.block.out.addresses.number
            halves = [part.read(at, ">u8") for at in (8, 16, 24, 32)]
            length = part.read(4, ">u2").astype(np.uint32) + np.uint32(40)
            addresses = number(halves[0], halves[1]), number(halves[2], halves[3])
            protocol, head = _pass_extensions(part)
            _keep(part, mine, addresses, {"protocol": protocol, "length": length}, head)


def _pass_extensions(group: Group) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the transport protocol of each quoted IPv6 packet, and where its header begins: 0
    where the quote ends before it, or the packet is a later fragment.
    """
    protocol = group.read(6, "u1").copy()
    head = np.full(len(group), 40)
    data, room = group.block.out.data, group.room
    start = np.asarray(group.block.at, np.int64)
    start = (start if group.some is None else start[group.some]) + group.offset
    for row in np.flatnonzero(np.isin(protocol, [*OPTIONS, FRAGMENT, AUTHENTICATION])).tolist():
        kind, at = int(protocol[row]), 40
        while kind in OPTIONS or kind in {FRAGMENT, AUTHENTICATION}:
            if int(room[row]) < at + 8:
                kind, at = NOTHING_FOLLOWS, 0
                break
            place = int(start[row]) + at
            following, size = int(data[place]), int(data[place + 1])
            later = kind == FRAGMENT and (int(data[place + 2]) << 8 | int(data[place + 3])) >> 3
            kind, at = following, at + _size_of(kind, size)
            if later:
                at = 0
                break
        protocol[row], head[row] = kind, at
    return protocol, head


def _size_of(kind: int, size: int) -> int:
    """Return the bytes of an extension header by the length that it says."""
    if kind == FRAGMENT:
        return 8
    if kind == AUTHENTICATION:
        return (size + 2) * 4
    return (size + 1) * 8


def _keep(
    group: Group,
    mtu: NDArray[np.uint32],
    addresses: tuple[NDArray[Any], NDArray[Any]],
    row: dict[str, NDArray[Any]],
    head: NDArray[Any],
) -> None:
    """Add rows to the side table; `head` is the length of the quoted IP header, 0 where no
    transport header follows.
    """
    count = len(group)
    zeros = np.zeros(count, np.uint32)
    row = {
        "ident": zeros,
        **row,
        "sport": zeros.copy(),
        "dport": zeros.copy(),
        "seq": zeros.copy(),
        "mtu": mtu,
    }
    row |= {"row": group.numbers, "src": addresses[0], "dst": addresses[1]}
    row["version"] = np.full(count, 4 if group.read(0, "u1")[0] >> 4 == 4 else 6, np.uint8)
    for size in distinct(head[head > 0]).tolist():
        _read_ports(group, row, size, (head == size) & (group.room >= size + 8))
    group.block.out.quotes.append(row)


def _read_ports(
    group: Group, row: dict[str, NDArray[Any]], size: int, whole: NDArray[np.bool_]
) -> None:
    """Fill in ports and numbers of quotes whose transport header begins after `size` bytes."""
    ported = np.isin(row["protocol"], WITH_PORTS) & whole
    chosen = np.flatnonzero(ported)
    if len(chosen):
        part = group.keep(ported).move(size).ready(8)
        row["sport"][chosen], row["dport"][chosen] = part.read(0, ">u2"), part.read(2, ">u2")
        row["seq"][chosen] = np.where(
            row["protocol"][chosen] == protocols.TCP, part.read(4, ">u4"), 0
        )
    echo = np.isin(row["protocol"], (protocols.ICMP, protocols.ICMPV6)) & whole
    chosen = np.flatnonzero(echo)
    if len(chosen):
        part = group.keep(echo).move(size).ready(8)
        row["sport"][chosen] = row["dport"][chosen] = part.read(4, ">u2")
        row["seq"][chosen] = part.read(6, ">u2")

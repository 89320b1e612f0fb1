"""ARP, IPv4 and IPv6 with its extension headers, up to the transport header."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from podpath.net import protocols
from podpath_capture.columns import MALFORMED
from podpath_capture.decoding.layers import Group
from podpath_capture.decoding.work import Layer, Work

OPTIONS = frozenset({0, 43, 60, 135, 139, 140})
"""Extension headers that say their length in 8 bytes: hop-by-hop, routing, destination, mobility,
HIP, shim6.
"""
FRAGMENT, AUTHENTICATION = 44, 51
TRANSPORTS: dict[int, Layer] = {
    protocols.TCP: Layer.TCP, protocols.UDP: Layer.UDP, protocols.SCTP: Layer.SCTP,
    protocols.ICMP: Layer.ICMP, protocols.ICMPV6: Layer.ICMP6, protocols.GRE: Layer.GRE,
    protocols.IPIP: Layer.IPIP, protocols.IPV6: Layer.IP6IP, AUTHENTICATION: Layer.AH,
}  # fmt: skip
"""What an IP protocol number leads to, where it is read."""


def decode_arp(group: Group) -> Iterator[Work]:
    """Read ARP of Ethernet and IPv4 into its side table; ARP of other networks is left out."""
    group = group.narrow().ready(8)
    if len(group):
        group = group.keep((group.read(2, ">u2") == 0x0800) & (group.read(4, ">u2") == 0x0604))
    group = group.ready(28) if len(group) else group
    if len(group):
        group.block.out.arps.append(
            {
                "row": group.numbers,
                "operation": group.read(6, ">u2"),
                "sender_mac": group.read(8, ">u8") >> np.uint64(16),
                "sender": group.read(14, ">u4"),
                "target_mac": group.read(16, ">u8") & np.uint64(0xFFFF_FFFF_FFFF),
                "target": group.read(24, ">u4"),
            }
        )
    yield from ()


def decode_ip(group: Group) -> Iterator[Work]:
    """Read raw IP, whose first bits say its version."""
    group = group.ready(1)
    if len(group):
        for version, part in group.split(group.read(0, "u1") >> 4):
            if version in {4, 6}:
                yield (Layer.IPV4 if version == 4 else Layer.IPV6), part


def decode_ipv4(group: Group) -> Iterator[Work]:
    """Read an IPv4 header; only first fragments have a transport header."""
    group = group.ready(20)
    if not len(group):
        return
    first = group.read(0, "u1")
    for value, part in group.split(first):
        head = (value & 15) * 4
        if value >> 4 == 4 and head >= 20:
            yield from _decode_ipv4(part, head)
        else:
            part.put("broken", MALFORMED)


def _decode_ipv4(group: Group, head: int) -> Iterator[Work]:
    total = group.read(2, ">u2")
    group = group.refuse(total - np.uint16(1) < head - 1)  # 0 is none: see below
    if not len(group):
        return
    first, second = group.words(0), group.words(8)
    length, fragment, left = first.two(2).astype(np.int32), first.two(6), group.left
    if (
        not length.all()
    ):  # a super-packet longer than the field can say, or whose length the device would have set
        length = np.where(length == 0, left, length)
    group.put("version", 4)
    group.put("network_at", group.position())
    group.put("length", length)
    group.put("ident", first.two(4))
    group.put("fragment", fragment)
    group.put("ttl", second.one(0))
    group.put("protocol", second.one(1))
    group.put("src", second.four(4))
    group.put("dst", group.read(16, ">u4"))
    group = group.move(head, np.minimum(length, left) - head)
    numbers = second.one(1)
    later = (fragment & 0x1FFF) != 0
    if group.any(later):
        rest = group.keep(later)
        rest.put("payload", np.maximum(rest.left, 0))
        rest.put("data_at", rest.position())
        group = group.keep(~later)
        numbers = group.read(9 - head, "u1")
    for number, part in group.split(numbers):
        yield from enter(number, part)


def decode_ipv6(group: Group) -> Iterator[Work]:
    """Read an IPv6 header."""
    group = group.ready(40)
    if not len(group):
        return
    group = group.refuse(group.read(0, "u1") >> 4 != 6)
    if not len(group):
        return
    first = group.words(0)
    following, length = first.one(6), first.two(4).astype(np.int32) + np.int32(40)
    if not (length > 40).all():  # 0: BIG TCP, a jumbogram, or nothing at all
        length = np.where(
            length == 40, np.where(following == 59, 40, np.maximum(group.left, 40)), length
        )
    group.put("version", 6)
    group.put("network_at", group.position())
    group.put("length", length)
    group.put("ident", 0)
    group.put("fragment", 0)
    group.put("ttl", first.one(7))
    addressed, number = group.narrow(), group.block.out.addresses.number
    addressed.put("src", number(addressed.read(8, ">u8"), addressed.read(16, ">u8")))
    addressed.put("dst", number(addressed.read(24, ">u8"), addressed.read(32, ">u8")))
    group = group.move(40, np.minimum(length, group.left) - 40)
    for kind, part in group.split(following):
        yield from enter6(kind, part)


def enter6(kind: int, group: Group) -> Iterator[Work]:
    """Go on with what a next-header field names: an extension header or the transport header."""
    if kind in OPTIONS or kind == AUTHENTICATION:
        group = group.ready(8)
        if len(group):
            for size, part in group.split(group.read(1, "u1")):
                yield from _follow(
                    part, (size + 2) * 4 if kind == AUTHENTICATION else (size + 1) * 8
                )
    elif kind == FRAGMENT:
        group = group.ready(8)
        if len(group):
            yield from _decode_fragment(group)
    else:
        group.put("protocol", kind)
        yield from enter(kind, group)


def _follow(group: Group, size: int) -> Iterator[Work]:
    following = group.read(0, "u1")
    for kind, part in group.move(size).split(following):
        yield from enter6(kind, part)


def _decode_fragment(group: Group) -> Iterator[Work]:
    place = group.read(2, ">u2")
    group.put("ident", group.read(4, ">u4"))
    group.put("fragment", (place >> 3) | (place & 1) << 13)
    later = place >> 3 != 0
    rest = group.keep(later)
    if len(rest):
        rest.put("protocol", rest.read(0, "u1"))
        rest = rest.move(8)
        rest.put("payload", np.maximum(rest.left, 0))
        rest.put("data_at", rest.position())
    group = group.keep(~later)
    if len(group):
        yield from _follow(group, 8)


def decode_ah(group: Group) -> Iterator[Work]:
    """Pass over an authentication header (RFC 4302) of IPv4: what follows is not encrypted."""
    group = group.narrow().ready(8)
    if len(group):
        for size, part in group.split(group.read(1, "u1")):
            following = part.read(0, "u1")
            for kind, some in part.move((size + 2) * 4).split(following):
                some.put("protocol", kind)
                yield from enter(kind, some)


def enter(protocol: int, group: Group) -> Iterator[Work]:
    """Go on with what an IP protocol number names; of what is not read, only the length is kept."""
    layer = TRANSPORTS.get(protocol)
    if layer is not None:
        yield layer, group
    else:
        group.put("payload", np.maximum(group.left, 0))
        group.put("data_at", group.position())

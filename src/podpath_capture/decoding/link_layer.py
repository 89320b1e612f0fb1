"""Link types to network headers: Ethernet with its tags, Linux cooked captures, raw IP, null
(LINKTYPE_ registry).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podpath_capture.decoding.layers import Group
from podpath_capture.decoding.work import Layer, Work

TAGS = frozenset({0x8100, 0x88A8, 0x9100})
IPV4, ARP, IPV6 = 0x0800, 0x0806, 0x86DD
MPLS, MPLS_GROUP, PPPOE = 0x8847, 0x8848, 0x8864
VNTAG, BACKBONE = 0x8926, 0x88E7
DEEPEST = 16
"""Labels of MPLS that are passed over."""
PAYLOAD = 9
"""NFULA_PAYLOAD (include/uapi/linux/netfilter/nfnetlink_log.h v6.12)."""
FAMILIES4, FAMILIES6 = frozenset({2}), frozenset({10, 24, 28, 30})
"""AF_INET and AF_INET6 as the systems number them that write LINKTYPE_NULL."""


def decode_ethernet(group: Group) -> Iterator[Work]:
    """Read an Ethernet header."""
    group = group.ready(14)
    if not len(group):
        return
    words = group.words(6)
    group.put("dmac", group.read(0, ">u8") >> np.uint64(16))
    group.put("smac", words.all >> np.uint64(16))
    yield from dispatch(group.move(14), words.two(6))


def dispatch(group: Group, kinds: NDArray[Any]) -> Iterator[Work]:
    """Go on by the EtherTypes of the packets, which stand right before what they name."""
    group.put("ethertype", kinds)
    for kind, part in group.split(kinds):
        yield from enter(kind, part)


def enter(kind: int, group: Group) -> Iterator[Work]:
    """Go on with what an EtherType names; a length in its place leads to LLC."""
    if kind == IPV4:
        yield Layer.IPV4, group
    elif kind == IPV6:
        yield Layer.IPV6, group
    elif kind == ARP:
        yield Layer.ARP, group
    elif kind in TAGS:
        yield Layer.TAG, group
    elif kind in (MPLS, MPLS_GROUP):
        yield Layer.MPLS, group
    elif kind == PPPOE:
        yield Layer.PPPOE, group
    elif kind == VNTAG:
        yield Layer.VNTAG, group
    elif kind == BACKBONE:
        yield Layer.BACKBONE, group
    elif kind <= 1500:
        yield Layer.LLC, group


def decode_tag(group: Group) -> Iterator[Work]:
    """Read a VLAN tag (802.1Q, 802.1ad)."""
    group = group.ready(4)
    if len(group):
        group.put("vlan", group.read(0, ">u2") & 0x0FFF)
        yield from dispatch(group.move(4), group.read(2, ">u2"))


def decode_vntag(group: Group) -> Iterator[Work]:
    """Pass over a VN-Tag (802.1BR's forerunner)."""
    group = group.ready(6)
    if len(group):
        yield from dispatch(group.move(6), group.read(4, ">u2"))


def decode_backbone(group: Group) -> Iterator[Work]:
    """Pass over the service tag of a backbone (802.1ah): the frame of its customer follows."""
    group = group.ready(4)
    if len(group):
        yield Layer.ETHERNET, group.move(4)


def decode_llc(group: Group) -> Iterator[Work]:
    """Read LLC with SNAP where it names an EtherType (RFC 1042); any other LLC is no IP."""
    group = group.keep(group.room >= 8).ready(8)
    if len(group):
        snap = (group.read(0, ">u4") == 0xAAAA0300) & (group.read(4, ">u2") == 0)
        group = group.keep(snap)
        if len(group):
            yield from dispatch(group.move(8), group.read(6, ">u2"))


def decode_cooked(group: Group) -> Iterator[Work]:
    """Read a Linux cooked header (LINKTYPE_LINUX_SLL)."""
    group = group.ready(16)
    if len(group):
        group.put("direction", _direction(group.read(0, ">u2")))
        long = group.read(4, ">u2") == 6
        group.put("smac", (group.read(6, ">u8") >> np.uint64(16)) * long)
        yield from dispatch(group.move(16), group.read(14, ">u2"))


def decode_cooked2(group: Group) -> Iterator[Work]:
    """Read a Linux cooked header of version 2, which knows the device (LINKTYPE_LINUX_SLL2)."""
    group = group.ready(20)
    if not len(group):
        return
    group.put("ifindex", group.read(4, ">u4"))
    group.put("direction", _direction(group.read(10, "u1")))
    long = group.read(11, "u1") == 6
    group.put("smac", (group.read(12, ">u8") >> np.uint64(16)) * long)
    yield from dispatch(group.move(20), group.read(0, ">u2"))


def _direction(kinds: NDArray[Any]) -> NDArray[np.uint8]:
    """Count the kernel's packet types (PACKET_HOST to PACKET_OUTGOING) from 1; 0 stands for what is
    none of them.
    """
    return np.where(kinds <= 4, kinds + 1, 0).astype(np.uint8)


def decode_mpls(group: Group) -> Iterator[Work]:
    """Pass over labels of MPLS (RFC 3032); only what begins as IP does is read behind the last."""
    group = group.narrow()
    for _ in range(DEEPEST):
        group = group.ready(4) if len(group) else group
        if not len(group):
            return
        last = group.read(2, "u1") & 1 != 0
        ended = group.keep(last)
        if len(ended):
            yield Layer.IP, ended.move(4)
        group = group.keep(~last).move(4)


def decode_pppoe(group: Group) -> Iterator[Work]:
    """Read the header of a PPPoE session (RFC 2516)."""
    group = group.narrow().ready(6)
    if len(group):
        yield Layer.PPP, group.move(6)


def decode_ppp(group: Group) -> Iterator[Work]:
    """Read what names the protocol of a PPP frame (RFC 1661): address and control may stand before
    it, and its first byte may be left out.
    """
    group = group.narrow().ready(4)
    if not len(group):
        return
    for framed, part in group.split(group.read(0, ">u2") == 0xFF03):
        inner = part.move(2) if framed else part
        for short, some in inner.split(inner.read(0, "u1") & 1):
            kinds = some.read(0, "u1") if short else some.read(0, ">u2")
            for kind, one in some.split(kinds):
                if kind in PPP:
                    yield PPP[kind], one.move(1 if short else 2)


def decode_nflog(group: Group) -> Iterator[Work]:
    """Read the attributes in front of a packet that was logged (LINKTYPE_NFLOG), in the order of a
    little-endian host.
    """
    group = group.narrow().ready(4)
    if not len(group):
        return
    block = group.block
    places = np.asarray(block.at if group.some is None else block.at[group.some], np.int64)
    starts = np.array(
        [
            _find_payload(block.out.data, int(place) + group.offset, int(room))
            for place, room in zip(places, group.room, strict=True)
        ],
        np.int64,
    )
    for start, part in group.keep(starts > 0).split(starts[starts > 0]):
        yield Layer.IP, part.move(start)


def _find_payload(data: NDArray[np.uint8], place: int, room: int) -> int:
    """Return where the packet begins behind its attributes; 0 where there is none."""
    at = 4
    while at + 4 <= room:
        size = int(data[place + at]) | int(data[place + at + 1]) << 8
        kind = int(data[place + at + 2]) | int(data[place + at + 3]) << 8
        if kind == PAYLOAD:
            return at + 4
        if size < 4:
            return 0
        at += size + -size % 4
    return 0


def decode_null(group: Group) -> Iterator[Work]:
    """Read the family in front of a packet (LINKTYPE_NULL and LINKTYPE_LOOP), in whichever byte
    order it was written.
    """
    group = group.ready(4)
    if not len(group):
        return
    families = group.read(0, ">u4")
    families = np.where(families > 0xFFFF, families.astype(np.uint32).byteswap(), families)
    for family, part in group.split(families):
        if family in FAMILIES4:
            yield Layer.IPV4, part.move(4)
        elif family in FAMILIES6:
            yield Layer.IPV6, part.move(4)


PPP = {0x21: Layer.IPV4, 0x57: Layer.IPV6, 0x0281: Layer.MPLS}
"""Protocols of PPP that are read."""
LINK_TYPES: dict[int, Layer] = {
    0: Layer.NULL, 1: Layer.ETHERNET, 12: Layer.IP, 14: Layer.IP, 101: Layer.IP, 228: Layer.IPV4,
    229: Layer.IPV6, 108: Layer.NULL, 113: Layer.COOKED, 276: Layer.COOKED2, 9: Layer.PPP,
    239: Layer.NFLOG,
}  # fmt: skip
"""What a packet of each link type begins with."""

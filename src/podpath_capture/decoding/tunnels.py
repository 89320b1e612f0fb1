"""VXLAN, Geneve, GRE and IP in IP: what was read becomes the outer packet, and the columns the
inner one's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from podpath_capture.decoding.layers import Group
from podpath_capture.decoding.work import Layer, Work

DEEPEST = 8
"""Tunnels in tunnels that are followed."""
INNER = (
    "version", "protocol", "sport", "dport", "ident", "fragment", "ttl", "length", "payload", "src",
    "dst", "smac", "dmac", "vlan", "icmp_type", "icmp_code",
)  # fmt: skip
"""Columns that tell of the inner packet once there is one."""
OUTER = ("version", "protocol", "src", "dst", "sport", "dport", "smac", "dmac")
"""Columns that are kept of the outer packet."""
LAYERS = {0x0800: Layer.IPV4, 0x86DD: Layer.IPV6, 0x6558: Layer.ETHERNET, 0x0806: Layer.ARP}
ERSPAN2, ERSPAN3, POINT_TO_POINT = 0x88BE, 0x22EB, 0x880B
CARRIED = {**LAYERS, 0x8847: Layer.MPLS, ERSPAN2: Layer.ERSPAN2, ERSPAN3: Layer.ERSPAN3}
"""What GRE carries, of version 0."""


def encapsulate(group: Group) -> Group:
    """Keep what was read as the outer packet, and clear the columns for the inner one; those in too
    many tunnels are left out.
    """
    group = group.keep(group.column("depth") < DEEPEST)
    if len(group):
        for name in OUTER:
            group.put(f"outer_{name}", group.column(name))
        for name in INNER:
            group.put(name, 0)
        group.put("depth", group.column("depth") + np.uint8(1))
    return group


def decode_vxlan(group: Group) -> Iterator[Work]:
    """Read a VXLAN header."""
    group = encapsulate(group)
    if len(group):
        group.put("vni", group.read(4, ">u4") >> np.uint32(8))
        yield Layer.ETHERNET, group.move(8)


def decode_geneve(group: Group) -> Iterator[Work]:
    """Read a Geneve header; its options are passed over."""
    group = encapsulate(group.narrow())
    if not len(group):
        return
    group.put("vni", group.read(4, ">u4") >> np.uint32(8))
    for size, part in group.split(group.read(0, "u1") & 0x3F):
        for kind, inner in part.split(part.read(2, ">u2")):
            if kind in LAYERS:
                yield LAYERS[kind], inner.move(8 + size * 4)


def decode_gre(group: Group) -> Iterator[Work]:
    """Read a GRE header with checksum, key and sequence number (RFC 2784, 2890), or of version 1
    with PPP (RFC 2637).
    """
    group = group.narrow().ready(4)
    if not len(group):
        return
    group.put("payload", np.maximum(group.left - 4, 0))
    group.put("data_at", group.position(4))
    for bits, part in group.split(group.read(0, ">u2")):
        if bits & 7 == 1:
            yield from _decode_pptp(part, bits)
        if bits & 7:
            continue
        summed, keyed = 4 * bool(bits & 0xC000), 4 * bool(bits & 0x2000)
        size = 4 + summed + keyed + 4 * bool(bits & 0x1000)
        whole = part.ready(size)
        if not len(whole):
            continue
        inner = encapsulate(whole.keep(np.isin(whole.read(2, ">u2"), list(CARRIED))))
        if keyed and len(inner):
            inner.put("vni", inner.read(4 + summed, ">u4"))
        for kind, carried in inner.split(inner.read(2, ">u2")):
            if kind == ERSPAN2 and not bits & 0x1000:  # the first version has no header
                yield Layer.ETHERNET, carried.move(size)
            else:
                yield CARRIED[kind], carried.move(size)


def _decode_pptp(group: Group, bits: int) -> Iterator[Work]:
    """Read GRE of version 1: PPP, where a packet carries any."""
    numbered, acknowledges = bits & 0x1000, bits & 0x0080
    size = 8 + 4 * bool(numbered) + 4 * bool(acknowledges)
    group = group.ready(size)
    if not len(group) or not numbered:
        return
    inner = encapsulate(group.keep(group.read(2, ">u2") == POINT_TO_POINT))
    if len(inner):
        inner.put("vni", inner.read(6, ">u2"))
        yield Layer.PPP, inner.move(size)


def decode_erspan2(group: Group) -> Iterator[Work]:
    """Pass over the header of ERSPAN's second version (draft-foschiano-erspan)."""
    group = group.narrow().ready(8)
    if len(group):
        yield Layer.ETHERNET, group.move(8)


def decode_erspan3(group: Group) -> Iterator[Work]:
    """Pass over the header of ERSPAN's third version, with its subheader where it has one."""
    group = group.narrow().ready(12)
    if not len(group):
        return
    for more, part in group.split(group.read(11, "u1") & 1):
        yield Layer.ETHERNET, part.move(20 if more else 12)


def decode_gtp(group: Group) -> Iterator[Work]:
    """Read a header of GTP-U (3GPP TS 29.281) around a packet; extension headers are passed
    over.
    """
    group = group.narrow().ready(8)
    if not len(group):
        return
    user = (group.read(0, "u1") & 0xF0 == 0x30) & (group.read(1, "u1") == 0xFF)
    group = encapsulate(group.keep(user))
    if not len(group):
        return
    group.put("vni", group.read(4, ">u4"))
    for flags, part in group.split(group.read(0, "u1") & 7):
        if not flags:
            yield Layer.IP, part.move(8)
            continue
        part = part.ready(12)  # noqa: PLW2901 - the same packets, further on
        if len(part):
            yield from _pass_extensions(part, extended=bool(flags & 4))


def _pass_extensions(group: Group, *, extended: bool) -> Iterator[Work]:
    kinds = group.read(11, "u1") * np.uint8(extended)
    waiting = [(kind, part, 0) for kind, part in group.move(12).split(kinds)]
    while waiting:
        kind, part, depth = waiting.pop()
        if not kind:
            yield Layer.IP, part
        elif depth < DEEPEST and len(part):
            whole = part.ready(4)
            sizes = whole.read(0, "u1") if len(whole) else kinds[:0]
            for size, some in whole.split(sizes):
                further = some.ready(4 * size) if size else some
                if size and len(further):
                    following = further.read(4 * size - 1, "u1")
                    behind = further.move(4 * size).split(following)
                    waiting += [(each, one, depth + 1) for each, one in behind]


def decode_ayiya(group: Group) -> Iterator[Work]:
    """Read IPv6 in UDP as AYIYA sends it (draft-massar-v6ops-ayiya), behind an identity and a
    signature.
    """
    group = group.narrow().ready(8)
    if not len(group):
        return
    sizes = (group.read(0, "u1").astype(np.int64) >> 4) << 8 | group.read(1, "u1") >> 4
    for size, part in group.split(sizes):
        behind = part.move(8 + (1 << (size >> 8)) + 4 * (size & 0xFF)).ready(1)
        if len(behind):
            yield from decode_ip6ip(behind.keep(behind.read(0, "u1") >> 4 == 6))


def decode_ipip(group: Group) -> Iterator[Work]:
    """Go on with an IPv4 packet in an IP packet."""
    inner = encapsulate(group)
    if len(inner):
        yield Layer.IPV4, inner


def decode_ip6ip(group: Group) -> Iterator[Work]:
    """Go on with an IPv6 packet in an IP packet."""
    inner = encapsulate(group)
    if len(inner):
        yield Layer.IPV6, inner

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
    """Read a GRE header of version 0 with checksum, key and sequence number (RFC 2784, 2890)."""
    group = group.narrow().ready(4)
    if not len(group):
        return
    group.put("payload", np.maximum(group.left - 4, 0))
    group.put("data_at", group.position(4))
    for bits, part in group.split(group.read(0, ">u2")):
        if bits & 7:
            continue
        summed, keyed = 4 * bool(bits & 0xC000), 4 * bool(bits & 0x2000)
        size = 4 + summed + keyed + 4 * bool(bits & 0x1000)
        whole = part.ready(size)
        if not len(whole):
            continue
        inner = encapsulate(whole.keep(np.isin(whole.read(2, ">u2"), list(LAYERS))))
        if keyed and len(inner):
            inner.put("vni", inner.read(4 + summed, ">u4"))
        for kind, carried in inner.split(inner.read(2, ">u2")):
            yield LAYERS[kind], carried.move(size)


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

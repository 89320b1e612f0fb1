"""Packets as columns: one array per field, one row per packet. Of a packet in a tunnel, the fields
are the inner packet's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

U1: TypeAlias = NDArray[np.uint8]
U2: TypeAlias = NDArray[np.uint16]
U4: TypeAlias = NDArray[np.uint32]
U8: TypeAlias = NDArray[np.uint64]
I8: TypeAlias = NDArray[np.int64]

TYPES: dict[str, Any] = {
    "time": np.int64, "offset": np.int64, "caplen": np.uint32, "wirelen": np.uint32,
    "interface": np.uint16, "version": np.uint8, "protocol": np.uint8, "flags": np.uint8,
    "ttl": np.uint8, "depth": np.uint8, "broken": np.uint8, "direction": np.uint8,
    "icmp_type": np.uint8, "icmp_code": np.uint8, "options": np.uint8, "sport": np.uint16,
    "dport": np.uint16, "fragment": np.uint16, "window": np.uint16, "mss": np.uint16,
    "query": np.uint16, "vlan": np.uint16, "ethertype": np.uint16, "network_at": np.uint16,
    "data_at": np.uint16, "src": np.uint32, "dst": np.uint32, "ident": np.uint32,
    "length": np.uint32,
    "payload": np.uint32, "seq": np.uint32, "ack": np.uint32, "tsval": np.uint32,
    "tsecr": np.uint32, "vni": np.uint32, "ifindex": np.uint32, "outer_src": np.uint32,
    "outer_dst": np.uint32, "outer_version": np.uint8, "outer_protocol": np.uint8,
    "outer_sport": np.uint16, "outer_dport": np.uint16, "outer_smac": np.uint64,
    "outer_dmac": np.uint64, "smac": np.uint64, "dmac": np.uint64,
}  # fmt: skip
"""The type of each column."""

TIMESTAMPS, SACK_OK, SACK, SCALE = 1, 2, 4, 8
"""Bits of the column `options`: TCP options that the packet has."""
CUT, MALFORMED, ELSEWHERE = 1, 2, 3
"""Values of the column `broken`: a header that was not captured whole, or that contradicts
itself; and a packet that is looked at elsewhere.
"""
SENT_HERE, BROADCAST, MULTICAST, OTHER_HOST, OUTGOING = 1, 2, 3, 4, 5
"""Values of the column `direction`: the cooked capture's packet type and one."""
DIRECTIONS = {
    SENT_HERE: "in",
    BROADCAST: "broadcast",
    MULTICAST: "multicast",
    OTHER_HOST: "promisc",
    OUTGOING: "out",
}
"""What they are called; 0 has no name."""
TCPDUMP_DIRECTIONS = {
    "In": SENT_HERE,
    "Out": OUTGOING,
    "B": BROADCAST,
    "M": MULTICAST,
    "P": OTHER_HOST,
}
"""How tcpdump prints them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketColumns:
    """The columns, all of one length."""

    time: I8
    """Nanoseconds since the epoch."""
    offset: I8
    """Byte of the file (of the unpacked file, where it was packed) at which the packet begins."""
    caplen: U4
    wirelen: U4
    interface: U2
    """Which of the file's interfaces it was taken on."""
    version: U1
    """4 or 6; 0 for what is not IP."""
    protocol: U1
    """Of the transport header: behind the extension headers of IPv6."""
    flags: U1
    """Of TCP."""
    ttl: U1
    depth: U1
    """How many tunnels it is in."""
    broken: U1
    """0, `CUT`, `MALFORMED` or `ELSEWHERE`."""
    direction: U1
    """0 where the link type does not say."""
    icmp_type: U1
    icmp_code: U1
    options: U1
    sport: U2
    """Of ICMP echo, the identifier."""
    dport: U2
    fragment: U2
    """Flags and offset as IPv4 has them: 0x4000 don't fragment, 0x2000 more fragments, the rest the
    offset in 8 bytes.
    """
    window: U2
    """As in the header, not scaled."""
    mss: U2
    """0 where the packet has no such option."""
    query: U2
    """The identifier of a DNS message over UDP; 0 of all else, and where it was cut off."""
    vlan: U2
    """The innermost VLAN; 0 where there is none."""
    ethertype: U2
    network_at: U2
    """Bytes from the packet's start to its (inner) IP header."""
    data_at: U2
    """Bytes from the packet's start to what the transport header carries."""
    src: U4
    """The IPv4 address, or the number of an IPv6 one."""
    dst: U4
    ident: U4
    """The IP identification; of IPv6, the fragment header's."""
    length: U4
    """Of the IP packet, header included; a super-packet's too, whose header says 0."""
    payload: U4
    """Bytes that the transport header carries."""
    seq: U4
    """Of TCP; of ICMP echo its sequence number."""
    ack: U4
    tsval: U4
    tsecr: U4
    vni: U4
    """Of VXLAN and Geneve; the key of GRE."""
    ifindex: U4
    """Of SLL2."""
    outer_src: U4
    """Of the tunnel around it, as `src`; 0 outside of tunnels."""
    outer_dst: U4
    outer_version: U1
    outer_protocol: U1
    outer_sport: U2
    outer_dport: U2
    outer_smac: U8
    outer_dmac: U8
    smac: U8
    """The Ethernet source as a number; 0 where there is none."""
    dmac: U8

    def __len__(self) -> int:
        """Count the packets."""
        return len(self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arps:
    """ARP frames of Ethernet and IPv4, a row each."""

    row: I8
    """Of the frame, in `PacketColumns`."""
    operation: U2
    sender: U4
    target: U4
    sender_mac: U8
    target_mac: U8


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotes:
    """The packets inside ICMP errors, a row each."""

    row: I8
    """Of the error, in `PacketColumns`."""
    version: U1
    protocol: U1
    src: U4
    dst: U4
    sport: U2
    """0 where the quote ends before it, or the quoted packet has no ports."""
    dport: U2
    ident: U4
    seq: U4
    length: U4
    mtu: U4
    """Of an error that names one: fragmentation needed, packet too big."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """All that a capture shows of its packets."""

    columns: PacketColumns
    arps: Arps
    quotes: Quotes
    addresses: tuple[int, ...]
    """The IPv6 address of each number."""

    def __len__(self) -> int:
        """Count the packets."""
        return len(self.columns)


def empty_arrays(count: int) -> dict[str, NDArray[Any]]:
    """Make columns of zeros; memory is taken only as they are written.

    They do not lie in one piece: the kernel would look for huge pages for it, which in scattered
    memory takes long.
    """
    return {name: np.zeros(count, kind) for name, kind in TYPES.items()}


SIDE_TYPES: dict[str, Any] = {
    **TYPES, "row": np.int64, "operation": np.uint16, "sender": np.uint32, "target": np.uint32,
    "sender_mac": np.uint64, "target_mac": np.uint64, "mtu": np.uint32,
}  # fmt: skip
"""The type of each column of the side tables."""


def join_rows(
    table: type[Arps | Quotes], parts: list[dict[str, NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """Put parts of a side table together, in the order of the packets."""
    names = [field.name for field in fields(table)]
    joined: dict[str, NDArray[Any]] = {}
    for name in names:
        joined[name] = _concatenate([part[name] for part in parts], SIDE_TYPES[name])
    order = np.argsort(joined["row"], kind="stable")
    return {name: values[order].astype(SIDE_TYPES[name]) for name, values in joined.items()}


def _concatenate(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:  # noqa: ANN401 - NumPy's
    return np.concatenate([np.zeros(0, kind), *parts])

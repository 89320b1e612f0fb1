"""What the BPF program sends up and counts, as values: keys of flows, and packets with what the
kernel said of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from podpath.drops import headers
from podpath.drops.program import EVENT, KEY
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet, endpoint

UNNAMED = "NOT_SPECIFIED"
_PREFIX = "SKB_DROP_REASON_"
_SUBSYSTEM = 16
"""Bits of a reason below those that say whose it is (SKB_DROP_REASON_SUBSYS_SHIFT)."""
_SUBSYSTEMS = {1: "MAC80211_UNUSABLE", 2: "MAC80211_MONITOR", 3: "OPENVSWITCH"}
_DNAT, _SNAT = 1 << 5, 1 << 4
"""IPS_DST_NAT and IPS_SRC_NAT of a connection's status."""


class DropKey(NamedTuple):
    """What one flow of drops has in common."""

    reason: str
    """The kernel's name without SKB_DROP_REASON_; NOT_SPECIFIED where it has none."""
    location: int
    """The address in the kernel at which it was freed."""
    inode: int
    """That of the network namespace; 0 where the packet had no device, socket or route."""
    ifindex: int
    """Of the device that it was on; 0 where it was on none."""
    input: int
    """Of the device that it came in on; 0 for what the host itself sends."""
    ethertype: int
    protocol: int
    flags: int
    """Of TCP's FIN, SYN, RST and ACK."""
    sport: int
    """For ICMP the type and code."""
    dport: int
    src: Address | None
    """None where it is neither IP nor ARP."""
    dst: Address | None

    def __str__(self) -> str:
        """Spell the packet: `tcp 10.0.0.1:1234 > 10.0.0.2:80 [SYN]`, `arp 10.0.0.1 > 10.0.0.2`."""
        if self.src is None or self.dst is None:
            return f"frame of type {self.ethertype:#06x}" if self.ethertype else "no packet"
        if self.ethertype == headers.ARP:
            return f"arp {self.src} > {self.dst}"
        name = protocols.protocol_name(self.protocol)
        if self.protocol in (protocols.TCP, protocols.UDP, protocols.SCTP):
            if self.protocol == protocols.TCP:
                flags = f" [{protocols.flag_names(self.flags)}]"
            else:
                flags = ""
            ends = f"{endpoint(self.src, self.sport)} > {endpoint(self.dst, self.dport)}"
            return f"{name} {ends}{flags}"
        kind = self.protocol in (protocols.ICMP, protocols.ICMPV6)
        told = f" type {self.sport >> 8} code {self.sport & 255}" if kind else ""
        return f"{name} {self.src} > {self.dst}{told}"


class DropNames(NamedTuple):
    """What the node calls a drop's namespace and its ends; empty where it knows no name."""

    netns: str = ""
    """The namespace that it was dropped in, as a bundle calls it."""
    pod: str = ""
    """The pod that the namespace is of, as `NAMESPACE/NAME`."""
    source: str = ""
    """The pod that has the packet's source for its own: as `NAMESPACE/NAME`, or where no runtime
    says so, its namespace's name.
    """
    target: str = ""
    """The same of its destination."""


class DropNotes(NamedTuple):
    """What is told beside a drop."""

    names: DropNames = DropNames()
    time: float = 0.0
    """The clock's at the drop."""
    seconds: float = 0.0
    """Those between the drop and the answer."""
    age: float = 0.0
    """Seconds since the node was read that the answer goes by; 0 where that was after the drop."""


class HeardDrop(NamedTuple):
    """One freed packet, as it was sent up."""

    key: DropKey
    time: int
    """Nanoseconds since boot, without the time that it slept (CLOCK_MONOTONIC)."""
    packet: Packet | None
    """None for what is no IP packet."""
    mark: int = 0
    vlan: int | None = None
    original: Packet | None = None
    """How the connection began that conntrack holds it for, where NAT changed the packet."""
    data: bytes = b""
    """Its first bytes, from the network header."""


def name_reasons(values: Mapping[int, str]) -> Mapping[int, str]:
    """Return the names of the kernel's reasons by their numbers, without what all begin with."""
    return {number: name.removeprefix(_PREFIX) for number, name in values.items()}


def decode_key(data: bytes, reasons: Mapping[int, str]) -> DropKey:
    """Decode the key of a flow."""
    found = KEY.unpack(data)
    location, reason, inode, ifindex, came, kind, protocol, flags, sport, dport, src, dst = found
    ethertype = int.from_bytes(kind, "big")
    return DropKey(
        _name_reason(reason, reasons),
        location,
        inode,
        ifindex,
        came,
        ethertype,
        protocol,
        flags,
        _swap(sport),
        _swap(dport),
        _address(ethertype, src),
        _address(ethertype, dst),
    )


def decode_event(event: bytes, reasons: Mapping[int, str]) -> HeardDrop:
    """Decode what the program sent up."""
    found = EVENT.unpack_from(event)
    raw, time, _, mark, status, linear, vlan, _, framed, mac, began, data = found
    key = decode_key(raw, reasons)
    data = data[:linear]
    ethertype, inner = headers.skip_tags(key.ethertype, data)
    packet = headers.parse_packet(ethertype, inner)
    macs = headers.parse_macs(mac) if framed else None
    if packet is not None and macs is not None:
        packet = packet._replace(dmac=macs[0], smac=macs[1])
    original = None
    if packet is not None and status & (_DNAT | _SNAT):
        original = _decode_original(packet, began)
    tag = vlan & 0xFFF
    if key.ethertype != ethertype and len(data) >= 2:
        tag = int.from_bytes(data[:2], "big") & 0xFFF
    return HeardDrop(key, time, packet, mark, tag or None, original, data)


def _decode_original(packet: Packet, began: bytes) -> Packet | None:
    """Return the packet as its connection's first one was (struct nf_conntrack_tuple); None for one
    that goes the other way.
    """
    family = packet.family
    size = 4 if family == 4 else 16
    src = Address(family, int.from_bytes(began[:size], "big"))
    dst = Address(family, int.from_bytes(began[20 : 20 + size], "big"))
    if src != packet.src and dst != packet.dst:
        return None
    if not packet.has_ports:
        return packet._replace(src=src, dst=dst)
    sport, dport = int.from_bytes(began[16:18], "big"), int.from_bytes(began[36:38], "big")
    return packet._replace(src=src, dst=dst, sport=sport, dport=dport)


def _name_reason(number: int, reasons: Mapping[int, str]) -> str:
    whose = _SUBSYSTEMS.get(number >> _SUBSYSTEM)
    if whose is not None:
        return f"{whose}_{number & 0xFFFF}"
    return reasons.get(number, str(number) if number else UNNAMED)


def _address(ethertype: int, data: bytes) -> Address | None:
    if ethertype in (headers.IPV4, headers.ARP):
        return Address(4, int.from_bytes(data[:4], "big"))
    if ethertype == headers.IPV6:
        return Address(6, int.from_bytes(data, "big"))
    return None


def _swap(port: int) -> int:
    return (port & 255) << 8 | port >> 8

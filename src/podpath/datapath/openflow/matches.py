"""What a flow asks of a packet, compiled from what `ovs-ofctl dump-flows` prints.

A flow asks for bits of slots; a packet of which a slot is not known, and a field that nobody here
knows, leave it open whether the flow takes the packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.datapath.openflow.fields import (
    ARP,
    FIELDS,
    IPV4,
    IPV6,
    PORTS,
    WIDTHS,
    State,
    parse_number,
    parse_value,
)
from podpath.net import protocols

PortNumber = Callable[[str], int | None]
"""Gives the number of a port that is printed by name or number; None where it is not known."""

_WORDS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "ip": (("eth_type", IPV4),), "ipv6": (("eth_type", IPV6),), "arp": (("eth_type", ARP),),
    "rarp": (("eth_type", 0x8035),), "mpls": (("eth_type", 0x8847),), "eth": (),
    "mplsm": (("eth_type", 0x8848),),
    **{
        name + suffix: (("eth_type", kind), ("ip_proto", number))
        for suffix, kind in (("", IPV4), ("6", IPV6))
        for name, number in (
            ("tcp", protocols.TCP), ("udp", protocols.UDP), ("sctp", protocols.SCTP),
            ("icmp", protocols.ICMPV6 if suffix else protocols.ICMP),
        )
    },
    "igmp": (("eth_type", IPV4), ("ip_proto", 2)),
}  # fmt: skip
_OF_ARP = {"ip_src": "arp_spa", "ip_dst": "arp_tpa", "ip_proto": "arp_op"}
"""What `nw_src` and the like mean in a flow for ARP."""
CFI = 0x1000
NO_VLAN = 0xFFFF


class FlowMatch(NamedTuple):
    """What one flow asks for."""

    bits: tuple[tuple[str, int, int], ...]
    """Slot, value and mask of each."""
    unknown: tuple[str, ...] = ()
    """Fields that nobody here knows, or whose value could not be read."""

    def takes(self, state: State) -> bool | None:
        """Tell whether the flow takes a packet; None where that is open."""
        open_bits = bool(self.unknown)
        for slot, value, mask in self.bits:
            held = state.get(slot)
            if held is None:
                open_bits = True
            elif held & mask != value:
                return False
        return None if open_bits else True

    def asked(self, state: State) -> tuple[str, ...]:
        """Return the slots that leave it open."""
        return (*self.unknown, *(slot for slot, _, _ in self.bits if slot not in state))


def compile_match(pairs: tuple[tuple[str, str], ...], port_number: PortNumber) -> FlowMatch:
    """Compile what a flow's line asks for: names, each with its value, empty for `tcp` and the
    like.
    """
    bits: dict[str, tuple[int, int]] = {}
    unknown = []
    arp = any(pair in {("arp", ""), ("dl_type", "0x0806"), ("eth_type", "0x806")} for pair in pairs)
    for name, text in pairs:
        found = _compile_one(name, text, port_number, arp=arp)
        if found is None:
            unknown.append(f"{name}={text}" if text else name)
        for slot, value, mask in found or ():
            before, covered = bits.get(slot, (0, 0))
            bits[slot] = (before | value & mask, covered | mask)
    asked = tuple((slot, value, mask) for slot, (value, mask) in bits.items() if mask)
    return FlowMatch(asked, tuple(unknown))


def _compile_one(
    name: str, text: str, port_number: PortNumber, *, arp: bool
) -> tuple[tuple[str, int, int], ...] | None:
    if not text and name in _WORDS:
        return tuple((slot, value, (1 << 16) - 1) for slot, value in _WORDS[name])
    field = FIELDS.get(name)
    if field is None:
        return None
    if field.slot == "in_port":
        number = port_number(text)
        if number is None:
            return None
        return (("in_port", number, field.mask),)
    if name in {"dl_vlan", "vlan_vid"}:
        return _compile_vlan(name, text)
    slot = _OF_ARP.get(field.slot, field.slot) if arp else field.slot
    if name == "nw_tos":
        number = parse_number(text)
        if number is None:
            return None
        return (("tos", number & 0xFC, 0xFC),)
    if field.shift or field.width != WIDTHS[slot]:
        value, _, masked = text.partition("/")
        number, mask = parse_number(value), parse_number(masked) if masked else None
        if number is None or (masked and mask is None):
            return None
        whole = field.mask >> field.shift if mask is None else mask
        return ((slot, (number & whole) << field.shift, whole << field.shift),)
    found = parse_value(slot, text)
    return None if found is None else ((slot, *found),)


def _compile_vlan(name: str, text: str) -> tuple[tuple[str, int, int], ...] | None:
    value, _, masked = text.partition("/")
    number, mask = parse_number(value), parse_number(masked) if masked else None
    if number is None:
        return None
    if name == "vlan_vid":
        mask = 0x1FFF if mask is None else mask
        return (("vlan_tci", number & mask, mask),)
    if number == NO_VLAN:
        return (("vlan_tci", 0, 0xFFFF),)
    return (("vlan_tci", number | CFI, CFI | 0xFFF),)


def reserved(text: str) -> int | None:
    """Return the number of a port that is printed as a number, or by a reserved name."""
    number = PORTS.get(text.upper())
    return parse_number(text) if number is None else number

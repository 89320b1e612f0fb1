"""The fields of OpenFlow by all their names, and where in a packet's state each is
(lib/meta-flow.h, Open vSwitch 3.1).

A state holds integers by slot. Fields overlap as they do in Open vSwitch: `xreg0` is `reg0` and
`reg1`, `dl_vlan` is a part of `vlan_tci`, `icmp_type` stands where `tp_src` does.
"""

from __future__ import annotations

import ipaddress
import re
from typing import NamedTuple

State = dict[str, int]
"""Values by slot; one that is missing is not known."""


class Bits(NamedTuple):
    """A part of a slot."""

    slot: str
    shift: int
    width: int

    @property
    def mask(self) -> int:
        """All its bits, where they stand in the slot."""
        return ((1 << self.width) - 1) << self.shift

    def read(self, state: State) -> int | None:
        """Return its value; None where the slot is not known."""
        value = state.get(self.slot)
        if value is None:
            return None
        return value >> self.shift & (1 << self.width) - 1

    def write(self, state: State, value: int) -> None:
        """Put a value there; in a slot that is not known only one that fills it tells anything."""
        held = state.get(self.slot, 0 if self.width == WIDTHS.get(self.slot) else None)
        if held is not None:
            placed = (value << self.shift) & self.mask
            state[self.slot] = held & ~self.mask | placed


WIDTHS: dict[str, int] = {
    "in_port": 32, "eth_src": 48, "eth_dst": 48, "eth_type": 16, "vlan_tci": 16, "ip_proto": 8,
    "ip_src": 32, "ip_dst": 32, "ipv6_src": 128, "ipv6_dst": 128, "ipv6_label": 20, "tos": 8,
    "ttl": 8, "ip_frag": 2, "tp_src": 16, "tp_dst": 16, "tcp_flags": 12, "arp_op": 16,
    "arp_spa": 32, "arp_tpa": 32, "arp_sha": 48, "arp_tha": 48, "nd_target": 128, "nd_sll": 48,
    "nd_tll": 48, "ct_state": 32, "ct_zone": 16, "ct_mark": 32, "ct_label": 128, "ct_nw_src": 32,
    "ct_nw_dst": 32, "ct_ipv6_src": 128, "ct_ipv6_dst": 128, "ct_nw_proto": 8, "ct_tp_src": 16,
    "ct_tp_dst": 16, "regs": 512, "metadata": 64, "tun_id": 64, "tun_src": 32, "tun_dst": 32,
    "tun_ipv6_src": 128, "tun_ipv6_dst": 128, "tun_flags": 16, "tun_tos": 8, "tun_ttl": 8,
    "pkt_mark": 32, "skb_priority": 32, "conj_id": 32, "actset_output": 32, "dp_hash": 32,
    "recirc_id": 32, "packet_type": 32,
    **{f"tun_metadata{number}": 992 for number in range(64)},
}  # fmt: skip
"""Bits of every slot."""

TRACKED = tuple(slot for slot in WIDTHS if slot.startswith("ct_"))
"""What connection tracking says of a packet."""

_ALIASES = {
    "dl_src": "eth_src", "dl_dst": "eth_dst", "dl_type": "eth_type", "nw_src": "ip_src",
    "nw_dst": "ip_dst", "nw_proto": "ip_proto", "nw_ttl": "ttl", "nw_frag": "ip_frag",
    "tcp_src": "tp_src", "udp_src": "tp_src", "sctp_src": "tp_src", "icmp_type": "tp_src",
    "icmpv6_type": "tp_src", "tcp_dst": "tp_dst", "udp_dst": "tp_dst", "sctp_dst": "tp_dst",
    "icmp_code": "tp_dst", "icmpv6_code": "tp_dst", "tunnel_id": "tun_id", "arp_op": "arp_op",
    "in_port_oxm": "in_port", "ipv4_src": "ip_src", "ipv4_dst": "ip_dst", "ip_ttl": "ttl",
    "tun_ipv4_src": "tun_src", "tun_ipv4_dst": "tun_dst",
}  # fmt: skip
_PARTS = {
    "dl_vlan": Bits("vlan_tci", 0, 12), "vlan_vid": Bits("vlan_tci", 0, 13),
    "dl_vlan_pcp": Bits("vlan_tci", 13, 3), "vlan_pcp": Bits("vlan_tci", 13, 3),
    "nw_tos": Bits("tos", 0, 8), "ip_dscp": Bits("tos", 2, 6), "nw_ecn": Bits("tos", 0, 2),
    "ip_ecn": Bits("tos", 0, 2),
    **{f"reg{n}": Bits("regs", 480 - 32 * n, 32) for n in range(16)},
    **{f"xreg{n}": Bits("regs", 448 - 64 * n, 64) for n in range(8)},
    **{f"xxreg{n}": Bits("regs", 384 - 128 * n, 128) for n in range(4)},
}  # fmt: skip
FIELDS: dict[str, Bits] = {
    **{slot: Bits(slot, 0, width) for slot, width in WIDTHS.items()},
    **{name: Bits(slot, 0, WIDTHS[slot]) for name, slot in _ALIASES.items()},
    **_PARTS,
}
"""Fields by each of their names."""

_NXM = {
    "OF_IN_PORT": "in_port", "OF_ETH_DST": "eth_dst", "OF_ETH_SRC": "eth_src",
    "OF_ETH_TYPE": "eth_type", "OF_VLAN_TCI": "vlan_tci", "OF_IP_TOS": "nw_tos",
    "OF_IP_PROTO": "ip_proto", "OF_IP_SRC": "ip_src", "OF_IP_DST": "ip_dst",
    "OF_TCP_SRC": "tp_src", "OF_TCP_DST": "tp_dst", "OF_UDP_SRC": "tp_src",
    "OF_UDP_DST": "tp_dst", "OF_ICMP_TYPE": "tp_src", "OF_ICMP_CODE": "tp_dst",
    "OF_ARP_OP": "arp_op", "OF_ARP_SPA": "arp_spa", "OF_ARP_TPA": "arp_tpa",
    "NX_TUN_IPV4_SRC": "tun_src", "NX_TUN_IPV4_DST": "tun_dst", "NX_IP_TTL": "ttl",
    "NX_IP_FRAG": "ip_frag", "NX_IP_ECN": "nw_ecn", "NX_ICMPV6_TYPE": "tp_src",
    "NX_ICMPV6_CODE": "tp_dst", "NX_TUN_GBP_ID": "", "NX_TUN_GBP_FLAGS": "",
}  # fmt: skip
"""Names of the older kind (`NXM_OF_ETH_DST`) that are no field's name in capitals."""
_SUBFIELD = re.compile(r"(?P<name>[A-Za-z][\w.]*?)(?:\[(?:(?P<low>\d+)(?:\.\.(?P<high>\d+))?)?\])?")

CT_STATES = {
    "new": 1, "est": 2, "rel": 4, "rpl": 8, "inv": 16, "trk": 32, "snat": 64, "dnat": 128,
}  # fmt: skip
TCP_FLAGS = {
    "fin": 1, "syn": 2, "rst": 4, "psh": 8, "ack": 16, "urg": 32, "ece": 64, "cwr": 128, "ns": 256,
}  # fmt: skip
_FLAGS = {"ct_state": CT_STATES, "tcp_flags": TCP_FLAGS, "tun_flags": {"oam": 1}}
FRAGMENTS = {"no": (0, 3), "yes": (1, 1), "first": (1, 3), "later": (3, 3), "not_later": (0, 2)}
_MACS = frozenset({"eth_src", "eth_dst", "arp_sha", "arp_tha", "nd_sll", "nd_tll"})
PORTS = {
    "IN_PORT": 0xFFF8, "TABLE": 0xFFF9, "NORMAL": 0xFFFA, "FLOOD": 0xFFFB, "ALL": 0xFFFC,
    "CONTROLLER": 0xFFFD, "LOCAL": 0xFFFE, "NONE": 0xFFFF, "ANY": 0xFFFF,
}  # fmt: skip
"""Reserved ports by name."""

IPV4, IPV6, ARP = 0x0800, 0x86DD, 0x0806


def find_subfield(text: str) -> Bits | None:
    """Return what `NXM_NX_REG0[0..15]`, `reg0[3]` or `eth_dst` means; None where it is unknown."""
    found = _SUBFIELD.fullmatch(text.strip())
    if found is None:
        return None
    name = found["name"]
    plain = re.sub(r"^(?:NXM|OXM)_", "", name)
    field = FIELDS.get(_NXM.get(plain, re.sub(r"^(?:NX|OF|BASIC)_", "", plain).lower()))
    if field is None or found["low"] is None:
        return field
    low = int(found["low"])
    high = int(found["high"] or low)
    if not low <= high < field.width:
        return None
    return Bits(field.slot, field.shift + low, high - low + 1)


def parse_number(text: str) -> int | None:
    """Read a number as `ovs-ofctl` prints one: decimal, hexadecimal; None where it is none."""
    try:
        return int(text, 0)
    except ValueError:
        return int(text) if text.isascii() and text.isdigit() else None


def parse_value(slot: str, text: str) -> tuple[int, int] | None:
    """Read a value with its mask, in the spelling of its slot; None where it has another."""
    if slot in _FLAGS:
        flags = _parse_flags(_FLAGS[slot], text)
        if flags is not None:
            return flags
    if slot == "ip_frag" and text in FRAGMENTS:
        return FRAGMENTS[text]
    value, slash, mask = text.partition("/")
    whole = (1 << WIDTHS[slot]) - 1
    number = _parse_one(slot, value)
    if not slash or number is None:
        return None if number is None else (number, whole)
    if mask.isdigit() and ("." in value or slot.endswith(("ipv6_src", "ipv6_dst", "nd_target"))):
        width = WIDTHS[slot]
        masked: int | None = whole >> (width - int(mask)) << (width - int(mask))
    else:
        masked = _parse_one(slot, mask)
    if masked is None:
        return None
    return (number & masked, masked)


def _parse_one(slot: str, text: str) -> int | None:
    if slot in _MACS and ":" in text:
        return parse_number("0x" + "".join(part.zfill(2) for part in text.split(":")))
    if "." in text or ":" in text:
        try:
            return int(ipaddress.ip_address(text))
        except ValueError:
            return None
    return parse_number(text)


def _parse_flags(names: dict[str, int], text: str) -> tuple[int, int] | None:
    signed = re.findall(r"([+-])(\w+)", text)
    if signed and "".join(sign + name for sign, name in signed) == text:
        if any(name not in names for _, name in signed):
            return None
        mask = sum(names[name] for _, name in signed)
        return sum(names[name] for sign, name in signed if sign == "+"), mask
    words = text.split("|")
    if all(word in names for word in words):
        value = sum(names[word] for word in words)
        return value, (1 << 32) - 1
    return None

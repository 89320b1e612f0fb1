"""Constants of nftables by their datatype: text to a range of numbers, or to a device name (nft(8),
data types).

Every value that rules compare is a number here, and only device names are text. A constant that
cannot be read raises `ValueError`, and the condition it stands in becomes a doubt.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.net import nft, protocols
from podpath.net.addresses import WIDTH, Family

FULL = 0xFFFFFFFF


class Range(NamedTuple):
    """Numbers from `low` to `high`, both included."""

    low: int
    high: int


class Name(NamedTuple):
    """A device name, or the beginning of names where it ended in `*`."""

    text: str
    wildcard: bool = False


class Device(NamedTuple):
    """A device of a packet, where a rule looks at its index."""

    name: str
    number: int
    """The index; 0: no device; all ones where the evidence does not show it."""


Pattern = Range | Name
Part = int | str | Device
"""One value of a packet."""


def fits(part: Part, pattern: Pattern) -> bool:
    """Tell whether a value is what a constant stands for."""
    if isinstance(pattern, Range):
        number = part.number if isinstance(part, Device) else part
        return isinstance(number, int) and pattern.low <= number <= pattern.high
    name = part.name if isinstance(part, Device) else part
    return isinstance(name, str) and (
        name.startswith(pattern.text) if pattern.wildcard else name == pattern.text
    )


CT_STATES = {"invalid": 1, "established": 2, "related": 4, "new": 8, "untracked": 64}
"""NF_CT_STATE_BIT (include/uapi/linux/netfilter/nf_conntrack_common.h v6.12)."""
CT_STATUSES = {
    "expected": 1,
    "seen-reply": 2,
    "assured": 4,
    "confirmed": 8,
    "snat": 16,
    "dnat": 32,
    "dying": 512,
}
DIRECTIONS = {"original": 0, "reply": 1}
ADDRESS_TYPES = {
    "unspec": 0, "unicast": 1, "local": 2, "broadcast": 3, "anycast": 4, "multicast": 5,
    "blackhole": 6, "unreachable": 7, "prohibit": 8,
}  # fmt: skip
PACKET_TYPES = {"host": 0, "unicast": 0, "broadcast": 1, "multicast": 2, "other": 3, "otherhost": 3}
TCP_FLAGS = {"fin": 1, "syn": 2, "rst": 4, "psh": 8, "ack": 16, "urg": 32, "ecn": 64, "cwr": 128}
ICMP_TYPES = {
    "echo-reply": 0, "destination-unreachable": 3, "source-quench": 4, "redirect": 5,
    "echo-request": 8, "router-advertisement": 9, "router-solicitation": 10, "time-exceeded": 11,
    "parameter-problem": 12, "timestamp-request": 13, "timestamp-reply": 14, "info-request": 15,
    "info-reply": 16, "address-mask-request": 17, "address-mask-reply": 18,
}  # fmt: skip
ICMP_CODES = {
    "net-unreachable": 0, "host-unreachable": 1, "prot-unreachable": 2, "port-unreachable": 3,
    "frag-needed": 4, "net-prohibited": 9, "host-prohibited": 10, "admin-prohibited": 13,
}  # fmt: skip
ICMPV6_TYPES = {
    "destination-unreachable": 1, "packet-too-big": 2, "time-exceeded": 3, "parameter-problem": 4,
    "echo-request": 128, "echo-reply": 129, "mld-listener-query": 130, "mld-listener-report": 131,
    "mld-listener-done": 132, "mld-listener-reduction": 132, "nd-router-solicit": 133,
    "nd-router-advert": 134, "nd-neighbor-solicit": 135, "nd-neighbor-advert": 136,
    "nd-redirect": 137, "router-renumbering": 138, "ind-neighbor-solicit": 141,
    "ind-neighbor-advert": 142, "mld2-listener-report": 143,
}  # fmt: skip
ICMPV6_CODES = {
    "no-route": 0,
    "admin-prohibited": 1,
    "addr-unreachable": 3,
    "port-unreachable": 4,
    "policy-fail": 5,
    "reject-route": 6,
}
DSCP = {
    "be": 0, "lephb": 1, "ef": 46, **{f"cs{number}": number * 8 for number in range(8)},
    **{f"af{major}{drop}": major * 8 + drop * 2 for major in range(1, 5) for drop in range(1, 4)},
}  # fmt: skip
ETHER_TYPES = {"ip": 0x0800, "arp": 0x0806, "ip6": 0x86DD, "vlan": 0x8100, "8021q": 0x8100}
SERVICES = {
    "ftp": 21, "ssh": 22, "telnet": 23, "smtp": 25, "domain": 53, "bootps": 67, "bootpc": 68,
    "http": 80, "ntp": 123, "snmp": 161, "https": 443, "imaps": 993, "pop3s": 995,
}  # fmt: skip
"""What `nft -S` or a hand may have written; nft itself prints numbers."""
SYMBOLS: Mapping[str, Mapping[str, int]] = {
    "ct_state": CT_STATES, "ct_status": CT_STATUSES, "ct_dir": DIRECTIONS,
    "fib_addrtype": ADDRESS_TYPES, "pkt_type": PACKET_TYPES, "tcp_flag": TCP_FLAGS,
    "icmp_type": ICMP_TYPES, "icmp_code": ICMP_CODES, "icmpv6_type": ICMPV6_TYPES,
    "icmpv6_code": ICMPV6_CODES, "dscp": DSCP, "ether_type": ETHER_TYPES, "inet_service": SERVICES,
    "nf_proto": {"ipv4": 2, "ipv6": 10},
    "boolean": {"exists": 1, "missing": 0, "true": 1, "false": 0}, "uid": {"root": 0},
    "gid": {"root": 0},
}  # fmt: skip
EXISTENCE = {
    "missing": Range(0, 0),
    "false": Range(0, 0),
    "exists": Range(1, FULL),
    "true": Range(1, FULL),
}
"""`fib ... oif missing`: whether there is a device at all."""
BIT_FIELDS = frozenset({"ct_state", "ct_status", "tcp_flag"})
"""Types where one common bit is enough for `in`."""


def parse_pattern(expression: nft.Expression, datatype: str) -> Pattern:
    """Read a constant of a datatype; `ValueError` where it is none."""
    match expression:
        case nft.Literal(text):
            return _parse_text(text, datatype)
        case nft.PrefixLiteral(address, length):
            return _parse_network(address, length, datatype)
        case nft.Interval(first, last):
            low, high = _parse_text(first.text, datatype), _parse_text(last.text, datatype)
            if isinstance(low, Range) and isinstance(high, Range):
                return Range(low.low, high.high)
            raise ValueError("expected a range of numbers")
        case nft.Flags(items):
            bits = parse_bits(items, datatype)
            return Range(bits, bits)
        case nft.Binary("|", left, right):
            bits = parse_number(left, datatype) | parse_number(right, datatype)
            return Range(bits, bits)
        case _:
            raise ValueError(f"expected a constant of type {datatype}")


def parse_number(expression: nft.Expression, datatype: str) -> int:
    """Read a constant that is one number."""
    found = parse_pattern(expression, datatype)
    if isinstance(found, Range) and found.low == found.high:
        return found.low
    raise ValueError(f"expected one value of type {datatype}")


def parse_bits(items: tuple[nft.Literal, ...], datatype: str) -> int:
    """Read several values of a bit field as one number."""
    bits = 0
    for item in items:
        bits |= parse_number(item, datatype)
    return bits


def _parse_text(text: str, datatype: str) -> Pattern:
    if datatype == "ifname":
        if text.endswith("*") and not text.endswith("\\*"):
            return Name(text[:-1], wildcard=True)
        return Name(text)
    if datatype == "iface_index":
        # a number is an index that no device had any more when the rules were listed
        if text in EXISTENCE:
            return EXISTENCE[text]
        if text.isdigit():
            return Range(int(text), int(text))
        return Name(text)
    number = _READERS.get(datatype, _read_number)(text, datatype)
    return Range(number, number)


def _read_number(text: str, datatype: str) -> int:
    symbols = SYMBOLS.get(datatype, {})
    if text in symbols:
        return symbols[text]
    try:
        return int(text, 0)
    except ValueError:
        if text.isdigit():
            return int(text)
        raise ValueError(f"expected a value of type {datatype}, saw {text!r}") from None


def _read_address(text: str, datatype: str) -> int:
    parsed = ipaddress.ip_address(text)
    if (parsed.version == 4) is not (datatype == "ipv4_addr"):
        raise ValueError(f"expected an address of type {datatype}, saw {text!r}")
    return int(parsed)


def _read_mac(text: str, datatype: str) -> int:
    digits = text.replace(":", "")
    if len(digits) != 12:
        raise ValueError(f"expected a value of type {datatype}, saw {text!r}")
    return int(digits, 16)


def _read_protocol(text: str, datatype: str) -> int:
    del datatype
    return {"comp": 108}.get(text) or protocols.protocol_number(text)


_READERS: Mapping[str, Callable[[str, str], int]] = {
    "ipv4_addr": _read_address, "ipv6_addr": _read_address, "ether_addr": _read_mac,
    "inet_proto": _read_protocol,
}  # fmt: skip


def _parse_network(address: str, length: int, datatype: str) -> Range:
    family: Family = 6 if datatype == "ipv6_addr" else 4
    if datatype not in {"ipv4_addr", "ipv6_addr"} or not 0 <= length <= WIDTH[family]:
        raise ValueError(f"expected a constant of type {datatype}, saw {address}/{length}")
    host = (1 << (WIDTH[family] - length)) - 1
    low = _read_address(address, datatype) & ~host
    return Range(low, low | host)

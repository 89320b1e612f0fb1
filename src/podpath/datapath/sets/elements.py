"""Elements of an ipset: from the words that `ipset save` prints to keys that a packet can be
compared with.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

from podpath.net import protocols
from podpath.net.addresses import WIDTH, Family
from podpath.node.netfilter import SetMember

NO_LENGTH = -1
"""In the place of a prefix length, for a dimension that is no address."""
WIDEST_RANGE = 1 << 16
"""A range of addresses or ports that is written out has at most this many elements (as a bitmap set
has).
"""

ICMP_PORTS: Mapping[str, int] = {"echo-reply": 0, "pong": 0, "echo-request": 8 << 8, "ping": 8 << 8}
ICMPV6_PORTS: Mapping[str, int] = {
    "echo-request": 128 << 8,
    "ping": 128 << 8,
    "echo-reply": 129 << 8,
    "pong": 129 << 8,
}

TYPES: Mapping[str, tuple[str, ...]] = {
    "bitmap:ip": ("ip",), "bitmap:ip,mac": ("ip", "mac"), "bitmap:port": ("bare port",),
    "hash:ip": ("ip",), "hash:mac": ("mac",), "hash:ip,mac": ("ip", "mac"),
    "hash:ip,mark": ("ip", "mark"), "hash:ip,port": ("ip", "port"),
    "hash:ip,port,ip": ("ip", "port", "ip"), "hash:ip,port,net": ("ip", "port", "net"),
    "hash:net": ("net",), "hash:net,net": ("net", "net"), "hash:net,port": ("net", "port"),
    "hash:net,port,net": ("net", "port", "net"), "hash:net,iface": ("net", "iface"),
}  # fmt: skip
"""The dimensions of each set type but `list:set`."""


class ElementReading(NamedTuple):
    """How the elements of one set are read."""

    type: str
    dimensions: tuple[str, ...]
    family: Family
    options: Mapping[str, str]


class ElementInterface(NamedTuple):
    """The interface of an element or a packet: a device, or a bridge port; the other is empty."""

    name: str
    port: str = ""


class ElementKey(NamedTuple):
    """One element: a key for each dimension, and the prefix lengths that addresses are cut to."""

    lengths: tuple[int, ...]
    key: tuple[object, ...]
    nomatch: bool
    wildcard: bool = False
    """The interface name is a prefix of names."""

    def holds(self, values: list[object], width: int) -> bool:
        """Tell whether a packet's values are in this element; for wildcards only."""
        return all(
            _fits(value, length, wanted, width)
            for value, length, wanted in zip(values, self.lengths, self.key, strict=True)
        )


def _fits(value: object, length: int, wanted: object, width: int) -> bool:
    if isinstance(value, int):
        return value >> (width - length) == wanted
    if (
        not isinstance(value, ElementInterface)
        or not isinstance(wanted, ElementInterface)
        or bool(value.port) != bool(wanted.port)
    ):
        return False
    return (value.name + value.port).startswith(wanted.name + wanted.port)


def type_dimensions(type_name: str) -> tuple[str, ...]:
    """Return the dimensions of a set type; empty for one that is not known."""
    return TYPES.get(type_name, ())


def parse_element(member: SetMember, reading: ElementReading) -> tuple[ElementKey, ...]:
    """Read one member, which may stand for many elements (a range); empty where it is not
    understood.
    """
    wildcard = any(option.name == "wildcard" for option in member.options)
    try:
        parts = [
            _parse_part(text, kind, reading)
            for text, kind in zip(member.parts, reading.dimensions, strict=True)
        ]
    except ValueError:
        return ()
    keys = []
    for choice in product(*parts):
        lengths, values = zip(*choice, strict=True)
        keys.append(ElementKey(lengths, values, member.nomatch, wildcard))
    return tuple(keys)


def _parse_part(text: str, kind: str, reading: ElementReading) -> Iterable[tuple[int, object]]:
    if kind in {"ip", "net"}:
        return _parse_networks(text, reading, masked=kind == "ip")
    if kind in {"port", "bare port"}:
        return [(NO_LENGTH, port) for port in _parse_ports(text, bare=kind == "bare port")]
    if kind == "iface":
        port, colon, name = text.partition(":")
        return [
            (
                NO_LENGTH,
                ElementInterface("", name)
                if colon and port == "physdev"
                else ElementInterface(text),
            )
        ]
    return [(NO_LENGTH, (int(text, 0),) if kind == "mark" else text.lower())]


def _parse_networks(
    text: str, reading: ElementReading, *, masked: bool
) -> list[tuple[int, object]]:
    width = WIDTH[reading.family]
    first, dash, last = text.partition("-")
    if dash:
        low, high = ipaddress.ip_address(first), ipaddress.ip_address(last)
        if low.version != high.version:
            raise ValueError(f"expected two addresses of one family, saw {text!r}")
        if int(high) - int(low) >= WIDEST_RANGE and masked:
            raise ValueError(f"expected a range of at most {WIDEST_RANGE} addresses, saw {text!r}")
        networks: Iterable[ipaddress.IPv4Network | ipaddress.IPv6Network] = (
            ipaddress.summarize_address_range(low, high)
        )
    else:
        networks = (ipaddress.ip_network(text, strict=False),)
    found: list[tuple[int, object]] = []
    for network in networks:
        if network.max_prefixlen != width:
            raise ValueError(f"expected an IPv{reading.family} address, saw {text!r}")
        if masked:
            length = min(network.prefixlen, int(reading.options.get("netmask", width)))
        else:
            length = network.prefixlen
        found.append((length, int(network.network_address) >> (width - length)))
    return found


def _parse_ports(text: str, *, bare: bool) -> list[tuple[int, int]]:
    name, colon, rest = text.partition(":")
    if not colon:
        name, rest = ("0" if bare else "tcp"), text
    number = 0 if bare else protocols.protocol_number(name)
    if number == protocols.ICMP:
        return [(number, _parse_message(rest, ICMP_PORTS))]
    if number == protocols.ICMPV6:
        return [(number, _parse_message(rest, ICMPV6_PORTS))]
    first, dash, last = rest.partition("-")
    low, high = int(first), int(last) if dash else int(first)
    if not 0 <= low <= high < WIDEST_RANGE:
        raise ValueError(f"expected ports, saw {text!r}")
    return [(number, port) for port in range(low, high + 1)]


def _parse_message(text: str, names: Mapping[str, int]) -> int:
    """Parse a kind of ICMP message, with or without its code, to the number that stands for a
    port.
    """
    kind, slash, code = text.partition("/")
    if slash:
        return int(kind) << 8 | int(code)
    return names[text] if text in names else int(text) << 8

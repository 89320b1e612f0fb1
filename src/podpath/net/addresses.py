"""Addresses, prefixes, port ranges and masked marks as immutable values.

They are named tuples and not dataclasses because a walk makes and compares thousands of them: a
tuple is built, hashed and compared in C. Text is parsed once, by the readers; past them an address
is never a string.
"""

from __future__ import annotations

import ipaddress
from typing import Literal, NamedTuple, NewType

Family = Literal[4, 6]
"""The IP version, as a number."""

IfName = NewType("IfName", str)
"""The name of a network device, unique within its network namespace."""

Mac = NewType("Mac", str)
"""A link-layer address in lower case with colons, e.g. `0a:58:0a:f4:01:0a`; an `UnseenMac` where
the evidence does not show it.
"""


class UnseenMac(str):
    """Words that stand for a MAC which the evidence does not show: `(MAC of eth0 in pod)`."""

    __slots__ = ()


def unseen_mac(owner: str) -> Mac:
    """Return what stands for the MAC of somebody."""
    return Mac(UnseenMac(f"(MAC of {owner})"))


WIDTH: dict[Family, int] = {4: 32, 6: 128}
"""Bits in an address of each family."""


_OCTETS = {str(value): value for value in range(256)}
"""Each octet by how it is spelled; one with a leading zero is none."""


class Address(NamedTuple):
    """An IPv4 or IPv6 address."""

    family: Family
    value: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address; `ValueError` where the text is none (a prefix length is not
        accepted).
        """
        # Rulesets and tables of connections hold these by the hundred thousand; what is not plain
        # IPv4 takes the long way, which says what is wrong.
        parts = text.split(".")
        if len(parts) == 4:
            try:
                first, second, third, fourth = map(_OCTETS.__getitem__, parts)
            except KeyError:
                pass
            else:
                return cls(4, first << 24 | second << 16 | third << 8 | fourth)
        parsed = ipaddress.ip_address(text)
        return cls(4 if parsed.version == 4 else 6, int(parsed))

    def __str__(self) -> str:
        """Spell the address as iproute2 does."""
        if self.family == 4:
            value = self.value
            return f"{value >> 24}.{value >> 16 & 255}.{value >> 8 & 255}.{value & 255}"
        return str(ipaddress.IPv6Address(self.value))

    @property
    def is_loopback(self) -> bool:
        """Tell whether this is 127.0.0.0/8 or ::1."""
        if self.family == 4:
            return self.value >> 24 == 127
        return self.value == 1

    @property
    def is_multicast(self) -> bool:
        """Tell whether this is 224.0.0.0/4 or ff00::/8."""
        if self.family == 4:
            return self.value >> 28 == 14
        return self.value >> 120 == 0xFF

    @property
    def is_link_local(self) -> bool:
        """Tell whether this is 169.254.0.0/16 or fe80::/10."""
        if self.family == 4:
            return self.value >> 16 == 0xA9FE
        return self.value >> 118 == 0x3FA

    @property
    def is_unspecified(self) -> bool:
        """Tell whether every bit is zero."""
        return self.value == 0


class Prefix(NamedTuple):
    """A network: the address bits (host bits zero) and how many of them count."""

    family: Family
    network: int
    length: int

    @classmethod
    def parse(cls, text: str, family: Family | None = None) -> Prefix:
        """Read `10.0.0.0/8`, `10.0.0.1`, `10.0.0.0/255.0.0.0` or `default`; host bits are cleared.

        `family` is needed for `default` (or `any`, `all`) only. `ValueError` where the text is no
        prefix or of another family.
        """
        if text in ("default", "any", "all"):
            if family is None:
                raise ValueError(f"{text!r} names no family")
            return cls(family, 0, 0)
        parsed = ipaddress.ip_network(text, strict=False)
        version: Family = 4 if parsed.version == 4 else 6
        if family is not None and version != family:
            raise ValueError(f"expected an IPv{family} prefix, saw {text!r}")
        return cls(version, int(parsed.network_address), parsed.prefixlen)

    @classmethod
    def of(cls, address: Address, length: int | None = None) -> Prefix:
        """Make the prefix of that length (a host prefix by default) that holds the address."""
        width = WIDTH[address.family]
        bits = width if length is None else length
        shift = width - bits
        return cls(address.family, address.value >> shift << shift, bits)

    def __contains__(self, item: object) -> bool:
        """Tell whether an `Address` lies in this prefix, or a `Prefix` wholly within it."""
        if isinstance(item, Address):
            shift = WIDTH[self.family] - self.length
            return item.family == self.family and item.value >> shift == self.network >> shift
        if isinstance(item, Prefix):
            shift = WIDTH[self.family] - self.length
            return (
                item.family == self.family
                and item.length >= self.length
                and item.network >> shift == self.network >> shift
            )
        return False

    def covers(self, item: Address | Prefix) -> bool:
        """Tell what `in` tells; type checkers take the operator on a tuple to ask for one of its
        fields.
        """
        return self.__contains__(item)

    def overlaps(self, other: Prefix) -> bool:
        """Tell whether two prefixes have addresses in common: one lies within the other."""
        return self.covers(other) or other.covers(self)

    def __str__(self) -> str:
        """Spell the prefix as iproute2 does, with `default` for the whole space."""
        if self.length == 0:
            return "default"
        text = str(self.address)
        if self.length == WIDTH[self.family]:
            return text
        return f"{text}/{self.length}"

    @property
    def address(self) -> Address:
        """The network address."""
        return Address(self.family, self.network)

    @property
    def broadcast(self) -> Address:
        """The last address of the prefix."""
        return Address(self.family, self.network | ((1 << (WIDTH[self.family] - self.length)) - 1))


class PortRange(NamedTuple):
    """Ports from `first` to `last`, both included."""

    first: int
    last: int

    def __contains__(self, port: object) -> bool:
        """Tell whether a port number lies in the range."""
        return isinstance(port, int) and self.first <= port <= self.last

    def __str__(self) -> str:
        """Spell it as iptables does: `80` or `80:90`."""
        if self.first == self.last:
            return str(self.first)
        return f"{self.first}:{self.last}"


class MaskedMark(NamedTuple):
    """A firewall mark and the bits of it that count."""

    value: int
    mask: int = 0xFFFFFFFF

    def matches(self, mark: int) -> bool:
        """Tell whether a packet's mark equals the value under the mask."""
        return mark & self.mask == self.value

    def __str__(self) -> str:
        """Spell it as iptables does: `0x4000/0x4000`."""
        return f"{self.value:#x}" if self.mask == 0xFFFFFFFF else f"{self.value:#x}/{self.mask:#x}"


def read_address(text: str) -> Address | None:
    """Read an address; None for what is none."""
    try:
        return Address.parse(text)
    except ValueError:
        return None

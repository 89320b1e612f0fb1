"""Single values of console output, read strictly: addresses, MACs, numbers, protocols. `ValueError`
says what was expected.

Tickets elide digits (`10.244.x.x`, `aa:bb:xx:xx:xx:xx`) and anonymise (`<NODE_IP>`). Such a value
is refused like any other that cannot be read, with the word "elided" in the reason, and the reader
keeps its line as a gap.
"""

from __future__ import annotations

import re

from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address, Family, IfName, Mac, MaskedMark, PortRange, Prefix

_MAC = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}")
_NUMBER = re.compile(r"[0-9]{1,20}")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]{1,16}")
_ELIDED = re.compile(
    r"(?i)(?!0x[0-9a-f]*$)[0-9a-f.:/]*(?:x{1,4}|[*#]+|\.\.\.|…)[0-9a-fx.:/*#…]*|<[^>]*>?|"
    r"[A-Z0-9_]*(?:IP|MAC|ADDR)[A-Z0-9_]*"
)
_IPV4 = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})")
_NAME = re.compile(r"[^\s/]{1,15}")

DSFIELDS: dict[str, int] = {
    "default": 0x00, "lowdelay": 0x10, "throughput": 0x08, "reliability": 0x04, "AF11": 0x28,
    "AF12": 0x30, "AF13": 0x38, "AF21": 0x48, "AF22": 0x50, "AF23": 0x58, "AF31": 0x68,
    "AF32": 0x70, "AF33": 0x78, "AF41": 0x88, "AF42": 0x90, "AF43": 0x98, "CS1": 0x20, "CS2": 0x40,
    "CS3": 0x60, "CS4": 0x80, "CS5": 0xA0, "CS6": 0xC0, "CS7": 0xE0, "EF": 0xB8,
}  # fmt: skip
"""Names of TOS values, as /etc/iproute2/rt_dsfield has them."""


def is_elided(text: str) -> bool:
    """Tell whether a word looks like a value whose digits somebody replaced."""
    return len(text) <= 200 and _ELIDED.fullmatch(text) is not None


def _refuse(expected: str, text: str) -> ValueError:
    seen = text if len(text) <= 60 else text[:57] + "..."
    return ValueError(f"expected {expected}, saw {seen!r}{' (elided)' if is_elided(text) else ''}")


def parse_address(text: str) -> Address:
    """Read an address of either family; a zone (`fe80::1%eth0`) is left out."""
    found = _IPV4.fullmatch(text)
    if found is not None:
        first, second, third, fourth = map(int, found.groups())
        if first < 256 and second < 256 and third < 256 and fourth < 256:
            return Address(4, first << 24 | second << 16 | third << 8 | fourth)
        raise _refuse("an address", text)
    if len(text) > 100 or ":" not in text:
        raise _refuse("an address", text)
    try:
        return Address.parse(text.partition("%")[0])
    except ValueError as error:
        raise _refuse("an address", text) from error


def parse_prefix(text: str, family: Family | None = None) -> Prefix:
    """Read `10.0.0.0/8`, `10.0.0.1` or `default` (or `all`, of the family given: IPv4 by
    default).
    """
    if text in {"default", "any", "all"}:
        return Prefix(family or 4, 0, 0)
    head, slash, tail = text.partition("/")
    if slash and tail.isdigit() and tail.isascii() and len(tail) <= 3:
        address = parse_address(head)
        return prefix_of(address, int(tail))
    if not slash:
        return prefix_of(parse_address(text), None)
    if len(text) > 100:
        raise _refuse("a prefix", text)
    try:
        return Prefix.parse(text)
    except ValueError as error:
        raise _refuse("a prefix", text) from error


def prefix_of(address: Address, length: int | None) -> Prefix:
    """Make the prefix of a length that fits the family; None stands for the whole address."""
    width = WIDTH[address.family]
    if length is not None and not 0 <= length <= width:
        raise ValueError(f"expected a prefix length up to {width}, saw {length}")
    return Prefix.of(address, length)


def parse_interface_address(text: str) -> tuple[Address, int]:
    """Read `10.0.0.1/24` with its host bits; without a length it is the whole address."""
    head, slash, tail = text.partition("/")
    address = parse_address(head)
    length = parse_number(tail) if slash else WIDTH[address.family]
    if length > WIDTH[address.family]:
        raise _refuse("a prefix length", text)
    return address, length


def parse_mac(text: str) -> Mac:
    """Read an Ethernet address; it is kept in lower case."""
    if _MAC.fullmatch(text) is None:
        raise _refuse("a MAC address", text)
    return Mac(text.lower())


def parse_name(text: str) -> IfName:
    """Read a device name as net/core/dev.c:dev_valid_name v6.12 allows it: up to 15 characters, no
    blank, no slash.
    """
    if _NAME.fullmatch(text) is None or text in {".", ".."}:
        raise _refuse("a device name", text)
    return IfName(text)


def parse_number(text: str) -> int:
    """Read a decimal number that is not negative."""
    if _NUMBER.fullmatch(text) is None:
        raise _refuse("a number", text)
    return int(text)


def parse_integer(text: str) -> int:
    """Read a number that is decimal or, with `0x`, hexadecimal."""
    if _HEX.fullmatch(text) is not None:
        return int(text, 16)
    return parse_number(text)


def parse_mark(text: str) -> MaskedMark:
    """Read `0x4000/0xc000`, or a mark without a mask."""
    value, slash, mask = text.partition("/")
    mark = (
        MaskedMark(parse_integer(value), parse_integer(mask))
        if slash
        else MaskedMark(parse_integer(value))
    )
    if mark.value > 0xFFFFFFFF or mark.mask > 0xFFFFFFFF:
        raise _refuse("a mark of 32 bits", text)
    return mark


def parse_range(text: str, most: int = 65535) -> PortRange:
    """Read `80` or `1000-2000`."""
    first, dash, last = text.partition("-")
    low = parse_number(first)
    high = parse_number(last) if dash else low
    if not low <= high <= most:
        raise _refuse(f"a range up to {most}", text)
    return PortRange(low, high)


def parse_tos(text: str) -> int:
    """Read a TOS value: `0x10`, or a name of rt_dsfield. iproute2 prints hexadecimal."""
    if text in DSFIELDS:
        return DSFIELDS[text]
    value = parse_integer(text)
    if value > 0xFF:
        raise _refuse("a TOS value", text)
    return value


def parse_protocol(text: str) -> int:
    """Read an IP protocol by number, or by a name of /etc/protocols; `ipproto-143` is iproute2's
    word for a nameless one.
    """
    return protocols.protocol_number(text.removeprefix("ipproto-"))

"""Values of options as iptables spells them; `ValueError` says what a word should have been."""

from __future__ import annotations

from podpath.net.addresses import Address, Family, MaskedMark, PortRange

FULL_MASK = 0xFFFFFFFF


def parse_integer(text: str, *, most: int = FULL_MASK) -> int:
    """Read a decimal, octal or hexadecimal number as iptables does (`strtoul` with base 0)."""
    octal = len(text) > 1 and text[0] == "0" and text.isdigit()
    number = int(text, 8) if octal else int(text, 0)
    if not 0 <= number <= most:
        raise ValueError(f"expected a number from 0 to {most}, saw {text!r}")
    return number


def parse_mark(text: str) -> MaskedMark:
    """Read `0x4000/0x4000`; without a mask all bits count."""
    value, slash, mask = text.partition("/")
    return MaskedMark(parse_integer(value), parse_integer(mask) if slash else FULL_MASK)


def parse_ports(text: str, separator: str = ":") -> PortRange:
    """Read `80`, `80:90`, `:1023` or `1024:`."""
    first, mark, last = text.partition(separator)
    if not mark:
        port = parse_integer(first, most=65535)
        return PortRange(port, port)
    return PortRange(
        parse_integer(first, most=65535) if first else 0,
        parse_integer(last, most=65535) if last else 65535,
    )


def parse_range(text: str, *, most: int = FULL_MASK) -> tuple[int, int]:
    """Read `3`, `3:5`, `:5` or `3:`."""
    first, mark, last = text.partition(":")
    low = parse_integer(first, most=most) if first else 0
    if not mark:
        return low, low
    return low, parse_integer(last, most=most) if last else most


def parse_address(text: str, family: Family) -> Address:
    """Read an address of the rule's family."""
    address = Address.parse(text)
    if address.family != family:
        raise ValueError(f"expected an IPv{family} address, saw {text!r}")
    return address

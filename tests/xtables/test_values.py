"""Tests for how values of options are read."""

from __future__ import annotations

import pytest

from podpath.net.addresses import MaskedMark, PortRange
from podpath.xtables import values


@pytest.mark.parametrize(("text", "number"), [("80", 80), ("0x50", 80), ("0120", 80), ("0", 0)])
def test_numbers_are_read_as_iptables_reads_them(text: str, number: int) -> None:
    """Decimal, hexadecimal and octal."""
    assert number == values.parse_integer(text)


@pytest.mark.parametrize("text", ["", "-1", "x", "0x100000000", "1.5"])
def test_other_numbers_are_refused(text: str) -> None:
    """What is no number of 32 bits makes the option unknown."""
    with pytest.raises(ValueError, match=r"expected|invalid"):
        values.parse_integer(text)


def test_marks_ports_and_ranges_have_open_ends() -> None:
    """A missing mask is all bits; a missing end is the last number."""
    assert MaskedMark(0x4000) == values.parse_mark("0x4000")
    assert MaskedMark(0x4000, 0xC000) == values.parse_mark("0x4000/0xc000")
    assert [PortRange(0, 9), PortRange(9, 65535), PortRange(9, 9)] == [
        values.parse_ports(text) for text in (":9", "9:", "9")
    ]
    assert [(0, 9), (9, 99), (9, 9)] == [
        values.parse_range(text, most=99) for text in (":9", "9:", "9")
    ]


def test_addresses_are_of_the_rules_family() -> None:
    """An IPv6 address in an IPv4 rule is not understood."""
    with pytest.raises(ValueError, match="expected an IPv4 address"):
        values.parse_address("fd00::1", 4)

"""Tests for the spellings of NAT ranges."""

from __future__ import annotations

import pytest

from podpath.net.addresses import Address, Family
from podpath.xtables.nat_ranges import NatRange, parse_nat_range, parse_port_range


def value(text: str) -> int:
    """Return an address as a number."""
    return Address.parse(text).value


@pytest.mark.parametrize(
    ("family", "text", "expected"),
    [
        (4, "10.0.0.1", NatRange(value("10.0.0.1"), value("10.0.0.1"))),
        (4, "10.0.0.1:80", NatRange(value("10.0.0.1"), value("10.0.0.1"), 80, 80)),
        (4, "10.0.0.1-10.0.0.9", NatRange(value("10.0.0.1"), value("10.0.0.9"))),
        (4, "10.0.0.1-10.0.0.9:80-90", NatRange(value("10.0.0.1"), value("10.0.0.9"), 80, 90)),
        (4, ":80", NatRange(low_port=80, high_port=80)),
        (4, ":1000-2000/5000", NatRange(low_port=1000, high_port=2000, base_port=5000)),
        (6, "fd00::1", NatRange(value("fd00::1"), value("fd00::1"))),
        (6, "fd00::1-fd00::9", NatRange(value("fd00::1"), value("fd00::9"))),
        (6, "[fd00::1]:80", NatRange(value("fd00::1"), value("fd00::1"), 80, 80)),
        (6, "[fd00::1]-[fd00::9]:80-90", NatRange(value("fd00::1"), value("fd00::9"), 80, 90)),
        (6, ":8080", NatRange(low_port=8080, high_port=8080)),
    ],
)
def test_ranges_are_read_in_all_spellings(family: Family, text: str, expected: NatRange) -> None:
    """Addresses, ranges, ports, shifted ports, and brackets for IPv6."""
    assert expected == parse_nat_range(text, family)


@pytest.mark.parametrize(
    "text", ["", "10.0.0", "10.0.0.1:", "10.0.0.1:80-x", "fd00::1", "10.0.0.1:99999", "1.2.3.4:5:6"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    """A rule with such a range stays unknown; it is never taken for another."""
    with pytest.raises(ValueError, match=r"expected|address|Octet"):
        parse_nat_range(text, 4)


def test_port_ranges_may_shift() -> None:
    """The base port says from where the others are counted."""
    assert NatRange(low_port=80, high_port=90, base_port=8000) == parse_port_range("80-90/8000")

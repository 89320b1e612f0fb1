"""Single values, read strictly."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from podpath.evidence.text import scalars
from podpath.net.addresses import Address, MaskedMark, PortRange, Prefix


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (scalars.parse_address, "10.0.0.1", Address(4, 0x0A000001)),
        (scalars.parse_address, "fe80::1%eth0", Address(6, 0xFE80 << 112 | 1)),
        (scalars.parse_prefix, "10.1.2.3/8", Prefix(4, 0x0A000000, 8)),
        (scalars.parse_prefix, "10.1.0.0/255.255.0.0", Prefix(4, 0x0A010000, 16)),
        (scalars.parse_prefix, "10.0.0.1", Prefix(4, 0x0A000001, 32)),
        (scalars.parse_prefix, "default", Prefix(4, 0, 0)),
        (scalars.parse_interface_address, "10.1.2.3/24", (Address(4, 0x0A010203), 24)),
        (scalars.parse_mac, "0A:58:0a:F4:01:0a", "0a:58:0a:f4:01:0a"),
        (scalars.parse_name, "veth1a2b3c4d", "veth1a2b3c4d"),
        (scalars.parse_number, "1500", 1500),
        (scalars.parse_integer, "0x10", 16),
        (scalars.parse_mark, "0x4000/0xc000", MaskedMark(0x4000, 0xC000)),
        (scalars.parse_mark, "7", MaskedMark(7)),
        (scalars.parse_range, "1000-2000", PortRange(1000, 2000)),
        (scalars.parse_range, "80", PortRange(80, 80)),
        (scalars.parse_tos, "0x10", 16),
        (scalars.parse_tos, "CS6", 0xC0),
        (scalars.parse_protocol, "gre", 47),
        (scalars.parse_protocol, "ipproto-143", 143),
    ],
)
def test_values_are_read(parse: Callable[[str], object], text: str, value: object) -> None:
    """Each spelling of iproute2 and net-tools gives its value."""
    assert value == parse(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (scalars.parse_address, "10.0.0.256"),
        (scalars.parse_address, "10.0.0"),
        (scalars.parse_address, ""),
        (scalars.parse_address, "node1"),
        (scalars.parse_address, ":" * 1000),
        (scalars.parse_address, "٣.0.0.1"),
        (scalars.parse_prefix, "10.0.0.0/33"),
        (scalars.parse_prefix, "10.0.0.0/x"),
        (scalars.parse_prefix, "10.0.0.0/255.0.255.0"),
        (scalars.parse_interface_address, "10.0.0.1/40"),
        (scalars.parse_mac, "0a:58"),
        (scalars.parse_name, "a" * 16),
        (scalars.parse_name, "a/b"),
        (scalars.parse_number, "-1"),
        (scalars.parse_number, "9" * 30),
        (scalars.parse_mark, "0x1ffffffff"),
        (scalars.parse_range, "9-1"),
        (scalars.parse_range, "70000"),
        (scalars.parse_tos, "0x100"),
        (scalars.parse_protocol, "nosuch"),
    ],
)
def test_what_cannot_be_read_is_refused(parse: Callable[[str], object], text: str) -> None:
    """A wrong value is an error of one line, never a guess."""
    with pytest.raises(ValueError, match=r"^.{5,160}$"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "10.244.x.x",
        "10.x.x.x/16",
        "xx:xx:xx:xx:xx:xx",
        "10.0.0.*",
        "<NODE_IP>",
        "MGNT_MAC",
        "10.0....",
    ],
)
def test_elided_values_are_called_elided(text: str) -> None:
    """The reason tells a value that somebody replaced from one that is wrong."""
    with pytest.raises(ValueError, match="elided"):
        scalars.parse_address(text)


@pytest.mark.parametrize("text", ["10.0.0.1", "fe80::1", "eth0", "0xdead"])
def test_whole_values_are_not_called_elided(text: str) -> None:
    """Hexadecimal numbers and names are no elisions."""
    assert not scalars.is_elided(text)

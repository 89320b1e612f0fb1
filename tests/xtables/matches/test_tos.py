"""Tests for `-m tos` and `-m dscp`."""

from __future__ import annotations

import pytest

from podpath.xtables.matches.tos import DSCP, TOS, spell_tos
from tests.xtables.seen import PACKET, FakePacket, read


@pytest.mark.parametrize(
    ("text", "tos"),
    [("0x10", 0x10), ("0x10/0x3f", 0xD0), ("Minimize-Delay", 0x10), ("0x08/0x08", 0x0C)],
)
def test_a_name_and_a_mask_leave_bits_out(text: str, tos: int) -> None:
    """A name looks at six bits, a number without a mask at all eight."""
    condition = read(TOS.options["tos"], text)

    assert condition(FakePacket(packet=PACKET._replace(tos=tos)))
    assert not condition(FakePacket(packet=PACKET._replace(tos=0x01)))


@pytest.mark.parametrize(
    ("option", "text"), [("dscp", "0x2e"), ("dscp-class", "EF"), ("dscp-class", "ef")]
)
def test_a_class_is_the_upper_six_bits(option: str, text: str) -> None:
    """The two bits of congestion do not count."""
    condition = read(DSCP.options[option], text)

    assert condition(FakePacket(packet=PACKET._replace(tos=0xBB)))
    assert not condition(FakePacket(packet=PACKET._replace(tos=0x2E)))


def test_an_unknown_class_is_refused() -> None:
    """A class that nobody defined leaves the match unknown."""
    with pytest.raises(ValueError, match="expected a DSCP class, saw 'AF9'"):
        read(DSCP.options["dscp-class"], "AF9")


def test_a_listed_name_is_spelled_as_it_is_saved() -> None:
    """`iptables -L` prints the name, iptables-save the number and the mask of a name."""
    assert ("0x10/0x3f", "0x22/0xff") == (spell_tos("Minimize-Delay"), spell_tos("0x22/0xff"))

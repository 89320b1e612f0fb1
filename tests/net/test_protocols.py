"""Protocol names and numbers, and TCP flags, as iptables spells them."""

from __future__ import annotations

import pytest

from podpath.net import protocols


@pytest.mark.parametrize(
    ("text", "number"),
    [("tcp", 6), ("TCP", 6), ("icmpv6", 58), ("ipv6-icmp", 58), ("all", 0), ("132", 132)],
)
def test_a_protocol_is_read_by_name_or_number(text: str, number: int) -> None:
    """Case does not matter; numbers are taken as they are."""
    assert protocols.protocol_number(text) == number


@pytest.mark.parametrize("text", ["256", "-1", "nothing", "", "\u0661"])
def test_what_is_no_protocol_is_refused(text: str) -> None:
    """Only 0 to 255 and known names are protocols."""
    with pytest.raises(ValueError, match="expected a protocol"):
        protocols.protocol_number(text)


def test_names_are_iptables_names() -> None:
    """A number without a name spells itself."""
    assert ("udp", "ipv6-icmp", "253") == tuple(
        protocols.protocol_name(number) for number in (17, 58, 253)
    )


def test_flags_spell_in_header_order() -> None:
    """No flags are `NONE`."""
    assert ("SYN,ACK", "NONE") == (
        protocols.flag_names(protocols.ACK | protocols.SYN),
        protocols.flag_names(0),
    )

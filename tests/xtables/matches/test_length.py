"""Tests for `-m length`."""

from __future__ import annotations

import pytest

from podpath.xtables.matches.length import MATCH
from tests.xtables.seen import PACKET, FakePacket, read


@pytest.mark.parametrize(
    ("text", "holds"),
    [("60", True), ("0:59", False), (":60", True), ("61:", False), ("40:100", True)],
)
def test_both_ends_of_a_range_belong_to_it(text: str, *, holds: bool) -> None:
    """A packet of 60 bytes; an end that is left out is the least or the most."""
    condition = read(MATCH.options["length"], text)

    assert holds is condition(FakePacket(packet=PACKET._replace(length=60)))


def test_a_length_beyond_what_ip_has_is_refused() -> None:
    """The field has 16 bits."""
    with pytest.raises(ValueError, match="expected a number from 0 to 65535"):
        read(MATCH.options["length"], "65536")

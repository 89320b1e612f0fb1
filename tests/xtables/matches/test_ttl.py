"""Tests for `-m ttl` and `-m hl`."""

from __future__ import annotations

import pytest

from podpath.xtables.extension import MatchExtension
from podpath.xtables.matches.ttl import HL, TTL
from tests.xtables.seen import PACKET, FakePacket, read


@pytest.mark.parametrize("extension", [TTL, HL], ids=["ttl", "hl"])
@pytest.mark.parametrize(("sign", "held"), [("eq", {64}), ("lt", {63}), ("gt", {65})])
def test_each_option_compares_with_its_number(
    extension: MatchExtension, sign: str, held: set[int]
) -> None:
    """Of 63, 64 and 65 each holds for what it says of 64."""
    condition = read(extension.options[f"{extension.name}-{sign}"], "64")

    assert held == {
        ttl for ttl in (63, 64, 65) if condition(FakePacket(packet=PACKET._replace(ttl=ttl)))
    }

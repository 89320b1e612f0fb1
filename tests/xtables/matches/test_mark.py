"""Tests for `-m mark`."""

from __future__ import annotations

import pytest

from podpath.xtables.matches.mark import MATCH
from tests.xtables.seen import FakePacket, read


@pytest.mark.parametrize(
    ("text", "mark", "holds"),
    [("0x1", 1, True), ("0x1", 3, False), ("0x1/0x1", 3, True), ("0/0xff", 256, True)],
)
def test_only_the_bits_of_the_mask_count(text: str, mark: int, *, holds: bool) -> None:
    """Without a mask all bits count."""
    condition = read(MATCH.options["mark"], text)

    assert holds is condition(FakePacket(mark=mark))

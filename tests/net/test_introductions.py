"""Sentences above outputs."""

from __future__ import annotations

import pytest

from podpath.net.introductions import is_supposed


@pytest.mark.parametrize(
    ("sentence", "supposed"),
    [
        ("It would then print:", True),
        ("With the change it should look like this:", True),
        ("nft should complain, similar to how nft handles constructs like this:", True),
        ("I would expect it to print:", True),
        ("We expect the command to show this:", True),
        ("Expected output:", True),
        ("It prints this:", False),
        ("It should print eth0, but it prints:", False),
        ("I expected it to print eth0, and it prints lo:", False),
        ("I expected more of this output:", False),
        ("It should work, but I get:", False),
        ("I would like to know why.", False),
    ],
)
def test_what_nobody_has_seen(sentence: str, *, supposed: bool) -> None:
    """Only what leads over to the output itself counts."""
    assert is_supposed(sentence) is supposed

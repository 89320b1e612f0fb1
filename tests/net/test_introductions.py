"""Sentences above outputs."""

from __future__ import annotations

import pytest

from podpath.net.introductions import is_remedy, is_supposed


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
        ("What I see instead of what it should print:", False),
        ("I would expect ip route to show a default route; here is mine:", False),
        ("I would like to know why.", False),
    ],
)
def test_what_nobody_has_seen(sentence: str, *, supposed: bool) -> None:
    """Only what leads over to the output itself counts."""
    assert is_supposed(sentence) is supposed


@pytest.mark.parametrize(
    ("label", "helped"),
    [
        ("I had to do this, then it worked; should the package not do it?", True),
        ("What solved it for me:", True),
        ("After this it works.", True),
        ("This fixed it:", True),
        ("I ran this, and now nothing works:", False),
        ("It worked until I ran this:", False),
        ("I tried to fix it by this, but it still fails:", False),
        ("This works, but not after a reboot:", False),
        ("I want to make it work:", False),
        ("It worked, then I ran this:", False),
        ("Since the upgrade this worked no more:", False),
    ],
)
def test_what_helped(label: str, *, helped: bool) -> None:
    """A remedy is told as done, and nothing in its clause denies it."""
    assert is_remedy(label) is helped

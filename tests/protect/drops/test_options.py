"""Tests of `protect.drops.options`: what could never be served is refused."""

from __future__ import annotations

from typing import Any

import pytest

from podpath_protect.drops.options import MOST_WATCHERS, DropOptions


def test_nobody_is_served_unless_asked_for() -> None:
    """The section alone counts drops, and lets nobody watch."""
    options = DropOptions()
    assert (options.metrics, options.watchers) == (True, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"watchers": MOST_WATCHERS + 1}, "watchers of 0 to"),
        ({"lines": 0}, "lines of 1 or more"),
        ({"memory": 10}, "memory of 256 or more"),
        ({"every": 0.1}, "every of 1s or more"),
        ({"metrics": False}, "metrics, or watchers"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], said: str) -> None:
    """Each says what was expected."""
    with pytest.raises(ValueError, match=said):
        DropOptions(**given)

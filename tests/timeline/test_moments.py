"""Moments as people name them."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from podpath.net.errors import UsageError
from podpath.timeline.clock import Clock
from podpath.timeline.moments import Reach, parse_moment
from tests.timeline.samples import CLOCK, at

REACH = Reach(at("22:00:00", "2025-03-10"), at("06:00:00"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-03-12T03:13:59Z", at("03:13:59")),
        ("2025-03-12 03:13:59", at("03:13:59")),
        ("2025-03-12T11:13:59+08:00", at("03:13:59")),
        ("03:13:59", at("03:13:59")),
        ("3:13", at("03:13:00")),
        ("06:05:00", at("06:05:00")),
        ("23:30:00", at("23:30:00", "2025-03-11")),
        ("Mar 11 03:13:59", at("03:13:59", "2025-03-11")),
        ("Dec 30 03:13:59.5", at("03:13:59.500000", "2024-12-30")),
        ("@1741749239", 1741749239.0),
    ],
)
def test_a_moment(text: str, expected: float) -> None:
    """What a moment leaves out is of the logs: their last such day, their year."""
    assert expected == parse_moment(text, CLOCK, REACH)


def test_a_moment_in_a_zone() -> None:
    """A moment that names no zone is of the logs' zone."""
    clock = Clock(now=CLOCK.now, zone=timezone(timedelta(hours=8)))

    assert at("03:13:59") == parse_moment("11:13:59", clock, Reach(at("02:00:00"), at("04:00:00")))


def test_a_moment_without_logs() -> None:
    """Without logs a time of the day is today's, or yesterday's where that is to come."""
    assert [at("11:00:00", "2025-03-20"), at("13:00:00", "2025-03-19")] == [
        parse_moment(text, CLOCK) for text in ("11:00", "13:00")
    ]


@pytest.mark.parametrize(
    "text", ["", "soon", "25:00", "2025-02-30T00:00:00Z", "03:13:59 tomorrow", "Foo 11 03:13:59"]
)
def test_no_moment(text: str) -> None:
    """What is no moment is refused with what is accepted."""
    with pytest.raises(UsageError, match="expected a moment such as"):
        parse_moment(text, CLOCK, REACH)

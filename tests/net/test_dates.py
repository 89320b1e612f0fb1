"""Dates in lines of logs."""

from __future__ import annotations

from datetime import datetime

import pytest

from podpath.net.dates import find_date

NEWEST = datetime(2024, 2, 15, 12)  # noqa: DTZ001  # a wall clock


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[Mon Jan  8 03:12:44 2024] neighbour: table overflow", (2024, 1, 8, 3, 12, 44)),
        ("Thu Feb 15 09:30:01 UTC 2024", (2024, 2, 15, 9, 30, 1)),
        ("Thu Feb 15 09:30:01 AM CET 2024", (2024, 2, 15, 9, 30, 1)),
        ("Thu 15 Feb 2024 09:30:01 AM CET", (2024, 2, 15, 9, 30, 1)),
        ("2024-02-15T09:30:01.123Z level=info", (2024, 2, 15, 9, 30, 1)),
        ("2024/02/15 09:30:01 [INFO] plugin/reload", (2024, 2, 15, 9, 30, 1)),
        ("Feb  3 09:30:01 n1 kernel: up", (2024, 2, 3, 9, 30, 1)),
        ("Dec 24 09:30:01 n1 kernel: up", (2023, 12, 24, 9, 30, 1)),
    ],
)
def test_programs_spell_dates_in_their_own_way(line: str, expected: tuple[int, ...]) -> None:
    """One without a year is of the last one in which it had come."""
    found = find_date(line, NEWEST)

    assert found is not None
    assert expected == tuple(found.timetuple())[:6]


@pytest.mark.parametrize(
    "line", ["[  812.1] eth0: link up", "Feb 30 09:30:01 n1 kernel: up", "10.0.0.1:8080", ""]
)
def test_what_is_no_date_is_none(line: str) -> None:
    """Seconds since the boot, and days that no month has."""
    assert find_date(line, NEWEST) is None


def test_nothing_tells_the_year() -> None:
    """A date without one is unknown then."""
    assert find_date("Feb  3 09:30:01 n1 kernel: up") is None

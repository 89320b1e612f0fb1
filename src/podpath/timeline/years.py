"""The years of stamps that name none: counted back from the moment the log was taken, over the
turns of the year within it.
"""

from __future__ import annotations

from collections.abc import Iterable

from podpath.timeline.clock import Clock

_TURN, _BACK = 6, 10
"""Months that two neighboring lines differ by where a year turned between them, and where lines
are out of order over it.
"""
_AHEAD = 86_400.0
"""How far past the moment the log was taken a line may be: its clock, or its zone, may be
another.
"""


def first_year(months: Iterable[int], last: tuple[int, int], clock: Clock) -> int:
    """Return the year of the first of these months, so that the last stamp (month, day) is the
    latest not in the future.
    """
    turns = 0
    before = 0
    for month in months:
        turns += turn(before, month)
        before = month
    limit = Clock(now=clock.now + _AHEAD, zone=clock.zone).today
    final = limit.year if last <= (limit.month, limit.day) else limit.year - 1
    while last == (2, 29) and not _is_leap(final):
        final -= 1
    return final - turns


def turn(before: int, month: int) -> int:
    """Say by how many years the second of two neighboring lines' months is later: 1, 0, or -1
    where they are out of order.
    """
    if not before:
        return 0
    if before - month >= _TURN:
        return 1
    return -1 if month - before >= _BACK else 0


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

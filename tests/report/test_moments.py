"""Moments for a reader."""

from __future__ import annotations

import math
from datetime import UTC, timedelta, timezone

from podpath.report.moments import spell_iso, spell_moment, spell_zone

CHINA = timezone(timedelta(hours=8))


def test_a_moment_is_told_to_the_thousandth() -> None:
    """Fractions stand where there are some; the crumbs of floats do not."""
    assert ["1970-01-01 00:00:05", "1970-01-01 00:00:05.250", "08:00:05"] == [
        spell_moment(5.0000001, UTC), spell_moment(5.25, UTC), spell_moment(5, CHINA, date=False)
    ]  # fmt: skip


def test_zones_by_their_offset() -> None:
    """A zone is named by its offset."""
    assert ["UTC", "UTC+08:00"] == [spell_zone(0, UTC), spell_zone(0, CHINA)]


def test_iso_is_utc() -> None:
    """JSON has moments in UTC, and none for what nobody placed."""
    assert ("1970-01-01T00:00:05.250Z", None, "unknown") == (
        spell_iso(5.25),
        spell_iso(math.nan),
        spell_moment(math.nan, UTC),
    )

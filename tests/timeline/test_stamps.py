"""Stamps on the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.stamps import WallClock, parse_offset


def iso(time: float | None) -> str | None:
    """Spell a moment in UTC."""
    return None if time is None else datetime.fromtimestamp(time, UTC).isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-03-12T09:49:03Z rest", "2025-03-12T09:49:03+00:00"),
        ("2025-03-12 09:49:03", "2025-03-12T09:49:03+00:00"),
        ("2025/03/12 09:49", "2025-03-12T09:49:00+00:00"),
        ("2025-03-12T09:49:03.5+0530", "2025-03-12T04:19:03.500000+00:00"),
        ("2025-03-12T09:49:60Z", "2025-03-12T09:50:00+00:00"),
        ("2025-03-12 09:49:03 +01:00", "2025-03-12T08:49:03+00:00"),
    ],
)
def test_iso_stamps(text: str, expected: str) -> None:
    """ISO stamps are read with and without a zone, up to the leap second."""
    stamp = WallClock(UTC).match(text)

    assert expected == iso(stamp.time if stamp else None)


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-30T09:49:03Z",
        "2025-03-12T25:49:03Z",
        "2025-03-12T09:61:03Z",
        "0000-01-01 00:00:00",
        "x",
        "",
    ],
)
def test_no_stamps(text: str) -> None:
    """A date that no calendar has is no stamp."""
    assert WallClock(UTC).match(text) is None


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),  # noqa: DTZ001
    st.integers(-840, 840),
)
def test_stamps_come_back(moment: datetime, minutes: int) -> None:
    """What `isoformat` writes in any zone is read as the same moment."""
    placed = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    stamp = WallClock(UTC).match(placed.isoformat())

    assert placed.timestamp() == (stamp.time if stamp else None)


def test_a_zone_with_summer_time() -> None:
    """A zone's offset is that of the hour: before and after the clocks change."""
    wall = WallClock(ZoneInfo("Europe/Berlin"))
    winter, summer = wall.place((2025, 3, 30), 1, 59, 59), wall.place((2025, 3, 30), 3, 0, 0)

    assert ("2025-03-30T00:59:59+00:00", "2025-03-30T01:00:00+00:00") == (iso(winter), iso(summer))


@pytest.mark.parametrize("text", ["CST", "", "+99:00", "+24:00"])
def test_names_that_zones_share_say_nothing(text: str) -> None:
    """An abbreviation such as CST is China's and Chicago's: no zone."""
    assert parse_offset(text) is None

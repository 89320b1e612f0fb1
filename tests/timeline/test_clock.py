"""What the caller says of a log's clock."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from podpath.timeline.clock import Clock, to_wall


def test_today_is_of_the_zone() -> None:
    """The moment of the evidence is told on the wall clock of its zone."""
    assert (1970, 1, 2) == Clock(now=80_000.0, zone=timezone(timedelta(hours=8))).today.timetuple()[
        :3
    ]


@given(st.floats(allow_nan=False))
def test_any_moment_has_a_wall_clock(time: float) -> None:
    """No moment is beyond what can be told."""
    assert to_wall(time, UTC).tzinfo is UTC

"""Moments as a reader wants them: on the wall clock of one zone, the date only where it changes."""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

from podpath.timeline.clock import to_wall


def spell_moment(time: float, zone: tzinfo, *, date: bool = True) -> str:
    """Spell a moment, with thousandths where it has them; `unknown` for one that nobody placed."""
    if math.isnan(time):
        return "unknown"
    wall = _rounded(time, zone)
    clock = wall.strftime("%H:%M:%S") + (
        f".{wall.microsecond // 1000:03d}" if wall.microsecond else ""
    )
    return f"{wall:%Y-%m-%d} {clock}" if date else clock


def spell_zone(time: float, zone: tzinfo) -> str:
    """Name a zone by its offset at a moment: `UTC`, `UTC+08:00`."""
    text = to_wall(0.0 if math.isnan(time) else time, zone).strftime("%z")
    if text in {"", "+0000"}:
        return "UTC"
    return f"UTC{text[:3]}:{text[3:5]}"


def spell_iso(time: float) -> str | None:
    """Spell a moment as ISO 8601 in UTC, for JSON; None for one that nobody placed."""
    if math.isnan(time):
        return None

    wall = _rounded(time, UTC)
    return wall.isoformat(timespec="milliseconds" if wall.microsecond else "seconds").replace(
        "+00:00", "Z"
    )


def _rounded(time: float, zone: tzinfo) -> datetime:
    """Return the wall clock to the nearest thousandth: sums of floats end in crumbs."""
    return to_wall(round(time, 3), zone)

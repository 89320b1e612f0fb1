"""Logs to a chronicle: clocks and zones read, sources told apart, the window found."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podpath.library.when import When
from podpath.net.errors import UsageError
from podpath.net.provenance import Source, Span
from podpath.timeline.build import ToldFailure, build_chronicle
from podpath.timeline.chain_files import load_chains
from podpath.timeline.chronicle import Chronicle
from podpath.timeline.clock import Clock
from podpath.timeline.durations import parse_duration
from podpath.timeline.moments import parse_moment
from podpath.timeline.reading import read_logs
from podpath.timeline.stamps import parse_offset


def make_clock(when: When) -> Clock:
    """Make the clock of the logs; `UsageError` says which zone or moment cannot be read."""
    zone: tzinfo = UTC
    zones: list[tuple[str, tzinfo]] = []
    for text in when.zones:
        part, sign, name = text.rpartition("=")
        if sign:
            zones.append((part, _parse_zone(name)))
        else:
            zone = _parse_zone(text)
    clock = Clock(now=time.time(), zone=zone, zones=tuple(zones))
    if when.now is None:
        return clock
    now = parse_moment(when.now, clock)
    return Clock(now=now, zone=zone, zones=tuple(zones), printed=now)


def chronicle_logs(
    sources: Sequence[Source], clock: Clock, when: When, failures: Collection[Span] = ()
) -> Chronicle:
    """Read the logs among these sources and say what they tell; moments without a date are of the
    logs' days, and without a zone of the one that the logs show.
    """
    logs = read_logs(sources, clock)
    reach = logs.reach
    wall = clock if logs.zone is None or _is_zone_told(when) else replace(clock, zone=logs.zone)
    told = ToldFailure(
        failed_at=parse_moment(when.failed_at, wall, reach) if when.failed_at is not None else None,
        timeout=_parse_timeout(when.timeout) if when.timeout is not None else None,
        last_ok=parse_moment(when.last_ok, wall, reach) if when.last_ok is not None else None,
        failures=failures,
    )
    return build_chronicle(logs, load_chains(), told, wall.zone)


def _is_zone_told(when: When) -> bool:
    """Tell whether the user names the zone of all logs, and so of the moments that he gives."""
    return any("=" not in zone for zone in when.zones)


def _parse_timeout(text: str) -> float:
    seconds = parse_duration(text)
    if seconds is None:
        raise UsageError(f"{text!r}: expected a span of time such as 10s, 1m30s or 500ms")
    return seconds


def _parse_zone(text: str) -> tzinfo:
    """Read a zone by its name in the tz database or by its offset."""
    offset = parse_offset(text)
    if offset is not None:
        return offset
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(
            f"{text!r}: expected a zone such as Asia/Shanghai, UTC or +08:00"
        ) from error

"""Spans of time as people and tools spell them: `10s`, `1m30s`, `3d4h`, `3001 milliseconds`,
`timeout=10s` in a message.
"""

from __future__ import annotations

import re

_UNITS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3,
    "milliseconds": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0,
    "hour": 3600.0, "hours": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0, "w": 604800.0,
    "y": 31_536_000.0, "yr": 31_536_000.0,
}  # fmt: skip
_PART = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,9})?) ?(?P<unit>[a-zµ]+)")
_WHOLE = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})? ?[a-zµ]+ ?)+")
_TIMEOUT = (
    re.compile(
        (
            r"\b(?:time-?_?out|deadline)(?:Seconds)?[=: ]+\"?(?P<span>\d{1,6}(?:\.\d{1,6})? ?(?:ms|"
            r"s|m|seconds|milliseconds)?)\b"
        ),
        re.IGNORECASE,
    ),
    re.compile(
        (
            r"\btimed out after (?P<span>\d{1,9}(?:\.\d{1,6})? ?(?:milliseconds|ms|seconds|secs|s|"
            r"minutes|m))\b"
        ),
        re.IGNORECASE,
    ),
    re.compile(
        (
            r"\b(?:within|after|exceeded|of) (?P<span>\d{1,6}(?:\.\d{1,6})? ?(?:milliseconds|ms|"
            r"seconds|secs|s))\b"
        ),
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?P<span>\d{1,6}(?:\.\d{1,6})? ?(?:ms|s|seconds|milliseconds))[- ]timeout\b",
        re.IGNORECASE,
    ),
)


def parse_duration(text: str) -> float | None:
    """Read a span of time in seconds; a bare number is seconds; None where it is none."""
    spelled = text.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", spelled):
        return float(spelled)
    if _WHOLE.fullmatch(spelled) is None:
        return None
    total = 0.0
    for part in _PART.finditer(spelled):
        unit = _UNITS.get(part["unit"])
        if unit is None:
            return None
        total += float(part["number"]) * unit
    return total


def parse_timeout(message: str) -> float | None:
    """Return the timeout that a failure's message names; None where it names none. `timeout=10` is
    taken for seconds.
    """
    for pattern in _TIMEOUT:
        found = pattern.search(message)
        if found is not None:
            seconds = parse_duration(found["span"].lower())
            if seconds is not None and 0 < seconds <= 86_400:
                return seconds
    return None


def render_duration(seconds: float) -> str:
    """Spell a span of time for a reader: `2 s`, `1 min 30 s`, `3 h`."""
    if seconds < 0:
        return f"-{render_duration(-seconds)}"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f} s"
    parts = []
    rest = round(seconds)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if rest >= size:
            parts.append(f"{rest // size} {unit}")
            rest %= size
    return " ".join(parts[:2]) or "0 s"


def tell_before(before: float) -> str:
    """Say how long before the first failing request something was."""
    if abs(before) < 0.5:
        return "as the first failing request began"
    if before < 0:
        return f"{render_duration(-before)} after the first failing request began"
    return f"{render_duration(before)} before the first failing request began"

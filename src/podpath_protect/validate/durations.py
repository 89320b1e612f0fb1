"""Durations as the meshes' own validators write them: linkerd's `10s` and Go's `1m30.5s`, in
seconds.
"""

from __future__ import annotations

import re
from fractions import Fraction

from podpath.net.errors import UsageError

_LINKERD = re.compile(r"\+?(?P<number>[0-9]+)(?P<unit>[^0-9]*)")
_LINKERD_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LINKERD_LIMIT = 1 << 64
"""Milliseconds in a u64, as linkerd's `parse_duration` counts."""
_GO = re.compile(r"[+-]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)")
_GO_PART = re.compile(r"(?P<number>[0-9.]+)(?P<unit>[a-zµμ]+)")
_GO_UNITS = {
    "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60),
    "h": Fraction(3600),
}  # fmt: skip
_GO_LIMIT = Fraction((1 << 63) - 1, 10**9)


def parse_linkerd_duration(text: str) -> float:
    """Read a whole number and one of ms, s, m, h, d; `0` alone needs no unit. `UsageError` says
    what was seen instead.
    """
    found = _LINKERD.fullmatch(text.strip())
    unit = _LINKERD_UNITS.get(found["unit"]) if found is not None else None
    if found is not None and found["unit"] == "" and not int(found["number"]):
        unit = 0
    if found is None or unit is None:
        raise UsageError(f"expected a duration such as 500ms, 10s, 2m, 1h or 1d, saw {text!r}")
    if int(found["number"]) >= _LINKERD_LIMIT or int(found["number"]) * unit >= _LINKERD_LIMIT:
        raise UsageError(f"expected a duration of less than 2^64 ms, saw {text!r}")
    return int(found["number"]) * unit / 1000


def parse_go_duration(text: str) -> float:
    """Read a duration of Go's time.ParseDuration that is not negative: `5s`, `1m30.5s`, `0`."""
    if not _GO.fullmatch(text):
        raise UsageError(f"expected a duration such as 500ms, 5s or 1m30s, saw {text!r}")
    try:
        seconds = sum(
            (
                Fraction(part["number"]) * _GO_UNITS[part["unit"]]
                for part in _GO_PART.finditer(text)
            ),
            Fraction(0),
        )
    except ValueError as error:
        raise UsageError(f"expected a duration such as 500ms, 5s or 1m30s, saw {text!r}") from error
    if text.startswith("-") and seconds:
        raise UsageError(f"expected a duration that is not negative, saw {text!r}")
    if seconds > _GO_LIMIT:
        raise UsageError(f"expected a duration of less than 2^63 ns, saw {text!r}")
    return float(seconds)

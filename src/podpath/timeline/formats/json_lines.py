"""Logs of one JSON object on each line: zap and slog
(`{"level":"info","ts":1644544143.1,"msg":"..."}`), Docker's json-file, MongoDB.
"""

from __future__ import annotations

import json
import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock

_KEYS: Final = r"time|ts|epoch|timestamp|@timestamp|asctime|eventTime|T|\$date"
_OTHERS: Final = (
    r"(?!\w*(?:[lL]ife|[uU]p|[rR]un)_?[tT]ime\b)"
    r"\w*(?:[tT]ime(?:stamp)?|Timestamp|_at|_ns|time(?:stamp)?_[mu]s|[dD]ate|UnixNano|"
    r"epochSecond|timeMillis|timestampSeconds)"
)
"""How fields of a moment end; a lifetime (`valid_life_time` of `ip -j addr`) is none."""
_SHAPE: Final = re.compile(rf'\s*\{{ ?(?=".{{0,1900}}(?<=")(?:{_KEYS}|{_OTHERS})" ?:)')
_VALUE: Final = (
    r'" ?: ?(?:(?:\{ ?"seconds" ?: ?)?"?(?P<number>\d{9,19}(?:\.\d{1,9})?(?:[eE][+]?\d{1,2})?)'
    r'(?:, ?"(?:nanoOfSecond|nanos)" ?: ?(?P<nanos>\d{1,9}))?(?=[",\s}\]])|'
    r'"(?P<text>\d[^"\\]{9,40})")'
)
_TIME: Final = re.compile(rf'"(?:{_KEYS}){_VALUE}')
_OTHER_TIME: Final = re.compile(rf'"(?:{_OTHERS}){_VALUE}')
"""Any field that is named after a time, where none is named as usual."""
_SCALES: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which size on a number counts nano-, micro- or milliseconds."""


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        if line.lstrip()[:1] != "{":
            return None
        found = _TIME.search(line) or _OTHER_TIME.search(line)
        if found is None:
            return None
        if found["text"]:
            stamp = wall.match(found["text"])
            return stamp.time if stamp is not None else None
        seconds = _scale(float(found["number"]))
        if seconds is not None:
            return seconds + int(found["nanos"] or 0) / 1e9
        return None

    return read


def _scale(number: float) -> float | None:
    seconds = next((number / unit for size, unit in _SCALES if number >= size), number)
    return seconds if seconds < 1e11 else None


def _split(source: Source) -> Split:
    origin = name_origin(source)

    def take_apart(line: str) -> LineParts:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return LineParts(origin, line)
        if not isinstance(fields, dict):
            return LineParts(origin, line)
        message = _first(fields, "msg", "message", "log", "event", "MESSAGE")
        error = _first(fields, "error", "err")
        writer = _first(fields, "logger", "component", "program")
        if not message:
            return LineParts(origin or writer, line, _first(fields, "host", "hostname"))
        if isinstance(fields.get("attr"), dict):
            message = f"{message} {json.dumps(fields['attr'])}"
        return LineParts(
            origin or writer,
            f"{message.rstrip()}: {error}" if error else message.rstrip(),
            _first(fields, "host", "hostname"),
        )

    return take_apart


def _first(fields: dict[str, object], *names: str) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str)), "")


FORMAT = LineFormat("log of JSON lines", _SHAPE, _stamp, _split, wraps=True)

"""`journalctl -o json`, `json-sse` and `json-seq`: one object on each line, with the time in
microseconds since the epoch.
"""

from __future__ import annotations

import json
import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp

_SHAPE: Final = re.compile(r'(?:data:|\x1e)?\s*\{(?=.{0,1900}"__REALTIME_TIMESTAMP")')
_TIME: Final = re.compile(r'"__REALTIME_TIMESTAMP" ?: ?"?(?P<time>\d{1,17})')


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source, clock

    def read(line: str) -> float | None:
        found = _TIME.search(line)
        if found is not None and _SHAPE.match(line):
            return int(found["time"]) / 1e6
        return None

    return read


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> LineParts:
    """Take an entry apart; bytes that are no UTF-8 are an array of numbers in it."""
    try:
        fields = json.loads(line[line.find("{") :])
    except (ValueError, RecursionError):
        return LineParts("", line)
    if not isinstance(fields, dict):
        return LineParts("", line)
    program = text_of(fields.get("SYSLOG_IDENTIFIER")) or text_of(fields.get("_COMM"))
    return LineParts(program, text_of(fields.get("MESSAGE")), text_of(fields.get("_HOSTNAME")))


def text_of(value: object) -> str:
    """Return a field as text: a string, an array of bytes, or the first of several values."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
            return bytes(value).decode("utf-8", "replace")
        return text_of(value[0])
    return ""


FORMAT = LineFormat("journalctl -o json", _SHAPE, _stamp, _split)

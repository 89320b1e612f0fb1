"""Logs of programs that start their lines with a date and a time, each in its own way.

`2022-02-11 09:49:15,123 ERROR ...`, `2022/02/11 09:49:15 [error] ...`, `[2022-02-11T09:49:15Z]
...`, `2022-02-11 09:49:15.123 [INFO][8] felix/...`
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.origins import name_origin
from podpath.timeline.stamps import WallClock

_HEAD: Final = re.compile(r"\[?(?=\d{4}([-/])\d\d\1\d\d[T ]\d\d:\d\d:\d\d)")

_LOGGER: Final = re.compile(
    r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|"
    r"FATAL)\]? +\[?(?P<name>[A-Za-z][\w.-]{1,80})\]?:? "
)
"""A level, and the logger's name behind it, as Python's logging and tuned write them: the writer,
where the file does not say.
"""


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        stamp = wall.match(line, 1 if line[:1] == "[" else 0)
        return stamp.time if stamp is not None else None

    return read


def _split(source: Source) -> Split:
    origin = name_origin(source)
    wall = WallClock(Clock(now=0.0).zone)

    def take_apart(line: str) -> LineParts:
        stamp = wall.match(line, 1 if line[:1] == "[" else 0)
        text = line[stamp.end :].lstrip("] ") if stamp is not None else line
        logger = _LOGGER.match(text) if not origin else None
        return LineParts(logger["name"] if logger is not None else origin, text)

    return take_apart


FORMAT = LineFormat(
    "log with a date",
    _HEAD,
    _stamp,
    _split,
    headings=re.compile(r"#(?:Software|Version|Date|Fields|Remark|Start-Date|End-Date):"),
    wraps=True,
)

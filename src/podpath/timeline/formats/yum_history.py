"""The table of `yum history` and `dnf history`: a run on each row, its date to the minute.

`    42 | update polkit            | 2022-02-11 09:48 | Update         |    1`
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import Parts, Split
from podpath.timeline.lines import LineFormat, ReadStamp
from podpath.timeline.stamps import WallClock

_ROW: Final = re.compile(r" *\d{1,6} \|(?P<command>[^|]*)\| (?P<stamp>\d{4}-\d\d-\d\d \d\d:\d\d) \|(?P<action>[^|]*)\|")
_HEADINGS: Final = re.compile(r" *ID +\||-{10}|Loaded plugins|history list|Last metadata")


def _stamp(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _ROW.match(line)
        stamp = wall.match(line, found.start("stamp")) if found is not None else None
        return stamp.time if stamp is not None else None

    return read


def _split(_: Source) -> Split:
    return take_apart


def take_apart(line: str) -> Parts:
    """Take a row apart: what was typed (or who ran it, in older versions), and what it did."""
    found = _ROW.match(line)
    if found is None:
        return Parts("yum", line)
    return Parts("yum", f"run: {found['command'].strip()} ({found['action'].strip()})")


FORMAT = LineFormat("yum history", _ROW, _stamp, _split, headings=_HEADINGS)

"""What rpm and its front ends did: /var/log/yum.log, dnf.rpm.log, `rpm -qa --last`.

`Feb 11 09:48:58 Updated: polkit-0.112-26.el7_9.1.x86_64`; `2022-02-11T09:48:58+0800 SUBDEBUG
Upgrade: polkit-...`; `polkit-0.112-26.el7_9.1.x86_64                Fri 11 Feb 2022 09:48:58 AM
CST`
"""

from __future__ import annotations

import re
from typing import Final

from podpath.net.provenance import Source
from podpath.timeline.clock import Clock
from podpath.timeline.event import LineParts, Split
from podpath.timeline.formats import syslog
from podpath.timeline.lines import LineFormat, ReadStamp, stamps_in
from podpath.timeline.stamps import MONTHS, WallClock, parse_zone

_YUM: Final = re.compile(
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?=(?:Updated|Installed|Erased|Dep-Installed|Obsoleted|"
    r"Reinstalled): \S)"
)
_DNF: Final = re.compile(
    r"(?P<stamp>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[+-]\d\d:?\d\d|Z)) (?:SUBDEBUG|INFO|DEBUG|DDEBUG|"
    r"WARNING|ERROR|CRITICAL|DEBUG2) "
)
_LAST: Final = re.compile(
    r"(?P<package>(?=\S[^\s-]*+-\S[^\s-]*+-\S)\S++) +[A-Z][a-z]{2} (?:(?P<day>[ \d]?\d) "
    r"(?P<month>[A-Z][a-z]{2})|(?P<month2>[A-Z][a-z]{2}) +(?P<day2>\d{1,2})) "
    r"(?:(?P<year>\d{4}) )?(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?: (?P<half>AM|PM))?"
    r"(?: (?P<zone>[A-Z]{2,5}))?(?: (?P<year2>\d{4}))?\s*$"
)


def _stamp_last(source: Source, clock: Clock) -> ReadStamp:
    del source
    wall = WallClock(clock.zone)

    def read(line: str) -> float | None:
        found = _LAST.match(line)
        if found is None:
            return None
        month = MONTHS.get(found["month"] or found["month2"])
        year = found["year"] or found["year2"]
        if month is None or year is None:
            return None
        hour = int(found["hour"])
        if found["half"]:
            hour = hour % 12 + (12 if found["half"] == "PM" else 0)
        date = (int(year), month, int(found["day"] or found["day2"]))
        zone = parse_zone(found["zone"] or "")
        return (wall if zone is None else WallClock(zone)).place(
            date, hour, int(found["minute"]), float(found["second"])
        )

    return read


def _split_yum(_: Source) -> Split:
    return lambda line: LineParts("yum", line[16:])


def _split_dnf(_: Source) -> Split:
    def take_apart(line: str) -> LineParts:
        found = _DNF.match(line)
        return LineParts("dnf", line[found.end() :] if found is not None else line)

    return take_apart


def _split_last(_: Source) -> Split:
    return lambda line: LineParts("rpm", f"Installed: {line.split(maxsplit=1)[0]}")


YUM = LineFormat(
    "yum log", _YUM, syslog.FORMAT.stamp, _split_yum, yearless=True, of_node=True, sparse=True
)
DNF = LineFormat(
    "dnf log", _DNF, stamps_in(_DNF), _split_dnf, wraps=True, of_node=True, sparse=True
)
LAST = LineFormat("rpm -qa --last", _LAST, _stamp_last, _split_last, of_node=True, sparse=True)

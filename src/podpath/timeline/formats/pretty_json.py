"""Logs of JSON objects over several lines: `journalctl -o json-pretty`, exports of log stores."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from podpath.evidence.json_objects import InvalidJson, scan_objects
from podpath.net.provenance import Gap, Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogEvent, LogReading
from podpath.timeline.formats import journal_json, json_lines
from podpath.timeline.formats.block import close_account

_OPEN: Final = re.compile(r"\s*[\[{]\s*$")
_FIELD: Final = re.compile(r'\s{1,8}"(?:time|ts|timestamp|@timestamp|__REALTIME_TIMESTAMP)" ?:')
_SAID: Final = re.compile(
    r'\s{1,8}"(?:msg|message|log|event|MESSAGE|text|error|level|severity)" ?:', re.IGNORECASE
)
"""What an entry says; an object with a time and none of these is a file's head, as a bundle's."""
_KEYS: Final = ("time", "ts", "timestamp", "@timestamp")
_JOURNAL: Final = "__REALTIME_TIMESTAMP"


def recognise(lines: Sequence[str]) -> float:
    """Recognize an object that is opened on a line of its own, a time and what it says in it."""
    opened = _OPEN.match(lines[0]) is not None
    told = opened and any(_SAID.match(line) for line in lines)
    if told and any(_FIELD.match(line) for line in lines):
        return 0.9
    return 0.0


def read(source: Source, clock: Clock) -> LogReading:
    """Read the objects; one without a time of its own is a gap."""
    stamp = json_lines.FORMAT.stamp(source, clock)
    split = json_lines.FORMAT.split(source)
    events: list[LogEvent] = []
    gaps: list[Gap] = []
    for item in scan_objects(source):
        span = Span(source, source.first_line + item.first, source.first_line + item.last)
        if isinstance(item, InvalidJson):
            gaps.append(Gap(span, item.why))
            continue
        fields = {key: item.value[key] for key in (*_KEYS, _JOURNAL) if key in item.value}
        line = json.dumps(item.value)
        if _JOURNAL in fields:
            time = journal_json.FORMAT.stamp(source, clock)(json.dumps(fields))
            parts = journal_json.take_apart(line)
        else:
            time, parts = stamp(json.dumps(fields)), split(line)
        if time is None:
            gaps.append(Gap(span, "expected an entry of a log with its time, saw none"))
        else:
            events.append(LogEvent(time, span, parts.program, parts.message, parts.host))
    return close_account(source, events, gaps)

"""Logs of JSON objects over several lines."""

from __future__ import annotations

import json

from podpath.timeline.clock import Clock
from podpath.timeline.event import LogReading
from podpath.timeline.formats.table import read_log, recognise_log
from tests.timeline.samples import NOW, at, source


def read(text: str) -> LogReading:
    """Read a text as the log that it is recognized for."""
    reading = read_log(source(text), Clock(now=NOW))
    assert reading is not None
    return reading


def test_the_journal_as_pretty_json() -> None:
    """`journalctl -o json-pretty` prints one object after another, each an event with its lines."""
    entry = {
        "__REALTIME_TIMESTAMP": "1741772943500000",
        "_HOSTNAME": "n7",
        "SYSLOG_IDENTIFIER": "tuned",
        "MESSAGE": "applied",
    }
    text = json.dumps(entry, indent=8)
    reading = read(f"{text}\n{text}")

    assert [("n7", "tuned", "applied", at("09:49:03") + 0.5)] * 2 == [
        (event.host, event.program, event.message, event.time) for event in reading.events
    ]
    assert [(1, 6), (7, 12)] == [(one.span.line, one.span.last_line) for one in reading.events]


def test_an_export_of_a_log_store() -> None:
    """An array of entries with times is a log; an entry without one is a gap."""
    entries = [
        {"timestamp": "2025-03-12T09:49:03Z", "message": "lost", "logger": "pool"},
        {"message": "no time"},
    ]
    reading = read(json.dumps(entries, indent=2))

    assert [("pool", "lost", at("09:49:03"))] == [
        (event.program, event.message, event.time) for event in reading.events
    ]
    assert 1 == len(reading.gaps)


def test_objects_of_kubernetes_are_no_log() -> None:
    """A time below the top of an object, or of its creation, makes no log."""
    pod = {"kind": "Pod", "metadata": {"creationTimestamp": "2025-03-12T09:49:03Z"}}

    assert recognise_log(source(json.dumps(pod, indent=4))) is None


def test_a_manifest_with_a_time_is_no_log() -> None:
    """The head of a bundle says when it was taken, and nothing that happened then."""
    manifest = {"format": "podpath/bundle/v1", "node": "n7", "time": 1741772943.5}

    assert recognise_log(source(json.dumps(manifest, indent=1))) is None

"""Logs of one JSON object on each line."""

from __future__ import annotations

import pytest

from podpath.timeline.clock import Clock
from podpath.timeline.formats.table import read_log, recognise_log
from tests.timeline.samples import NOW, source

MOMENTS = [
    '{"level":"info","ts":1644544143.1,"msg":"started"}',
    '{"msg":"started","createdTime":"2022-02-11T01:49:03Z"}',
    '{"msg":"started","uptime":4294967295,"event_time":1644544143}',
    '{"timeMillis":1644544143250,"level":"INFO","message":"started"}',
]
DURATIONS = [
    '{"ifname":"lo","addr_info":[{"local":"127.0.0.1","valid_life_time":4294967295}]}',
    '{"name":"n1","uptime":4294967295}',
    '{"name":"n1","lifeTime":4294967295}',
]


@pytest.mark.parametrize(
    ("line", "is_log"), [*((m, True) for m in MOMENTS), *((d, False) for d in DURATIONS)]
)
def test_an_entry_has_a_moment(line: str, *, is_log: bool) -> None:
    """How long something lasts or has been up is none: what `ip -j addr` prints is no log."""
    assert is_log is (recognise_log(source(f"{line}\n" * 3)) is not None)


@pytest.mark.parametrize(
    "line",
    [
        '{"instant":{"epochSecond":1644544143,"nanoOfSecond":250000000},"message":"started"}',
        '{"timestamp":{"seconds":1644544143,"nanos":250000000},"message":"started"}',
        '{"timeMillis":1644544143250,"message":"started"}',
    ],
)
def test_a_moment_in_two_numbers(line: str) -> None:
    """Seconds and what is beyond them in nanoseconds, as log4j and Google's libraries write them,
    are one moment.
    """
    reading = read_log(source(line), Clock(now=NOW))
    assert reading is not None

    assert [(event.time, event.message) for event in reading.events] == [(1644544143.25, "started")]

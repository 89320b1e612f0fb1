"""Variants of formats: other options of a tool, other orders of fields."""

from __future__ import annotations

import pytest

from podpath.timeline.clock import Clock
from podpath.timeline.event import LogReading
from podpath.timeline.formats.table import read_log
from tests.timeline.samples import NOW, at, source


def read(text: str) -> LogReading:
    """Read a text as the log that it is recognized for."""
    reading = read_log(source(text, "log"), Clock(now=NOW))
    assert reading is not None
    return reading


@pytest.mark.parametrize(
    ("text", "program", "message"),
    [
        ('data: {"__REALTIME_TIMESTAMP":"1741772943500000","_COMM":"tuned","MESSAGE":"hi"}',
         "tuned", "hi"),
        ('\x1e{"__REALTIME_TIMESTAMP":"1741772943500000","_COMM":"tuned","MESSAGE":"hi"}',
         "tuned", "hi"),
        ('{"t":{"$date":"2025-03-12T09:49:03.500Z"},"msg":"Connection refused","attr":{"remote":"10.0.0.1:27017"}}',  # noqa: E501
         "", 'Connection refused {"remote": "10.0.0.1:27017"}'),
        ('{"resourceLogs":[{"logRecords":[{"timeUnixNano":"1741772943500000000"}]}]}',
         "", '{"resourceLogs":[{"logRecords":[{"timeUnixNano":"1741772943500000000"}]}]}'),
        ('logger=settings t=2025-03-12T09:49:03.5Z level=info msg="Starting Grafana"',
         "settings", "Starting Grafana"),
        ('level=warn caller="a b.go:1" ts=1741772943.5 msg=slow', "", "slow"),
        ("2025-03-12T09:49:03.500+0000 I NETWORK  [conn1] refused", "",
         "I NETWORK  [conn1] refused"),
        ('web-1.example.com - - [12/Mar/2025:09:49:03 +0000] "GET / HTTP/1.1" 504 1', "",
         'web-1.example.com "GET / HTTP/1.1" 504 1'),
    ],
)  # fmt: skip
def test_other_spellings(text: str, program: str, message: str) -> None:
    """MongoDB, OpenTelemetry, logfmt in any order, JSON of the journal for streams."""
    (event,) = read(text).events

    assert (program, message) == (event.program, event.message)
    assert abs(event.time - at("09:49:03")) <= 0.5


def test_the_ring_buffer_for_people() -> None:
    """`dmesg -H` and `--reltime` print the minute once, and what passed since the line above."""
    reading = read(
        "[Mar 2 09:48] Linux version 6.12\n[  +0.250000] eth0: link is down\n"
        "[Mar12 09:49] eth0: link is up\n[ +58.000000] eth0: link is down\n[Mar12 09:50] end"
    )

    assert [
        at("09:48:00", "2025-03-02"),
        at("09:48:00", "2025-03-02") + 0.25,
        at("09:49:00"),
        at("09:49:58"),
        at("09:50:00"),
    ] == list(reading.times)
    assert {"kernel"} == {event.program for event in reading.events}


def test_the_ring_buffer_with_deltas() -> None:
    """`dmesg -d` shows what passed since the line above in the same brackets."""
    (event,) = read("[Wed Mar 12 09:49:03 2025 <    0.000120>] eth0: link is up").events

    assert (at("09:49:03"), "eth0: link is up") == (event.time, event.message)
    assert "link" == read("[  812.500000 <    0.000120>] link").events[0].message

"""Events that are taken apart when they are asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.net.provenance import Source, Span
from podpath.timeline.clock import Clock
from podpath.timeline.event import LogReading
from podpath.timeline.formats.table import LOG_FORMATS, read_log

CLOCK = Clock(
    now=datetime(2025, 3, 20, 12, tzinfo=UTC).timestamp(),
    printed=1742472000.0,
    boots=(1742000000.0,),
)
LINES = (
    "Mar 12 09:49:03 node-7 systemd[1]: Stopping Dynamic System Tuning Daemon...",
    "Dec 31 23:59:59 n kernel: [1.0] x",
    "last message repeated 3 times",
    "Mar 12 09:49:03 n rsyslogd: last message repeated 9 times",
    "2025-03-12T09:49:03.250000+08:00 node-7 tuned[77]: done",
    "Wed 2025-03-12 09:49:03 UTC node-7 systemd[1]: Reloading.",
    '<34>1 2025-03-12T09:49:03.003+01:00 node-7 su - ID47 [x@1 a="b ] c"] failed',
    "W0312 01:12:52.815335       1 l.go:286] failed",
    "2025-03-12T01:49:03.123456789Z stderr F dial tcp",
    'time="2025-03-12T01:49:03Z" level=info msg="a b" subsys=c',
    '{"level":"error","ts":1741744143.5,"msg":"lost"}',
    '{"__REALTIME_TIMESTAMP":"1741744143500000","MESSAGE":"x"}',
    "type=SERVICE_STOP msg=audit(1741744143.120:421): unit=tuned",
    "2025-03-12 09:48:58 upgrade polkitd:amd64 1 2",
    "Mar 12 09:48:58 Updated: polkit-0.112-26.el7.x86_64",
    "[Wed Mar 12 09:49:03 2025] eth0: down",
    "[  12.500000] eth0: down",
    "polkit-0.112-26.el7.x86_64      Wed 12 Mar 2025 09:48:58 PM CST",
    "    42 | update polkit | 2025-03-12 09:48 | Update | 1",
    "Start-Date: 2025-03-12  09:48:58",
    "Upgrade: polkitd:amd64 (1, 2), tuned:all (3, 4)",
    "End-Date: 2025-03-12  09:49:10",
    "__REALTIME_TIMESTAMP=1741744143500000",
    "MESSAGE=applied",
    "4s  Warning  Unhealthy  pod/pg-0  Readiness probe failed: timeout",
    "  Warning  Unhealthy  4s (x3 over 5m)  kubelet  Readiness probe failed",
    "Name:  pg-0",
    "- involvedObject:",
    "    kind: Pod",
    '  lastTimestamp: "2025-03-12T01:49:03Z"',
    '{"items": [{"involvedObject": {"kind": "Pod"}, "lastTimestamp": "2025-03-12T01:49:03Z"}]}',
    "",
    "\tat x.go",
    "goroutine 1",
    "-- Reboot --",
    "nothing of the kind",
    "Wed Mar 12 09:49:03 UTC 2025 curl: (28) timed out",
    '10.4.0.9 - - [12/Mar/2025:09:49:03 +0800] "GET / HTTP/1.1" 504 167',
)


def covered(reading: LogReading) -> list[int]:
    """Return the numbers of all lines that the account has, those that several events share
    once.
    """
    events = {span for event in reading.events for span in [event.span]}
    spans: list[Span] = [*events, *(gap.span for gap in reading.gaps), *reading.headings]
    return sorted(number for span in spans for number in range(span.line, span.last_line + 1))


def check_account(source: Source, reading: LogReading) -> None:
    """Every line that is not blank belongs to exactly one event, gap or heading, and the times are
    the events'.
    """
    lines = {source.first_line + index for index, line in enumerate(source.lines) if line.strip()}
    found = covered(reading)

    assert lines <= set(found)
    assert len(found) == len(set(found))
    assert [str(time) for time in reading.times] == [str(event.time) for event in reading.events]


@st.composite
def logs(draw: st.DrawFn) -> Source:
    """Return lines of logs of all formats mixed, some of them damaged."""
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=12))
    text = "\n".join(lines)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(text)))
        noise = draw(
            st.one_of(
                st.just(""),
                st.sampled_from(["99", "\n", '"', "{", "]", "\x00", "\ufffd", "٣", ":", " "]),
                st.text(max_size=3),
            )
        )
        text = text[:place] + noise + text[place + draw(st.integers(0, 5)) :]
    return Source(
        name=draw(st.sampled_from(("messages", "kubelet.log"))),
        lines=tuple(text.split("\n")),
        first_line=draw(st.integers(1, 9)),
    )


@given(logs())
@settings(max_examples=400)
def test_readers_never_raise_and_account_for_every_line(source: Source) -> None:
    """Whatever the lines are, the log is read, and each line is an event's, a gap's or a
    heading's.
    """
    reading = read_log(source, CLOCK)
    if reading is not None:
        check_account(source, reading)


@given(logs(), st.sampled_from(LOG_FORMATS))
@settings(max_examples=400)
def test_every_format_takes_any_lines(source: Source, row: object) -> None:
    """A reader that is given another format's lines does not raise, and accounts for them."""
    chosen = next(one for one in LOG_FORMATS if one is row)
    check_account(source, chosen.read(source, CLOCK))


@given(st.lists(st.text(max_size=60), max_size=6), st.sampled_from(LOG_FORMATS))
@settings(max_examples=300)
def test_any_text_is_read(lines: list[str], row: object) -> None:
    """Text that nobody meant as a log is read without an error."""
    chosen = next(one for one in LOG_FORMATS if one is row)
    source = Source(name="x", lines=tuple(line.replace("\n", " ") for line in lines))
    check_account(source, chosen.read(source, CLOCK))


def test_a_slice_of_events() -> None:
    """Events are a sequence: indices from the end and slices work, and one past the end is an
    error.
    """
    source = Source(
        name="messages", lines=tuple(f"Mar 12 09:49:0{second} n a: {second}" for second in range(4))
    )
    reading = read_log(source, CLOCK)
    assert reading is not None

    assert ["3", "1", "2"] == [
        reading.events[-1].message,
        *(event.message for event in reading.events[1:3]),
    ]
    with pytest.raises(IndexError):
        reading.events[4]

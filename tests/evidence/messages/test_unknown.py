"""Errors that no row of the table knows are kept: each once, by what it says, and few of a
source.
"""

from __future__ import annotations

import pytest

from podpath.evidence.messages.unknown import MOST, find_unknown
from podpath.evidence.recognition import read
from podpath.evidence.records import MessageRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source


def unknown(*lines: str) -> list[tuple[str | None, str]]:
    """Return the program and the words of the errors that no row knows."""
    records = find_unknown(Source(name="log", lines=lines), ())
    return [(record.values.get("program"), record.values["text"]) for record in records]


@pytest.mark.parametrize(
    ("line", "program", "text"),
    [
        (
            "E0109 03:12:44.000000  900 pod_workers.go:965] Error syncing pod, skipping",
            None,
            "Error syncing pod, skipping",
        ),
        (
            'time="2024-01-09" level=error msg="handler for POST returned: \\"x\\""',
            None,
            'handler for POST returned: \\"x\\"',
        ),
        ('{"level":"fatal","ts":1,"msg":"cannot claim the ring"}', None, "cannot claim the ring"),
        (
            "2024/01/09 03:12:44 [emerg] 1#1: the worker is not amused",
            None,
            "1#1: the worker is not amused",
        ),
        (
            "Jan  9 03:12:44 node1 wibbled[12]: error: the wobble is gone",
            "wibbled",
            "error: the wobble is gone",
        ),
        ("2024-01-09T03:12:44Z|00012|bridge|ERR|no wobble", None, "no wobble"),
    ],
)
def test_an_error_that_no_row_knows_is_kept(line: str, program: str | None, text: str) -> None:
    """By its level, in whatever way a log tells levels."""
    assert unknown(line) == [(program, text)]


def test_of_many_unknown_errors_the_first_are_kept_and_each_once() -> None:
    """Lines that differ in their numbers alone are one."""
    lines = [f'level=error msg="try {number} of {"x" * (number % 40)}"' for number in range(500)]
    assert len(unknown(*lines)) == MOST
    assert len(unknown('level=error msg="try 1"', 'level=error msg="try 2"')) == 1


def test_a_log_keeps_what_it_does_not_know() -> None:
    """An error of a log that no row knows is a record, and one that a row knows is that one
    alone.
    """
    lines = (
        "Jan  9 03:12:44 node1 wibbled[12]: error: no wobble",
        "Jan  9 03:12:45 node1 dhclient[9]: send_packet: Network is down",
    )
    reading = read(Source(name="log", lines=lines, command="journalctl"))
    assert reading is not None
    told = {
        record.kind: record.span.line
        for record in reading.records
        if isinstance(record, MessageRecord)
    }
    assert told == {MessageKind.UNKNOWN_ERROR: 1, MessageKind.NETWORK_DOWN: 2}

"""The journal with all its fields: `-o verbose` beside `-o export`."""

from __future__ import annotations

from podpath.timeline.clock import Clock
from podpath.timeline.formats.table import read_log, recognise_log
from tests.timeline.samples import NOW, at, source

VERBOSE = """\
Wed 2025-03-12 09:49:03.500000 UTC [s=5d1f;i=2a1;b=77;m=1f;t=6;x=9]
    PRIORITY=6
    _HOSTNAME=n7
    SYSLOG_IDENTIFIER=tuned
    MESSAGE=applied

Wed 2025-03-12 09:49:04.000000 CET [s=5d1f;i=2a2;b=77;m=1f;t=6;x=9]
    _HOSTNAME=n7
    _COMM=kubelet
    MESSAGE=started"""


def test_the_journal_as_verbose() -> None:
    """Each entry is an event at the time above its fields, which may name a zone."""
    row = recognise_log(source(VERBOSE))
    reading = read_log(source(VERBOSE), Clock(now=NOW))
    assert row is not None
    assert reading is not None

    assert "journalctl -o verbose" == row.name
    assert [
        (at("09:49:03") + 0.5, "n7", "tuned", "applied"),
        (at("08:49:04"), "n7", "kubelet", "started"),
    ] == [(one.time, one.host, one.program, one.message) for one in reading.events]
    assert ([(1, 5), (7, 10)], ()) == (
        [(one.span.line, one.span.last_line) for one in reading.events],
        reading.gaps,
    )

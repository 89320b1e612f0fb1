"""What `date` prints."""

from __future__ import annotations

from datetime import datetime

import pytest

from podpath.evidence.kernel.date import FORMAT
from podpath.evidence.records import StatementRecord
from podpath.net.statements import ClockRead
from tests.evidence.consoles import block, read


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Thu Feb 15 09:30:01 UTC 2024", "date"),
        ("Thu Feb 15 09:30:01 AM UTC 2024", "date"),
        ("2024-02-15T09:30:01+00:00", "date -Is"),
    ],
)
def test_the_clock_is_read(text: str, command: str) -> None:
    """In each of its forms."""
    reading = read(block(text, command))

    stated = [one.statement for one in reading.records if isinstance(one, StatementRecord)]
    assert stated == [ClockRead(datetime(2024, 2, 15, 9, 30, 1))]  # noqa: DTZ001  # a wall clock
    assert not reading.gaps


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Thu Feb 15 09:30:01 UTC 2024", "journalctl -n 1"),
        ("Thu Feb 15 09:30:01 UTC 2024\ncurl: (7) Failed to connect", "date; curl 10.0.0.1"),
        ("date: invalid option", "date"),
    ],
)
def test_a_line_of_a_log_is_no_clock(text: str, command: str) -> None:
    """Nor is what several commands print."""
    assert FORMAT.recognise(block(text, command)) == 0

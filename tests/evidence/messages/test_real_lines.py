"""A line is known behind whatever a log puts before it, and broken by a terminal; healthy lines say
nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.evidence.messages.table import find_messages
from podpath.evidence.messages.unknown import find_unknown
from podpath.net.messages import DAILY_LIFE, MessageKind
from podpath.net.provenance import Source
from tests.evidence.messages.spellings import SPELLINGS

INNOCENT = tuple(Path(__file__).with_name("innocent.txt").read_text(encoding="utf-8").splitlines())
"""Lines of healthy hosts, with the words of faults in some."""
PREFIXES = ("> ", "  ", "2024-01-09T03:12:44.000Z stderr F ", "\tlog: ")
BROKEN = 80
"""Columns of a terminal."""


def kinds(*lines: str) -> set[MessageKind]:
    """Return what lines say."""
    return {record.kind for record in find_messages(Source(name="log", lines=lines))}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_line_is_known_behind_what_logs_put_before_it(prefix: str) -> None:
    """A quotation, an indentation and a container's log change nothing, but for lines that are
    known by their beginning.
    """
    lost = [one.line for one in SPELLINGS if one.kind not in kinds(prefix + one.line)]
    assert len(lost) <= len(SPELLINGS) // 100


def test_a_line_that_a_terminal_broke_is_known_and_quoted_whole() -> None:
    """Two lines that were one say what it said."""
    text = (
        "Oct  3 10:00:00 node1 dockerd[9]: failed to add the network web: failed to lookup master "
        '"eth9.1234": Link not found'
    )
    (record,) = find_messages(
        Source(name="log", lines=(text[:BROKEN], text[BROKEN:], "all is well"), first_line=5)
    )
    assert (record.kind, record.span.line, record.span.last_line) == (
        MessageKind.MASTER_DEVICE_MISSING,
        5,
        6,
    )


@pytest.mark.parametrize("line", INNOCENT, ids=lambda line: line[:50])
def test_a_healthy_line_says_nothing(line: str) -> None:
    """What works is no message of a fault, whatever words it uses."""
    assert kinds(line) <= {MessageKind.DEVICE_TAKEN, MessageKind.PROGRAM_STARTED, *DAILY_LIFE}
    assert list(find_unknown(Source(name="log", lines=(line,)), ())) == []

"""Where logs stand in what is given: a file that is one log, or the logs that are pasted into a
ticket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.evidence.documents.document import split_document
from podpath.evidence.files import has_console_marks
from podpath.net.provenance import Source
from podpath.timeline.formats.table import LEAST, fit_log, recognise_log

MANY_LINES = 5000
"""A file that long is a log if its beginning is: a ticket is shorter."""
MOSTLY = 0.7
"""The share of lines that makes a file one log: below, it may be prose with several logs pasted
into it.
"""


def find_logs(source: Source) -> tuple[Source, ...]:
    """Return the logs of a file: the file as a whole, or those of its blocks that are logs; none
    where there are none.
    """
    source = _strip_terminal(source)
    share, _ = fit_log(source)
    if len(source.lines) > MANY_LINES or (
        share >= MOSTLY and not has_console_marks("\n".join(_take_text(source.lines)))
    ):
        return (source,) if share >= LEAST else ()
    blocks = split_document(source.name, source.lines)
    found = [block for block in blocks if recognise_log(block) is not None]
    within = sum(len(block.lines) for block in found)
    if share >= LEAST and within < share * len(source.lines) / 2:
        return (source,)
    return tuple(replace(block, taken_at=block.taken_at or source.taken_at) for block in found)


def _take_text(lines: Sequence[str]) -> Iterator[str]:
    """Leave out directives of a log (`#Fields: date time`), which look like a prompt."""
    return (line for line in lines if line[:1] != "#" or line[1:2] in {"", " "})


_TERMINAL = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


def _strip_terminal(source: Source) -> Source:
    """Take out what moves a terminal's cursor and colors its text."""
    if not any("\x1b[" in line for line in source.lines):
        return source
    return replace(source, lines=tuple(_TERMINAL.sub("", line) for line in source.lines))

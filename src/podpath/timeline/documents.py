"""Where logs stand in what is given: a file that is one log, or the logs that are pasted into a
ticket.
"""

from __future__ import annotations

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
    share, _ = fit_log(source)
    if len(source.lines) > MANY_LINES or (
        share >= MOSTLY and not has_console_marks("\n".join(source.lines))
    ):
        return (source,) if share >= LEAST else ()
    blocks = split_document(source.name, source.lines)
    found = [block for block in blocks if recognise_log(block) is not None]
    if not found and share >= LEAST:
        return (source,)
    return tuple(replace(block, taken_at=block.taken_at or source.taken_at) for block in found)

"""Reads `date`: what the host's clock showed when the outputs around it were printed."""

from __future__ import annotations

from podpath.evidence.commands.shells import parse_shell
from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.dates import find_date
from podpath.net.provenance import Source
from podpath.net.statements import ClockRead


def recognise(source: Source) -> int:
    """Recognize the one line that `date` prints, by its command."""
    steps = parse_shell(source.command or "")
    lines = [line for line in source.lines if line.strip()]
    asked = any(step.program == "date" for step in steps)
    return CERTAIN if asked and len(lines) == 1 and find_date(lines[0]) is not None else NO


def read(source: Source) -> Reading:
    """Read its date and time."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        moment = find_date(line)
        if moment is not None:
            ledger.add(StatementRecord(span=ledger.span(index), statement=ClockRead(moment)))
    return ledger.close("a date")


FORMAT = Format("date", recognise, read)

"""`networkctl status DEVICE`: the file by which networkd configures a device, and how far it is."""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source, Span
from podpath.net.statements import DeviceManager, ManagedDevice

_HEADING = re.compile(r"\s*(?:[●○*×x]\s*)?\d+: (?P<link>[A-Za-z][\w.@-]{0,30})\s*$")
_FIELD = re.compile(r"\s*(?P<name>[A-Z][\w ()/-]{1,40}): ?(?P<value>.*?)\s*$")
_FILE = re.compile(r"\s*(?:Link|Network) File: ")
_MORE = re.compile(r"\s{8,}\S|[A-Z][a-z]{2} \d{2} \d\d:\d\d:\d\d ")
"""A further value of the field above, or a line of the log below."""
_STATE = re.compile(r"(?P<operational>[\w-]+)(?: \((?P<setup>[\w-]+)\))?")
_EXPECTED = "a field of a device"


def recognise(source: Source) -> int:
    """Recognize a device's number and name above the file of its link or network."""
    lines = sample(source)
    headed = any(_HEADING.match(line) for line in lines[:2])
    return CERTAIN if headed and any(_FILE.match(line) for line in lines[:4]) else NO


def read(source: Source) -> Reading:
    """Read each device with its setup state and the file that matches it."""
    ledger = Ledger(source)
    headed: tuple[int, str] | None = None
    fields: dict[str, str] = {}
    for index, line in plain_lines(source):
        heading = _HEADING.match(line)
        found = _FIELD.match(line)
        if heading is not None:
            _close(ledger, headed, fields)
            headed, fields = (index, heading["link"]), {}
            ledger.head(index)
        elif _MORE.match(line) and (found is None or line.lstrip()[:1].islower()):
            ledger.head(index)
        elif found is not None:
            fields.setdefault(found["name"].strip(), found["value"])
            ledger.head(index)
    _close(ledger, headed, fields)
    return ledger.close(_EXPECTED)


def _close(ledger: Ledger, headed: tuple[int, str] | None, fields: dict[str, str]) -> None:
    """Keep a device whose state is shown."""
    state = _STATE.match(fields.get("State", ""))
    if headed is None or state is None:
        return
    file = fields.get("Network File", "")
    statement = ManagedDevice(
        DeviceManager.NETWORKD,
        parse_name(headed[1]),
        state["setup"] or "",
        state["operational"],
        "" if file == "n/a" else file,
    )
    ledger.add(StatementRecord(span=_span_of(ledger.source, headed[0]), statement=statement))


def _span_of(source: Source, first: int) -> Span:
    """Return the lines from a device's heading to its state: they name the device, its file, and
    what networkd makes of it.
    """
    wanted = (
        index
        for index, line in enumerate(source.lines[first:], first)
        if line.lstrip().startswith("State: ")
    )
    return Span(source, source.first_line + first, source.first_line + next(wanted, first))


FORMAT = Format("managed device", recognise, read)

"""/etc/iproute2/rt_tables and the files of rt_tables.d: names of routing tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

_ROW = re.compile(
    r"\s*(?P<number>\d{1,10}|0x[0-9A-Fa-f]{1,8})\s+(?P<name>[A-Za-z][\w.-]*)\s*(?:#.*)?$"
)
_COMMENT = re.compile(r"\s*#")
_BUILT_IN = {"255": "local", "254": "main", "253": "default"}
_EXPECTED = "a number and the name of a routing table"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableNameRecord(Record):
    """One name of a routing table."""

    number: int
    name: str


def recognise(source: Source) -> int:
    """Recognize the file by its name, or by the rows that every such file has."""
    lines = [line for line in sample(source) if not _COMMENT.match(line)]
    rows = [found for line in lines if (found := _ROW.match(line)) is not None]
    if not rows or len(rows) < len(lines):
        return NO
    named = "rt_tables" in f"{source.name} {source.command or ''}"
    own = any(_BUILT_IN.get(row["number"]) == row["name"] for row in rows)
    if named or own:
        return CERTAIN
    return LIKELY if len(rows) > 1 and "iproute2" in (source.command or "") else NO


def read(source: Source) -> Reading:
    """Read names and numbers; comments state nothing."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        found = _ROW.match(line)
        if found is not None:
            ledger.add(
                TableNameRecord(
                    span=ledger.span(index), number=int(found["number"], 0), name=found["name"]
                )
            )
        elif _COMMENT.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


FORMAT = Format("rt_tables", recognise, read)

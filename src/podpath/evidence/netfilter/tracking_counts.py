"""Reads `conntrack -S`: what connection tracking counted, summed over the processors."""

from __future__ import annotations

import re
from collections import Counter

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.firewall import TrackingCount
from podpath.net.provenance import Source

_LINE = re.compile(r"\s*cpu=\d+\s+(?:\w+=\d+\s*)+")
_COUNT = re.compile(r"(\w+)=(\d+)")


def recognise(source: Source) -> int:
    """Recognize a processor's line."""
    return (
        CERTAIN
        if any(_LINE.fullmatch(line) and "insert" in line for line in sample(source))
        else NO
    )


def read(source: Source) -> Reading:
    """Read each counter that is not zero: its record stands at the line that has most of it."""
    ledger = Ledger(source)
    sums: Counter[str] = Counter()
    most: dict[str, tuple[int, int]] = {}
    for index, line in enumerate(source.lines):
        if not _LINE.fullmatch(line):
            continue
        ledger.head(index)
        for name, text in _COUNT.findall(line):
            value = int(text)
            sums[name] += value
            if value > most.get(name, (0, 0))[0]:
                most[name] = (value, index)
    for name, (_, index) in most.items():
        if name != "cpu":
            ledger.add(
                StatementRecord(span=ledger.span(index), statement=TrackingCount(name, sums[name]))
            )
    return ledger.close("counters of a processor")


FORMAT = Format("conntrack -S", recognise, read)

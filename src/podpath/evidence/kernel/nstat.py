"""`nstat`, as text and as JSON: the kernel's counters of one network namespace, which say how often
something happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

_JSON = re.compile(r'\s*\{\s*"kernel"\s*:\s*\{')
_HEADING = re.compile(r"#kernel\s*$")
_COUNTER = re.compile(
    r"(?P<name>(?:Ip|Icmp|Tcp|Udp|Sctp|MPTcp)\w*+)\s++(?P<value>\d++)\s++[\d.]++\s*+$"
)
_PAIR = re.compile(r'"(?P<name>\w++)"\s*+:\s*+(?P<value>\d++)')
_FRAME = re.compile(r'\s*+(?:[{}]\s*+|"kernel"\s*+:\s*+\{\s*+)+$')
"""Lines of the JSON that hold no counter, where it is printed on several."""
_EXPECTED = "a counter of the kernel"


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRecord(Record):
    """One counter of the namespace."""

    name: str
    """As nstat spells it: `TcpExtIPReversePathFilter`."""
    value: int
    """Since the namespace was made; with `nstat` alone, since it was asked last."""


def recognise(source: Source) -> int:
    """Recognize the JSON's only key, the heading of the text, or counters alone, as grep leaves
    them.
    """
    lines = sample(source)
    if not lines:
        return NO
    if _JSON.match("".join(lines[:2])) or _HEADING.match(lines[0]):
        return CERTAIN
    return CERTAIN if all(_COUNTER.match(line) for line in lines) else NO


def read(source: Source) -> Reading:
    """Read every counter; the JSON has them all on one line, or one on each."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        found = [*_find(line)]
        if found:
            span = ledger.span(index)
            for name, value in found:
                ledger.add(CounterRecord(span=span, name=name, value=int(value)))
        elif _HEADING.match(line) or _FRAME.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _find(line: str) -> Iterator[tuple[str, str]]:
    plain = _COUNTER.match(line)
    if plain is not None:
        yield plain["name"], plain["value"]
    else:
        yield from _PAIR.findall(line)


FORMAT = Format("nstat", recognise, read, decides=False)

"""`nstat -j`: the kernel's counters, which say how often something happened, and nothing of how the node stands.

Its lines are claimed, so that no one is told that they could not be read; nothing is made of them.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.ledger import Ledger
from podpath.evidence.records import Reading
from podpath.net.provenance import Source

_JSON = re.compile(r'\s*\{\s*"kernel"\s*:\s*\{')
_HEADING = re.compile(r"#kernel\s*$")
_COUNTER = re.compile(r"(?:Ip|Icmp|Tcp|Udp)\w*+\s++\d++\s++[\d.]++\s*+$")
_PRETTY = re.compile(r'\s*+(?:[{}]\s*+|"kernel"\s*+:\s*+\{\s*+|"\w++"\s*+:\s*+\d++\s*+,?\s*+)$')
"""A line of the JSON as `jq` and some iproute2 print it, a counter on each."""
_EXPECTED = "a counter of the kernel"


def recognise(source: Source) -> int:
    """Recognise the JSON's only key, or the heading of the text."""
    lines = sample(source)
    return CERTAIN if lines and (_JSON.match("".join(lines[:2])) or _HEADING.match(lines[0])) else NO


def read(source: Source) -> Reading:
    """Claim every line that holds counters."""
    ledger = Ledger(source)
    shapes = (_JSON, _HEADING, _COUNTER, _PRETTY)
    for index, line in enumerate(source.lines):
        if any(shape.match(line) for shape in shapes):
            ledger.head(index)
    return ledger.close(_EXPECTED)


FORMAT = Format("nstat", recognise, read)

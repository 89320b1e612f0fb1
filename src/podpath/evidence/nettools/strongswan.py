"""`ipsec status` and `ipsec statusall`: for which ranges strongSwan has given the kernel policies
(`src/stroke`, `log_child_sa`), one line for each child: what is here, `===`, what is beyond.
"""

from __future__ import annotations

import re
from itertools import product

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import XfrmPolicyRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_prefix
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source

_CHILD = re.compile(r"\s*[\w.-]+\{\d+\}:\s+(?P<ranges>\S.*)$")
_BETWEEN = " === "
_MORE = re.compile(
    r"[\w.-]+(?:[\[{]\d+[\]}])?:\s+\S|\s|Connections|Listening IP addresses|Security Associations|"
    r"Routed Connections|Shunted Connections|Virtual IP pools|Status of IKE"
)
_RANGE = re.compile(r"(?<!\S)[^\s\[]+")
_EXPECTED = "a line of strongSwan's status"


def recognise(source: Source) -> int:
    """Recognize a line with the ranges of a child."""
    shown = any(_BETWEEN in line and _CHILD.match(line) is not None for line in sample(source))
    return CERTAIN if shown else NO


def read(source: Source) -> Reading:
    """Read each pair of ranges as an outgoing policy."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        child = _CHILD.match(line)
        if child is not None and _BETWEEN in line:
            _add(ledger, index, child["ranges"])
        elif _MORE.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _add(ledger: Ledger, index: int, ranges: str) -> None:
    here, _, beyond = ranges.partition(_BETWEEN)
    try:
        near = [parse_prefix(found) for found in _RANGE.findall(here)]
        far = [parse_prefix(found) for found in _RANGE.findall(beyond)]
    except ValueError as error:
        ledger.gap(index, str(error))
        return
    ledger.head(index)
    for src, dst in product(near, far):
        ledger.add(
            XfrmPolicyRecord(
                span=ledger.span(index, index), src=src, dst=dst, direction="out", action="allow"
            )
        )


FORMAT = Format("ipsec status", recognise, read)

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
_SHUNT = re.compile(r"\s(?:PASS|DROP)\s*$")
"""How a policy of no child ends: what it lets by, or drops, is no tunnel's."""
_EXPECTED = "a line of strongSwan's status"


def recognise(source: Source) -> int:
    """Recognize a line with the ranges of a child."""
    shown = any(_BETWEEN in line and _CHILD.match(line) is not None for line in sample(source))
    return CERTAIN if shown else NO


def read(source: Source) -> Reading:
    """Read each pair of ranges as an outgoing policy; a range of one protocol or port alone
    (`10.1.0.0/16[tcp/http]`) is a gap.
    """
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        child = _CHILD.match(line)
        if child is not None and _BETWEEN in line:
            _add(ledger, index, child["ranges"])
        elif _BETWEEN in line and _SHUNT.search(line):
            ledger.gap(index, "a policy that exempts a range from IPsec, which is not modeled")
        elif _MORE.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _add(ledger: Ledger, index: int, ranges: str) -> None:
    here, _, beyond = ranges.partition(_BETWEEN)
    try:
        near = [parse_prefix(found) for found in here.split()]
        far = [parse_prefix(found) for found in beyond.split()]
    except ValueError as error:
        ledger.gap(index, str(error))
        return
    ledger.head(index)
    pairs = [(src, dst) for src, dst in product(near, far) if src.family == dst.family]
    for src, dst in pairs:
        ledger.add(
            XfrmPolicyRecord(
                span=ledger.span(index, index), src=src, dst=dst, direction="out", action="allow"
            )
        )


FORMAT = Format("ipsec status", recognise, read)

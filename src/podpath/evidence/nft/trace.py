"""`nft monitor trace` and `xtables-monitor --trace`: the rules that packets matched. A line that
drops one becomes a message.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import strip_terminal
from podpath.net.provenance import Source

_LINE = re.compile(
    r"\s*(?:trace id [0-9a-f]+ (?:ip6?|inet|arp|bridge|netdev) \S+ \S+ (?:packet:|rule |policy |"
    r"verdict |unknown )|PACKET: \d+ [0-9a-f]+ |TRACE: \d+ [0-9a-f]+ [^\s:]+:[^\s:]+:(?:rule|"
    r"policy|return)\b)"
)
_EXPECTED = "a line of a packet's trace"


def recognise(source: Source) -> int:
    """Recognize lines that name a trace, a table and a chain."""
    return CERTAIN if share(sample(source), _LINE) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read the lines of traces; they state what became of packets, and no rule as it stands."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        if _LINE.match(strip_terminal(line)):
            ledger.head(index)
    return ledger.close(_EXPECTED)


FORMAT = Format("nft monitor trace", recognise, read, decides=False)

"""`arp -n` (a table) and `arp -an` (BSD style), and /proc/net/arp: neighbors as net-tools print
them.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample, share
from podpath.evidence.node_records import NeighbourRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_mac
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source, Span

_HEADING = re.compile(
    r"\s*(?:Address\s+HWtype\s+HWaddress\s+Flags|IP address\s+HW type\s+Flags\s+HW address)"
)
_TRAILER = re.compile(r"\s*(?:Entries:|arp: )")
_ADDRESS = r"(?P<address>[0-9A-Fa-fxX*]+(?:[.:][0-9A-Fa-fxX*]*)+)"
_MAC = r"(?P<mac>[0-9A-Fa-fxX*]{1,2}(?::[0-9A-Fa-fxX*]{1,2}){5})"
_ROW = re.compile(
    rf"\s*{_ADDRESS}\s+(?:(?P<missing>\(incomplete\))|(?:\w+|\*)\s+(?:{_MAC}|<from_interface>)\s+"
    r"(?P<flags>[A-Z]+))(?:\s+\S+)?\s+(?P<link>\S+)\s*$"
)
_BSD = re.compile(
    rf"\s*\S+\s+\({_ADDRESS}\)\s+at\s+(?:{_MAC}|(?P<missing><incomplete>|\(incomplete\))|"
    r"<from_interface>)(?P<rest>(?:\s+(?!on\s)\S+){0,4})\s+on\s+(?P<link>\S+)"
)
_PROC = re.compile(
    rf"\s*{_ADDRESS}\s+0x[0-9a-f]+\s+(?P<bits>0x[0-9a-f]+)\s+{_MAC}\s+\S+\s+(?P<link>\S+)\s*$"
)
_ATF_COM, _ATF_PERM, _ATF_PUBL = 0x02, 0x04, 0x08
"""include/uapi/linux/if_arp.h: complete, permanent, published."""
_EXPECTED = "an ARP entry"


def recognise(source: Source) -> int:
    """Recognize the heading, or rows of the table or of the BSD style."""
    lines = sample(source)
    if any(_HEADING.match(line) for line in lines[:3]):
        return CERTAIN
    return CERTAIN if max(share(lines, pattern) for pattern in (_ROW, _BSD, _PROC)) >= 0.5 else NO


def read(source: Source) -> Reading:
    """Read ARP entries."""
    ledger = Ledger(source)
    for index, line in plain_lines(source):
        if _HEADING.match(line) or _TRAILER.match(line):
            ledger.head(index)
            continue
        found = _ROW.match(line) or _BSD.match(line) or _PROC.match(line)
        if found is None:
            ledger.title(index)
            continue
        try:
            ledger.add(_parse_row(found, ledger.span(index)))
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _parse_row(found: re.Match[str], span: Span) -> NeighbourRecord:
    groups = found.groupdict()
    if groups.get("bits") is not None:
        bits = int(groups["bits"], 16)
        complete, permanent, published = (
            bool(bits & _ATF_COM),
            bool(bits & _ATF_PERM),
            bool(bits & _ATF_PUBL),
        )
    else:
        flags, rest = groups.get("flags") or "", groups.get("rest") or ""
        complete = groups.get("missing") is None
        permanent, published = "M" in flags or "PERM" in rest, "P" in flags or "PUB" in rest
    mac = groups["mac"]
    state = None if complete else "INCOMPLETE"
    if permanent:
        state = "PERMANENT"
    return NeighbourRecord(
        span=span,
        address=parse_address(groups["address"]),
        link=groups["link"],
        mac=parse_mac(mac) if mac is not None and complete else None,
        state=None if published else state,
        flags=("proxy",) if published else (),
    )


FORMAT = Format("arp", recognise, read)

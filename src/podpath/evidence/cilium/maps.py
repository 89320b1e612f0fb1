"""`cilium bpf lb list` (`cilium-dbg` since 1.15): the frontends of Cilium's load balancer with
their backends, as its maps hold them (pkg/maps/lbmap, Cilium 1.6 to 1.18).

Until 1.15 a frontend is printed once, above its backends; since 1.16 each line names it, with the
protocol and the slot.
"""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.node_records import CiliumFrontendRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.evidence.text.tokenizer import is_ellipsis
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.provenance import Source

_END = r"(?:\[[0-9a-fA-F:.]+\]|[0-9.]+):\d+(?:/\w+)?"
_ROW = re.compile(
    rf"(?P<front>{_END})?(?: \(\d+\))?\s+(?P<back>{_END}) \(\d+\)(?: \(\d+\))?"
    r"(?: \[(?P<flags>[^\]]*)\])?(?: \(L7LB Proxy Port: \d+\))?\s*$"
)
_HEAD = re.compile(r"SERVICE ADDRESS\s+BACKEND ADDRESS", re.IGNORECASE)
_PARTS = re.compile(r"\[?(?P<address>[^\]/]+?)\]?:(?P<port>\d+)(?:/(?P<protocol>\w+))?")


def recognise_frontends(source: Source) -> int:
    """Recognize the table by its head, or by its rows."""
    lines = sample(source)
    if lines and _HEAD.match(lines[0]):
        return CERTAIN
    rows = sum(_ROW.match(line) is not None for line in lines)
    return LIKELY if rows and rows == len(lines) else NO


def read_frontends(source: Source) -> Reading:
    """Read a record for each row; a row without a frontend belongs to the one above."""
    ledger = LineLedger(source)
    command = parse_command(source.command)
    headed = any(_HEAD.match(line) for line in ledger.lines[:3])
    cut = source.open_end or any(map(is_ellipsis, ledger.lines))
    whole = headed and not command.filters and not cut
    front: tuple[Address, int, int] | None = None
    for index, line in enumerate(ledger.lines):
        if _HEAD.match(line):
            ledger.head(index)
            continue
        found = _ROW.match(line)
        if found is None:
            continue
        front = _parse(found["front"]) if found["front"] else front
        back = _parse(found["back"])
        if front is None or back is None:
            continue
        flags = found["flags"]
        ledger.add(
            CiliumFrontendRecord(
                span=ledger.span(index),
                address=front[0],
                port=front[1],
                protocol=front[2],
                backend=None if back[0].is_unspecified and not back[1] else back[:2],
                flags=frozenset(re.split(r",\s*", flags)) if flags else frozenset(),
                whole=whole,
            )
        )
    return ledger.close("a service of Cilium's load balancer")


def _parse(text: str) -> tuple[Address, int, int] | None:
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    try:
        name = found["protocol"]
        protocol = protocols.protocol_number(name) if name and name != "ANY" else 0
        return Address.parse(found["address"]), int(found["port"]), protocol
    except ValueError:
        return None


FORMAT = Format("cilium bpf lb list", recognise_frontends, read_frontends)

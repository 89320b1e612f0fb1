"""`ip xfrm policy`: IPsec policies, a selector on one line and what it does on the indented ones
below (`ip/xfrm_policy.c`, `ip/ipxfrm.c:xfrm_selector_print`).
"""

from __future__ import annotations

import re
from itertools import pairwise

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import XfrmPolicyRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_prefix
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.provenance import Source

_SELECTOR = re.compile(r"src (?P<src>\S+) dst (?P<dst>\S+)(?P<more>(?: \S+)*)\s*$")
_DIRECTION = re.compile(
    r"\s+(?:(?P<socket>socket) )?dir (?P<direction>in|out|fwd)\b(?:.*?\baction (?P<action>\w+))?"
)
_SOCKET = re.compile(r"\s+socket (?P<direction>in|out|fwd)\b")
_MORE = re.compile(
    r"\s+(?:tmpl |proto |mark |lastused |lifetime |limit |security |replay|uid|sel |if_id|index|"
    r"share|flag|ptype|enc |auth|aead|anti-replay|stats|curlft|\()"
)
_EXPECTED = "a policy of IPsec"


def recognise(source: Source) -> int:
    """Recognize a selector above a line that says in which direction it counts."""
    lines = sample(source)
    shown = any(_SELECTOR.match(line) and _is_direction(below) for line, below in pairwise(lines))
    return CERTAIN if shown else NO


def _is_direction(line: str) -> bool:
    return _DIRECTION.match(line) is not None or _SOCKET.match(line) is not None


def read(source: Source) -> Reading:
    """Read policies; those of single sockets too, which say so."""
    ledger = Ledger(source)
    selector: re.Match[str] | None = None
    first = 0
    for index, line in plain_lines(source):
        found, socket = _DIRECTION.match(line), _SOCKET.match(line)
        if (begun := _SELECTOR.match(line)) is not None:
            selector, first = begun, index
            ledger.head(index)
        elif (found or socket) and selector is not None:
            _add(ledger, first, index, selector, found or socket)
            selector = None
        elif _MORE.match(line):
            ledger.head(index)
    return ledger.close(_EXPECTED)


def _add(
    ledger: Ledger, first: int, index: int, selector: re.Match[str], found: re.Match[str] | None
) -> None:
    if found is None:
        return
    said = found.groupdict()
    try:
        ledger.add(
            XfrmPolicyRecord(
                span=ledger.span(first, index),
                src=parse_prefix(selector["src"]),
                dst=parse_prefix(selector["dst"]),
                direction=found["direction"],
                action=said.get("action") or "allow",
                of_socket="socket" in found[0],
            )
        )
    except ValueError as error:
        ledger.gap(index, str(error))


FORMAT = Format("ip xfrm policy", recognise, read)

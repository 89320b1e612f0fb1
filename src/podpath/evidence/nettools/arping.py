"""`arping` of iputils and of Habets: which MACs answered for an address."""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_address, parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source
from podpath.net.statements import ArpAnswer

_TITLE = re.compile(
    r"\s*ARPING (?:to )?(?P<target>[0-9.]+)(?: from \S+(?: (?:via )?(?P<link>\S+))?)?\s*$"
)
_REPLY = re.compile(
    r"\s*(?:(?:Unicast|Broadcast) re(?:ply|quest) from (?P<target>[0-9.]+) \["
    r"(?P<mac>[0-9A-Fa-f:]{17})\]|\d+ bytes from (?P<habets>[0-9A-Fa-f:]{17}) \("
    r"(?P<address>[0-9.]+)\)|Timeout)"
)
_TRAILER = re.compile(
    r"\s*(?:Sent \d+ probes?|Received \d+ re|--- .* statistics|\d+ packets transmitted|rtt )"
)
_EXPECTED = "an answer to arping"


def recognise(source: Source) -> int:
    """Recognize the title line, or answers."""
    lines = sample(source)
    return (
        CERTAIN
        if any(
            _TITLE.match(line) or (_REPLY.match(line) and "Timeout" not in line) for line in lines
        )
        else NO
    )


def read(source: Source) -> Reading:
    """Read one answer for each run, with every MAC that answered."""
    ledger = Ledger(source)
    runs: list[tuple[int, int, ArpAnswer]] = []
    for index, line in plain_lines(source):
        try:
            _take(runs, index, line)
        except ValueError as error:
            ledger.gap(index, str(error))
    for first, last, answer in runs:
        ledger.add(StatementRecord(span=ledger.span(first, last), statement=answer))
    return ledger.close(_EXPECTED)


def _take(runs: list[tuple[int, int, ArpAnswer]], index: int, line: str) -> None:
    """Take a line into the runs.

    Raises:
        ValueError: what stands for an address is none.
    """
    if (title := _TITLE.match(line)) is not None:
        answer = ArpAnswer(parse_address(title["target"]), _name(title["link"]), ())
        runs.append((index, index, answer))
    elif (found := _REPLY.match(line)) is not None:
        _add(runs, index, found)
    elif _TRAILER.match(line) and runs:
        runs[-1] = (runs[-1][0], index, runs[-1][2])


def _add(runs: list[tuple[int, int, ArpAnswer]], index: int, found: re.Match[str]) -> None:
    mac = (found["mac"] or found["habets"] or "").lower()
    target = found["target"] or found["address"]
    if not runs:
        if target is None:
            return
        runs.append((index, index, ArpAnswer(parse_address(target), None, ())))
    first, _, answer = runs[-1]
    macs = answer.macs if not mac or mac in answer.macs else (*answer.macs, mac)
    runs[-1] = (first, index, answer._replace(macs=macs))


def _name(text: str | None) -> IfName | None:
    try:
        return parse_name(text) if text else None
    except ValueError:
        return None


FORMAT = Format("arping", recognise, read)

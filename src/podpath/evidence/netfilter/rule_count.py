"""Reads the answer of `iptables-save | wc -l`: how many rules there are."""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.firewall import RuleCount
from podpath.net.provenance import Source

_COMMAND = re.compile(
    r"(?:sudo\s+)?ip6?tables(?:-legacy|-nft)?(?:-save\b|\s.*-[SL]|\s+--list)[^|]*(?:\|\s*grep\s[^|]*)?\|\s*wc\s+(?:-l|--lines)\s*"
)
_NUMBER = re.compile(r"\s*\d{1,9}\s*")


def recognise(source: Source) -> int:
    """Recognise one number behind a command that counts rules."""
    counts = source.command is not None and _COMMAND.fullmatch(source.command.strip()) is not None
    return CERTAIN if counts and any(_NUMBER.fullmatch(line) for line in source.lines[:3]) else NO


def read(source: Source) -> Reading:
    """Read the number."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        if _NUMBER.fullmatch(line):
            ledger.add(StatementRecord(span=ledger.span(index), statement=RuleCount(int(line))))
    return ledger.close("a number of rules")


FORMAT = Format("iptables-save | wc -l", recognise, read)

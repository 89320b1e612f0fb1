"""Reads the output of `iptables-save | wc -l` and `| sort | uniq -c`: how many rules there are, and
how many copies of each.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.firewall import CopyCount, RuleCount
from podpath.net.provenance import Source

_COMMAND = re.compile(
    r"(?:sudo\s+)?ip6?tables(?:-legacy|-nft)?(?:-save\b|\s.*-[SL]|\s+--list)[^|]*"
    r"(?:\|\s*grep\s[^|]*)?\|\s*wc\s+(?:-l|--lines)\s*"
)
_GREP = re.compile(
    r"(?:sudo\s+)?ip6?tables(?:-legacy|-nft)?(?:-save\b|\s.*-[SL]|\s+--list)[^|]*\|"
    r"(?:.*\|)?\s*[ez]?grep\s+(?:-\S+\s+)*(?:-\w*c\w*|--count)\b.*"
)
_COPIES = re.compile(
    r"\s*(?P<times>\d{1,9})\s+(?P<rule>(?:-[AI]|--append)\s+\S.*|:\S+\s+\S+\s+\[.*|COMMIT|\*\w+|"
    r"#.*)"
)
_NUMBER = re.compile(r"\s*\d{1,9}\s*")


def recognise(source: Source) -> int:
    """Recognize one number behind a command that counts rules, or rules with numbers before
    them.
    """
    if source.command is not None and any(_NUMBER.fullmatch(line) for line in source.lines[:3]):
        command = source.command.strip()
        return CERTAIN if _COMMAND.fullmatch(command) or _GREP.fullmatch(command) else NO
    lines = sample(source)
    copies = sum(
        (found := _COPIES.fullmatch(line)) is not None and found["rule"].startswith("-")
        for line in lines
    )
    return CERTAIN if copies and copies * 2 >= len(lines) else NO


def read(source: Source) -> Reading:
    """Read the number, or the number of each rule."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        if _NUMBER.fullmatch(line):
            ledger.add(StatementRecord(span=ledger.span(index), statement=RuleCount(int(line))))
        elif (copies := _COPIES.fullmatch(line)) is not None:
            _take(ledger, index, copies)
    return ledger.close("a number of rules")


def _take(ledger: Ledger, index: int, found: re.Match[str]) -> None:
    if found["rule"].startswith("-"):
        counted = CopyCount(found["rule"].strip(), int(found["times"]))
        ledger.add(StatementRecord(span=ledger.span(index), statement=counted))
    else:
        ledger.head(index)


FORMAT = Format("iptables-save | wc -l", recognise, read)

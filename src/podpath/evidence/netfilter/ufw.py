"""Reads `ufw status` with and without `verbose` and `numbered`: who may reach what, and what
happens by default.
"""

from __future__ import annotations

import re

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Prefix
from podpath.net.firewall import (
    AllowedSource,
    FirewallProgram,
    HostFirewall,
    UfwAction,
    UfwDirection,
)
from podpath.net.provenance import Source

_STATUS = re.compile(r"\s*Status:\s+(?P<state>active|inactive)\s*")
_DEFAULT = re.compile(
    r"\s*Default:\s+(?:(?P<incoming>\w+) \(incoming\))?.*?(?:,\s*(?P<routed>\w+) \(routed\))?\s*"
)
_HEADING = re.compile(r"\s*(?:To\s+Action\s+From|-+\s+-+\s+-+|Logging:.*|New profiles:.*)\s*")
_ROW = re.compile(
    r"\s*(?:\[\s*\d+\]\s*)?(?P<to>\S.*?)\s+(?P<action>ALLOW|DENY|REJECT|LIMIT)"
    r"(?: (?P<direction>IN|OUT|FWD))?\s+(?P<source>\S.*?)\s*"
)
_ADDRESS = re.compile(r"[\da-fA-F:.]+(?:/\d+)?")


def recognise(source: Source) -> int:
    """Recognize the status line or the heading."""
    lines = sample(source)
    return (
        CERTAIN
        if any(
            _STATUS.fullmatch(line) or re.match(r"\s*To\s+Action\s+From", line) for line in lines
        )
        else NO
    )


def read(source: Source) -> Reading:
    """Read every rule with its source."""
    ledger = Ledger(source)
    active, routed = None, ""
    for index, line in enumerate(source.lines):
        status, default, row = (
            _STATUS.fullmatch(line),
            _DEFAULT.fullmatch(line),
            _ROW.fullmatch(line),
        )
        if status is not None:
            active = index
            statement = HostFirewall(FirewallProgram.UFW, status["state"] == "active", routed)
            ledger.add(StatementRecord(span=ledger.span(index), statement=statement))
        elif default is not None:
            routed, incoming = default["routed"] or "", default["incoming"] or ""
            firewall = HostFirewall(FirewallProgram.UFW, active is not None, routed, incoming)
            ledger.add(StatementRecord(span=ledger.span(index), statement=firewall))
        elif _HEADING.fullmatch(line) or line.strip().startswith(("sudo ufw", "ufw ")):
            ledger.head(index)
        elif row is not None:
            direction = UfwDirection(row["direction"]) if row["direction"] else None
            prefix = _parse_source(row["source"])
            allowed = AllowedSource(row["to"], UfwAction(row["action"]), direction, prefix)
            ledger.add(StatementRecord(span=ledger.span(index), statement=allowed))
    return ledger.close("a rule of ufw")


FORMAT = Format("ufw status", recognise, read)


def _parse_source(text: str) -> Prefix | None:
    word = text.split(maxsplit=1)[0]
    if not _ADDRESS.fullmatch(word):
        return None
    try:
        return Prefix.parse(word)
    except ValueError:
        return None

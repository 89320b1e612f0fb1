"""Reads a cloud's security list pasted as a table: network security groups, security groups,
firewall rules.

Columns are known by their titles, in whatever order; cells are parted by `|` or by two blanks and
more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.firewall import CloudRule
from podpath.net.provenance import Source

_TITLES: Mapping[str, str] = {
    "priority": "priority", "name": "name", "port": "port", "ports": "port",
    "destinationportranges": "port", "portrange": "port", "destinationport": "port",
    "source": "source", "sourceaddressprefixes": "source", "sourceaddressprefix": "source",
    "sourceiprange": "source", "action": "action", "access": "action", "direction": "direction",
    "destinationportrange": "port", "policy": "action", "allow/deny": "action",
}  # fmt: skip
_ACTIONS = {"allow": True, "accept": True, "deny": False, "drop": False}
_RULE = re.compile(r"[\s|+:=-]*")


def recognise(source: Source) -> int:
    """Recognize the titles of a list with an action and a source."""
    return CERTAIN if any(_is_heading(_read_titles(line)) for line in sample(source)[:4]) else NO


def read(source: Source) -> Reading:
    """Read every row under the titles."""
    ledger = Ledger(source)
    titles: Sequence[str] = ()
    for index, line in enumerate(source.lines):
        found = _read_titles(line)
        if _is_heading(found):
            titles = found
            ledger.head(index)
        elif _RULE.fullmatch(line):
            if line.strip():
                ledger.head(index)
        elif titles:
            rule = _read_row(dict(zip(titles, _cut(line), strict=False)))
            if rule is not None:
                ledger.add(StatementRecord(span=ledger.span(index), statement=rule))
    return ledger.close("a row of a security list")


FORMAT = Format("security list", recognise, read)


def _cut(line: str) -> list[str]:
    if "|" in line:
        return [cell.strip("* ").replace("\\", "") for cell in line.strip().strip("|").split("|")]
    return re.split(r"\t+|\s{2,}", line.strip())


def _read_titles(line: str) -> list[str]:
    return [_TITLES.get(cell.strip("* ").replace(" ", "").casefold(), "") for cell in _cut(line)]


def _is_heading(titles: Sequence[str]) -> bool:
    return "action" in titles and ("source" in titles or "priority" in titles)


def _read_row(cells: Mapping[str, str]) -> CloudRule | None:
    action = _ACTIONS.get(cells.get("action", "").casefold())
    if action is None:
        return None
    priority = cells.get("priority", "")
    direction = cells.get("direction", "").casefold()
    return CloudRule(
        allowed=action,
        priority=int(priority) if priority.isdecimal() and priority.isascii() else 0,
        name=cells.get("name", ""),
        source=cells.get("source", ""),
        port=cells.get("port", ""),
        inbound=None if not direction else direction.startswith("in"),
    )

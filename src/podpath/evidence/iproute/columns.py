"""`ip -br link | awk '{print $1}'`, `ip -o -4 addr | awk '{print $2,$4}'` and
`ip route | awk '/default/ {print $3,$5}'`: devices, addresses and the default route, of which a
filter shows some columns.

Not modeled: `-o link` and routes to networks, whose words stand in another column each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from podpath.evidence.commands.command import Command, asked_object, parse_command
from podpath.evidence.commands.printed_columns import PrintedColumns, parse_printed
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.iproute.device_fields import LOWER_STATES, assemble_address
from podpath.evidence.iproute.route_fields import (
    NexthopFields,
    RouteFields,
    assemble_route,
    parse_listing,
)
from podpath.evidence.node_records import LinkRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import parse_name
from podpath.evidence.text.tokenizer import plain_lines
from podpath.net.addresses import IfName
from podpath.net.provenance import Source

_BRIEF = {1: "name", 2: "state", 3: "address"}
_ONE_LINE = {2: "name", 3: "family", 4: "address"}
_DEFAULT = {1: "default", 3: "gateway", 5: "device"}
_CHOOSES_DEFAULT = re.compile(
    r"\s*(?:/\^?default(?: via)?\b ?/|\$1\s*(?:==|~)\s*[\"/]\^?default\$?[\"/])\s*"
)
"""What awk chooses the default routes by, and no other."""
_EXPECTED = "a row with the columns that are asked for"


class _Asked(NamedTuple):
    """What each word of a row is."""

    printed: PrintedColumns
    names: tuple[str, ...]


def _parse_asked(source: Source) -> _Asked | None:
    printed = parse_printed(source.command)
    if printed is None:
        return None
    fields = _list_fields(source, parse_command(source.command), printed)
    names = tuple(fields.get(column, "") for column in printed.columns)
    return _Asked(printed, names) if all(names) else None


def _list_fields(source: Source, command: Command, printed: PrintedColumns) -> Mapping[int, str]:
    """Return what stands in which column of a listing; nothing for one whose columns move."""
    asked = asked_object(command)
    options = {word for word in command.arguments if word.startswith("-")}
    if asked is None or command.program != "ip":
        return {}
    kind, selected = asked
    if kind in {"link", "address"} and options & {"-br", "-brief"}:
        return _BRIEF if kind == "address" else {**_BRIEF, 3: "mac"}
    if kind == "address" and options & {"-o", "-oneline"}:
        return _ONE_LINE
    default = selected[:1] == ("default",) or _CHOOSES_DEFAULT.fullmatch(printed.chosen)
    if kind != "route" or not default or "get" in selected:
        return {}
    return _DEFAULT if _shows_way(source, printed) else {}


def _shows_way(source: Source, printed: PrintedColumns) -> bool:
    """Tell whether the columns of a default route are where they are known to be: without a gateway
    it has other words there, as in a listing of one device alone.
    """
    listing = parse_listing(source)
    return 3 in printed.columns and not listing.mixed and "dev" not in listing.selected


def recognise_columns(source: Source) -> int:
    """Recognize rows with as many words as the filter prints."""
    asked = _parse_asked(source)
    if asked is None:
        return NO
    rows = [asked.printed.split(line) is not None for line in sample(source)]
    return CERTAIN if rows and sum(rows) * 2 > len(rows) else NO


def read_columns(source: Source) -> Reading:
    """Read devices, addresses and default routes."""
    ledger = Ledger(source)
    asked = _parse_asked(source)
    for index, line in plain_lines(source):
        words = asked.printed.split(line) if asked is not None else None
        if asked is None or words is None:
            continue
        try:
            _add_row(ledger, index, dict(zip(asked.names, words, strict=True)))
        except ValueError as error:
            ledger.gap(index, str(error))
    return ledger.close(_EXPECTED)


def _add_row(ledger: Ledger, index: int, row: Mapping[str, str]) -> None:
    """Add what a row states; `ValueError` where a word is no such thing."""
    name = _read_name(row["name"]) if "name" in row else None
    state = row.get("state")
    if state is not None and state not in LOWER_STATES:
        message = f"expected the state of a device, saw {state!r}"
        raise ValueError(message)
    if "gateway" in row:
        _add_default(ledger, index, row)
    if "address" in row:
        address = assemble_address({"local": row["address"]}, (), name, ledger.span(index))
        ledger.add(address)
    if name is not None:
        ledger.add(LinkRecord(span=ledger.span(index), name=name, state=state))


def _read_name(word: str) -> IfName:
    """Read a device's name without what it is attached to (`eth0@if7`)."""
    return parse_name(word.partition("@")[0].removesuffix(":"))


def _add_default(ledger: Ledger, index: int, row: Mapping[str, str]) -> None:
    if row.get("default", "default") != "default":
        message = f"expected a default route, saw one to {row['default']!r}"
        raise ValueError(message)
    link = parse_name(row["device"]) if "device" in row else None
    hop = NexthopFields(link=link, gateway=row["gateway"])
    fields = RouteFields(prefix="default", nexthops=[hop])
    ledger.add(assemble_route(fields, ledger.span(index), parse_listing(ledger.source)))


FORMAT = Format("ip, of which a filter prints some columns", recognise_columns, read_columns)

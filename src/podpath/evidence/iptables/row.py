"""One row of `iptables -L`, read by the columns that the header names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.iptables.listing_text import parse_listed_text
from podpath.evidence.iptables.ruleset import RuleText
from podpath.net import protocols
from podpath.net.addresses import Family
from podpath.net.provenance import Span
from podpath.xtables.rule import MatchOption

_TITLES = {
    "num": "num", "#": "num", "pkts": "packets", "packets": "packets", "bytes": "bytes",
    "target": "target", "prot": "protocol", "proto": "protocol", "protocol": "protocol",
    "opt": "opt", "in": "inward", "out": "outward", "source": "source", "src": "source",
    "destination": "destination", "dest": "destination", "dst": "destination",
}  # fmt: skip
"""What people, who copy a listing by hand, call its columns, and iptables itself."""
_EXTRAS = frozenset(
    {"options", "option", "extra", "match", "matches", "comment", "details", "info"}
)
"""What they call the texts behind, which iptables gives no title."""
_NEEDED = frozenset({"target", "protocol", "source", "destination"})
_BORDER = re.compile(r"(?:(?<=\s)|^)\|(?=\s|$)")
_NAMED: dict[str, str] = {
    "localhost": "127.0.0.1/32", "loopback/8": "127.0.0.0/8", "link-local/16": "169.254.0.0/16",
    "default": "0.0.0.0/32", "base-address.mcast.net/4": "224.0.0.0/4",
    "base-address.mcast.net/8": "224.0.0.0/8", "ip6-localhost": "::1/128",
    "localhost/128": "::1/128", "localhost6": "::1/128",
}  # fmt: skip
"""Names that Linux itself gives addresses, in /etc/hosts and /etc/networks, and iptables prints
without `-n`.
"""
_MASKED = r"(?:<[^<>]+>|\[[^\[\]]+\]|\{[^{}]+\}|\$\w+|[#*?]{2,}|(?!\*\s)[\w.:/*?#-]+)"
"""An address, a name, or what somebody put in the place of one that he did not want to publish."""
_NUMBER = re.compile(r"[\d.]+(?:/[\d.]+)?|[\da-fA-F:.]*:[\da-fA-F:.]*(?:/[\da-fA-F:.]+)?")
_ANY = frozenset({"0.0.0.0/0", "::/0", "anywhere"})
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


class ListingColumns(NamedTuple):
    """The columns of a listing, in their order."""

    names: tuple[str, ...]
    headed: bool = True
    """False where no header names them, so that a line has to show by itself that it is a row."""


def list_columns(
    *, num: bool = False, counters: bool = True, devices: bool = True
) -> ListingColumns:
    """Return the columns of a listing without header, as iptables prints them."""
    names = [
        *(["num"] if num else []),
        *(["packets", "bytes"] if counters else []),
        "target",
        "protocol",
        "opt",
        *(["inward", "outward"] if devices else []),
        "source",
        "destination",
    ]
    return ListingColumns(tuple(names), headed=False)


class ListingRow(NamedTuple):
    """The cells of one row."""

    target: str | None
    protocol: str
    opt: str
    source: str
    destination: str
    text: str
    inward: str | None = None
    """The `in` cell; None where the listing has no such column."""
    outward: str | None = None
    packets: int | None = None
    bytes: int | None = None
    number: int | None = None


def parse_header(line: str) -> ListingColumns | None:
    """Read a header line; None where the line is none."""
    words = _BORDER.sub(" ", line).lower().split()
    while words and words[-1] in _EXTRAS:
        words.pop()
    names = [_TITLES.get(word, "") for word in words]
    return (
        ListingColumns(tuple(names))
        if set(names) >= _NEEDED and "" not in names and len(set(names)) == len(names)
        else None
    )


def parse_row(line: str, columns: ListingColumns, family: Family) -> ListingRow | None:
    """Read the cells of a row; None where the line is none."""
    text = _BORDER.sub(" ", line) if "|" in line and columns.headed else line
    found = _row_pattern(columns, family).fullmatch(text)
    if found is None:
        return None
    cells = found.groupdict()
    return ListingRow(
        target=cells["target"],
        protocol=cells["protocol"],
        opt=cells.get("opt") or "--",
        source=cells["source"],
        destination=cells["destination"],
        text=cells["text"] or "",
        inward=cells.get("inward"),
        outward=cells.get("outward"),
        packets=parse_counter(cells.get("packets")),
        bytes=parse_counter(cells.get("bytes")),
        number=int(cells["num"]) if cells.get("num") else None,
    )


def parse_counter(text: str | None) -> int | None:
    """Read a counter; `148K` is given as 148000, which is what the kernel's number was rounded
    to.
    """
    if not text:
        return None
    unit = text[-1] if text[-1] in _UNITS else ""
    return int(text.removesuffix(unit)) * _UNITS[unit]


def read_row(row: ListingRow, span: Span, chain: str, *, named: bool) -> RuleText:
    """Make the rule of a row. `named` tells that the listing has names for numbers, and `any` for
    any device.
    """
    problems: list[str] = []
    hidden: list[str] = []
    selectors = [
        *_read_address("source", row.source, problems, hidden),
        *_read_address("destination", row.destination, problems, hidden),
        *_read_device("in-interface", row.inward, named=named),
        *_read_device("out-interface", row.outward, named=named),
        *_read_protocol(row.protocol, problems),
    ]
    if row.opt in {"-f", "!f"}:
        selectors.append(MatchOption("fragment", (), row.opt == "!f"))
    if row.inward is None:
        problems.append("iptables -L without -v does not show devices")
        hidden += ["in-interface", "out-interface"]
    blurred = len(problems) == len(dict.fromkeys(hidden)) - (row.inward is None)
    listed = parse_listed_text(row.target, row.text)
    if listed.unread:
        problems.append(listed.unread)
    return RuleText(
        span,
        chain,
        tuple(selectors),
        listed.matches,
        listed.target,
        listed.goto,
        row.packets,
        row.bytes,
        row.number,
        "; ".join(problems),
        tuple(hidden) if blurred and not listed.unread else (),
    )


_CELLS: dict[str, str] = {
    "num": r"(?P<num>\d{1,9})\s+",
    "packets": r"(?P<packets>\d{1,20}[KMGTP]?)\s+",
    "bytes": r"(?P<bytes>\d{1,20}[KMGTP]?)\s+",
    "target": r"(?:(?P<target>\S+)\s+)?",
    "protocol": r"(?P<protocol>!?[A-Za-z0-9][\w.-]*)\s+",
    "opt": r"(?:(?P<opt>--|-f|!f|-)\s+)?+",
    "inward": r"(?P<inward>!?\S+)\s+",
    "outward": r"(?P<outward>!?\S+)\s+",
    "source": rf"(?P<source>!?{_MASKED})(?:\s+|$)",
    "destination": rf"(?P<destination>!?{_MASKED})(?:\s+|$)",
}


@lru_cache(maxsize=32)
def _row_pattern(columns: ListingColumns, family: Family) -> re.Pattern[str]:
    cells = dict(_CELLS)
    if family == 4 and not columns.headed:
        cells["opt"] = r"(?P<opt>--|-f|!f)\s+"  # ip6tables before 1.8.9 left the column blank
    elif family == 4:
        cells["protocol"] = (
            r"(?P<protocol>!?(?:all|tcp|udp|icmp|\d{1,3}|[a-z][\w.-]*(?=\s+(?:--|-f|!f)\s)))\s+"
        )
    return re.compile(
        rf"\s*{''.join(cells[name] for name in columns.names)}(?:(?<=\s)(?P<text>\S.*?))?\s*\Z"
    )


def _read_address(
    name: str, cell: str, problems: list[str], hidden: list[str]
) -> list[MatchOption]:
    negated, value = cell.startswith("!"), cell.removeprefix("!")
    if value in _ANY and not negated:
        return []
    value = "0.0.0.0/0" if value == "anywhere" else _NAMED.get(value, value)
    if not _NUMBER.fullmatch(value):
        problems.append(f"expected the {name} by number, saw the name {value!r}")
        hidden.append(name)
        return []
    if "/" not in value:
        value += "/128" if ":" in value else "/32"
    return [MatchOption(name, (value,), negated)]


def _read_device(name: str, cell: str | None, *, named: bool) -> list[MatchOption]:
    if cell is None or cell in {"*", "+"} or (named and cell == "any"):
        return []
    return [MatchOption(name, (cell.removeprefix("!"),), cell.startswith("!"))]


def _read_protocol(cell: str, problems: list[str]) -> list[MatchOption]:
    try:
        number = protocols.protocol_number(cell.removeprefix("!"))
    except ValueError:
        problems.append(f"expected a protocol that is known, saw {cell!r}")
        return []
    return (
        [MatchOption("protocol", (protocols.protocol_name(number),), cell.startswith("!"))]
        if number
        else []
    )

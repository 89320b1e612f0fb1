"""One row of `iptables -L`, read by the columns that the header names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from podpath.evidence.iptables.listing_text import parse_listed_text
from podpath.evidence.iptables.ruleset import OptionText, RuleText
from podpath.net import protocols
from podpath.net.addresses import Family
from podpath.net.provenance import Span

HEADER = re.compile(
    r"\s*(?P<num>num\s+)?(?P<counters>pkts\s+bytes\s+)?target\s+prot\s+opt\s+(?P<devices>in\s+out\s+)?source\s+destination\s*"
)
_NAMED: dict[str, str] = {
    "localhost": "127.0.0.1/32", "loopback/8": "127.0.0.0/8", "link-local/16": "169.254.0.0/16", "default": "0.0.0.0/32",
    "base-address.mcast.net/4": "224.0.0.0/4", "base-address.mcast.net/8": "224.0.0.0/8", "ip6-localhost": "::1/128",
    "localhost/128": "::1/128", "localhost6": "::1/128",
}  # fmt: skip
"""Names that Linux itself gives addresses, in /etc/hosts and /etc/networks, and iptables prints without `-n`."""
_NUMBER = re.compile(r"[\d.]+(?:/[\d.]+)?|[\da-fA-F:.]*:[\da-fA-F:.]*(?:/[\da-fA-F:.]+)?")
_ANY = frozenset({"0.0.0.0/0", "::/0", "anywhere"})
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


class Columns(NamedTuple):
    """Which columns a listing has beside those that every one has."""

    num: bool = False
    counters: bool = True
    devices: bool = True


class Row(NamedTuple):
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


def parse_header(line: str) -> Columns | None:
    """Read a header line; None where the line is none."""
    found = HEADER.fullmatch(line)
    if found is None:
        return None
    return Columns(found["num"] is not None, found["counters"] is not None, found["devices"] is not None)


def parse_row(line: str, columns: Columns, family: Family) -> Row | None:
    """Read the cells of a row; None where the line is none."""
    found = _row_pattern(columns, family).fullmatch(line)
    if found is None:
        return None
    cells = found.groupdict()
    return Row(
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
        number=int(cells["num"]) if columns.num else None,
    )


def parse_counter(text: str | None) -> int | None:
    """Read a counter; `148K` is given as 148000, which is what the kernel's number was rounded to."""
    if not text:
        return None
    unit = text[-1] if text[-1] in _UNITS else ""
    return int(text.removesuffix(unit)) * _UNITS[unit]


def read_row(row: Row, span: Span, chain: str, *, named: bool) -> RuleText:
    """Make the rule of a row. `named` tells that the listing has names for numbers, and `any` for any device."""
    problems: list[str] = []
    selectors = [
        *_read_address("source", row.source, problems),
        *_read_address("destination", row.destination, problems),
        *_read_device("in-interface", row.inward, named=named),
        *_read_device("out-interface", row.outward, named=named),
        *_read_protocol(row.protocol, problems),
    ]
    if row.opt in {"-f", "!f"}:
        selectors.append(OptionText("fragment", (), row.opt == "!f"))
    if row.inward is None:
        problems.append("iptables -L without -v does not show devices")
    listed = parse_listed_text(row.target, row.text)
    if listed.unread:
        problems.append(listed.unread)
    return RuleText(
        span, chain, tuple(selectors), listed.matches, listed.target, listed.goto, row.packets, row.bytes, row.number,
        "; ".join(problems),
    )  # fmt: skip


@lru_cache(maxsize=32)
def _row_pattern(columns: Columns, family: Family) -> re.Pattern[str]:
    # ip6tables before 1.8.9 left the opt column blank
    opt = r"(?P<opt>--|-f|!f)\s+" if family == 4 else r"(?:(?P<opt>--|-f|!f)\s+)?"
    address = r"!?[\w.:/-]+"
    return re.compile(
        r"\s*"
        + (r"(?P<num>\d{1,9})\s+" if columns.num else "")
        + (r"(?P<packets>\d{1,20}[KMGTP]?)\s+(?P<bytes>\d{1,20}[KMGTP]?)\s+" if columns.counters else "")
        + r"(?:(?P<target>\S+)\s+)?(?P<protocol>!?[A-Za-z0-9][\w.-]*)\s+"
        + opt
        + (r"(?P<inward>!?\S+)\s+(?P<outward>!?\S+)\s+" if columns.devices else "")
        + rf"(?P<source>{address})\s+(?P<destination>{address})(?:\s+(?P<text>\S.*?))?\s*"
    )


def _read_address(name: str, cell: str, problems: list[str]) -> list[OptionText]:
    negated, value = cell.startswith("!"), cell.removeprefix("!")
    if value in _ANY and not negated:
        return []
    value = "0.0.0.0/0" if value == "anywhere" else _NAMED.get(value, value)
    if not _NUMBER.fullmatch(value):
        problems.append(f"expected the {name} by number, saw the name {value!r}")
        return []
    if "/" not in value:
        value += "/128" if ":" in value else "/32"
    return [OptionText(name, (value,), negated)]


def _read_device(name: str, cell: str | None, *, named: bool) -> list[OptionText]:
    if cell is None or cell in {"*", "+"} or (named and cell == "any"):
        return []
    return [OptionText(name, (cell.removeprefix("!"),), cell.startswith("!"))]


def _read_protocol(cell: str, problems: list[str]) -> list[OptionText]:
    try:
        number = protocols.protocol_number(cell.removeprefix("!"))
    except ValueError:
        problems.append(f"expected a protocol that is known, saw {cell!r}")
        return []
    return [OptionText("protocol", (protocols.protocol_name(number),), cell.startswith("!"))] if number else []

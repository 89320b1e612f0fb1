"""The text of `ip route`: every table, type and flag, multipath routes on lines of their own or on
one (`-o`).

A line that is cut, or holds elided digits, is a gap. What `ip route get` answers is a decision and
no route: it is a gap too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.iproute.route_fields import (
    ROUTE_FLAGS,
    TYPES,
    NexthopFields,
    RouteFields,
    RouteListing,
    assemble_route,
    parse_listing,
)
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.scalars import is_elided, parse_number
from podpath.evidence.text.tokenizer import Cursor, strip_terminal
from podpath.net.provenance import Source

_TYPE = "|".join(sorted(TYPES))
_ADDRESS = r"(?:[0-9xX*]{1,3}(?:\.[0-9xX*]{1,3}){1,3}|(?=[^\s:]*:[^\s:]*:)[0-9A-Fa-fxX*.:]+)"
_START = re.compile(
    rf"\s*(?:(?P<type>{_TYPE})\s+)?(?P<prefix>default|{_ADDRESS}(?:/[0-9.]+)?)(?=\s|$)(?P<rest>.*)"
)
_CLUE = re.compile(
    r"\s(?:via\s+(?:inet6?\s+)?[0-9A-Fa-fxX]*[.:]\S*|dev\s+\S+(?=\s*$|\s+(?:proto|scope|src|metric|"
    r"table|via|linkdown|onlink|dead|mtu|advmss|pref|expires|error|weight|nhid|hoplimit|initcwnd|"
    r"uid|cache|\\))|table\s+\w+|proto\s+\w+|scope\s+(?:link|host|global|site)\b|"
    r"metric\s+\d+|nhid\s+\d+|encap\s+\w+\s|src\s+[0-9A-Fa-f]+[.:])"
)
_NEXTHOP = re.compile(r"\s*nexthop\s+(?:via|dev|encap)\s")
_NEIGHBOUR = re.compile(
    r"\s(?:lladdr\s|(?:PERMANENT|NOARP|REACHABLE|STALE|NONE|INCOMPLETE|DELAY|PROBE|FAILED|"
    r"proxy)\s*$)"
)
_EXPECTED = "a route"

_WORDS: Mapping[str, str] = {
    "table": "table", "proto": "protocol", "scope": "scope", "src": "prefsrc", "metric": "metric",
    "tos": "tos", "dsfield": "tos",
}  # fmt: skip
"""Words that one value follows, by the field it fills."""
_SKIPPED = frozenset(
    {
        "nhid",
        "expires",
        "error",
        "users",
        "age",
        "realm",
        "realms",
        "iif",
        "ttl-propagate",
        "id",
        "ipid",
        "ts",
        "tsage",
    }
)
_AFTER_ENCAP = frozenset({"via", "dev", "nexthop", "proto", "scope", "table", "metric"})
_METRICS = frozenset(
    {
        "advmss", "window", "rtt", "rttvar", "ssthresh", "cwnd", "initcwnd", "initrwnd", "hoplimit",
        "features", "quickack", "congctl", "reordering", "rto_min", "fastopen_no_cookie",
    }
)  # fmt: skip
"""Metrics of a route beside its MTU; each may be followed by `lock`."""


def recognise(source: Source) -> int:
    """Recognize lines that start like a route and go on like one."""
    lines = sample(source)
    hits = sum(is_route(line) or _NEXTHOP.match(line) is not None for line in lines)
    if not hits or hits * 2 < len(lines):
        return NO
    return CERTAIN if parse_command(source.command).program == "ip" else LIKELY + 20


def is_route(line: str) -> bool:
    """Tell whether a line of text is a route as `ip route` prints it, and not prose or a
    neighbor.
    """
    found = _START.match(line)
    if found is None or _NEIGHBOUR.search(line) is not None:
        return False
    return _CLUE.search(line, found.end("prefix")) is not None or (
        found["type"] is not None and not found["rest"].strip()
    )


def read(source: Source) -> Reading:
    """Read routes."""
    reader = _RouteReader(source)
    for index, line in enumerate(source.lines):
        reader.feed(index, strip_terminal(line))
    reader.flush()
    return reader.ledger.close(_EXPECTED)


class _RouteReader:
    """Gathers the lines of one route, then gives its record."""

    __slots__ = ("answer", "first", "last", "ledger", "listing", "pending")

    def __init__(self, source: Source) -> None:
        self.ledger = Ledger(source)
        self.listing: RouteListing = parse_listing(source)
        self.answer = "get" in parse_command(source.command).arguments
        self.pending: RouteFields | None = None
        self.first = self.last = 0

    def feed(self, index: int, line: str) -> None:
        if not line or line.isspace():
            return
        if _NEXTHOP.match(line):
            self._continue(index, line)
        elif line.lstrip().startswith(("nh_info ", "cache")) and self.pending is not None:
            self.last = index
            self.answer = self.answer or line.lstrip().startswith("cache")
        else:
            self.flush()
            if not self.ledger.elide(index):
                self._start(index, line)

    def flush(self) -> None:
        """Return the record of the route that is complete now."""
        fields, self.pending = self.pending, None
        if fields is None:
            return
        if self.answer:
            self.ledger.gap(
                self.first, "expected a route, saw what `ip route get` answered", self.last
            )
            self.answer = "get" in parse_command(self.ledger.source.command).arguments
            return
        self._set_aside_masked(fields)
        try:
            record = assemble_route(fields, self.ledger.span(self.first, self.last), self.listing)
        except ValueError as error:
            self.ledger.gap(self.first, str(error), self.last)
        else:
            self.ledger.add(record)

    def _set_aside_masked(self, fields: RouteFields) -> None:
        """Keep a route whose next hop somebody masked: its other words count, and where it leads is
        not known.
        """
        for hop in fields.nexthops:
            if hop.gateway is not None and is_elided(hop.gateway):
                self.ledger.gap(
                    self.first, f"expected an address, saw {hop.gateway!r} (elided)", self.last
                )
                fields.foreign = f"{fields.foreign} via {hop.gateway}".strip()
                fields.family = fields.family or (6 if ":" in hop.gateway else 4)
                hop.gateway = None

    def _start(self, index: int, line: str) -> None:
        found = _START.match(line)
        if found is None:
            return
        fields = RouteFields(found["prefix"], type=found["type"] or "")
        try:
            answer = _parse_words(Cursor(found["rest"]), fields)
        except ValueError as error:
            self.ledger.gap(index, str(error))
            return
        self.pending, self.first, self.last = fields, index, index
        self.answer = self.answer or answer
        self._note(index, fields)

    def _continue(self, index: int, line: str) -> None:
        if self.pending is None:
            self.ledger.gap(
                index, "expected the route that this nexthop belongs to on a line above"
            )
            return
        try:
            _parse_words(Cursor(line), self.pending)
        except ValueError as error:
            self.ledger.gap(index, str(error))
            return
        self.last = index
        self._note(index, self.pending)

    def _note(self, index: int, fields: RouteFields) -> None:
        if "encap" in fields.flags:
            self.ledger.gap(index, "the encapsulation of this route is not read")
        if fields.unread:
            self.ledger.gap(index, f"expected more of a route, saw {fields.unread[:60]!r}")
            fields.foreign, fields.unread = f"{fields.foreign} {fields.unread}".strip(), ""


def parse_route_words(text: str, fields: RouteFields) -> None:
    """Take the words of a command that changes a route: they are those of a listing."""
    _parse_words(Cursor(text), fields)


def _parse_words(cursor: Cursor, fields: RouteFields) -> bool:
    """Take the words of one line into the fields; True where it is an answer of `ip route get`."""
    hop: NexthopFields | None = None
    single = NexthopFields()
    answer = False
    for word in cursor:
        if word in _WORDS:
            setattr(fields, _WORDS[word], _value(cursor, word))
        elif word == "nexthop":
            hop = NexthopFields()
            fields.nexthops.append(hop)
        elif word in _HOP_WORDS:
            _HOP_WORDS[word](cursor, hop or single, fields)
        elif word in ROUTE_FLAGS:
            (hop or single).flags += (word,)
        elif word in {"uid", "cache"}:
            answer = True
            break
        elif word != "\\" and not _skip(word, cursor, fields):
            fields.unread = f"{fields.unread} {_take_unread(word, cursor)}".strip()
    if hop is None:
        fields.flags += single.flags
        if single.link is not None or single.gateway is not None:
            fields.nexthops.append(single)
    return answer


def _take_unread(word: str, cursor: Cursor) -> str:
    """Take an attribute that is not known, with its values, up to the next word that is."""
    words = [word]
    while not cursor.done and cursor.peek not in _KNOWN:
        words.append(cursor.take())
    return " ".join(words)


def _value(cursor: Cursor, word: str) -> str:
    value = cursor.take()
    if not value:
        raise ValueError(f"the line ends after {word!r}")
    return value


def _take_via(cursor: Cursor, hop: NexthopFields, fields: RouteFields) -> None:
    if cursor.peek in {"inet", "inet6"}:
        fields.family = 4 if cursor.take() == "inet6" else 6
    hop.gateway = _value(cursor, "via")


def _take_dev(cursor: Cursor, hop: NexthopFields, fields: RouteFields) -> None:
    if cursor.done and hop.gateway is not None:
        fields.unread = f"{fields.unread} dev".strip()  # cut there: the gateway counts still
    else:
        hop.link = _value(cursor, "dev")


def _take_weight(cursor: Cursor, hop: NexthopFields, _fields: RouteFields) -> None:
    hop.weight = parse_number(_value(cursor, "weight"))


_HOP_WORDS: Mapping[str, Callable[[Cursor, NexthopFields, RouteFields], None]] = {
    "via": _take_via, "dev": _take_dev, "weight": _take_weight,
}  # fmt: skip


_KNOWN = {
    *_WORDS,
    *_HOP_WORDS,
    *_SKIPPED,
    *_METRICS,
    *ROUTE_FLAGS,
    "nexthop",
    "mtu",
    "pref",
    "encap",
    "from",
    "uid",
    "cache",
}


def _skip(word: str, cursor: Cursor, fields: RouteFields) -> bool:
    """Take words that say something else than the path; False where the word is not one of
    iproute2's.
    """
    if word == "mtu" or word in _METRICS:
        locked = cursor.accept("lock")
        value = _value(cursor, word)
        if word == "mtu":
            fields.mtu, fields.mtu_locked = value, locked
        elif word == "advmss":
            fields.advmss = value
    elif word == "pref":
        fields.family = 6
        cursor.take()
    elif word in _SKIPPED:
        cursor.take()
    elif word == "encap":
        fields.flags += ("encap",)
        fields.foreign = f"{fields.foreign} encap".strip()
        while not cursor.done and cursor.peek not in _AFTER_ENCAP:
            cursor.take()
    elif word == "from":
        raise ValueError(f"expected a route for every source, saw one for {cursor.take()!r} only")
    else:
        return False
    return True


FORMAT = Format("ip route", recognise, read)

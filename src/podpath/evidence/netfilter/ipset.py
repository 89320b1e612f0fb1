"""Reads `ipset save` and `ipset list`: sets with their type and options, and their members."""

from __future__ import annotations

import re

from podpath.evidence.commands.command import parse_command
from podpath.evidence.formats import CERTAIN, NO, Format, sample
from podpath.evidence.node_records import IpSetEntryRecord, IpSetRecord
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.evidence.text.tokenizer import Cursor
from podpath.net.addresses import Family
from podpath.net.provenance import Source

_TYPE = r"(?:hash|bitmap|list):[a-z,]+"
_CREATE = re.compile(rf"\s*create\s+(?P<name>\S+)\s+(?P<type>{_TYPE})(?P<options>\s.*)?")
_ADD = re.compile(r"\s*add\s+(?P<name>\S+)\s+(?P<element>\S+)(?P<options>\s.*)?")
_NAME = re.compile(r"\s*Name: (?P<name>\S+)\s*")
_FIELD = re.compile(
    r"\s*(?P<field>Type|Revision|Header|Size in memory|References|Number of entries|Members):\s*"
    r"(?P<value>.*?)\s*"
)
_MEMBER = re.compile(r"\s*(?P<element>[^\s:][^\s]*)(?P<options>\s.*)?")
_CREATE_FLAGS = frozenset(
    {"counters", "comment", "skbinfo", "forceadd", "noprobe", "resize", "nomatch"}
)
_ADD_FLAGS = frozenset({"nomatch", "wildcard"})
_MESSAGE = re.compile(r"ipset v\S+: .*")


def recognise_ipset(source: Source) -> int:
    """Be certain where a set is created, listed or filled; a bare list of members says nothing of
    itself.
    """
    lines = sample(source)
    if any(_CREATE.fullmatch(line) for line in lines):
        return CERTAIN
    for place, line in enumerate(lines):
        if _NAME.fullmatch(line) and any(
            re.match(rf"\s*Type: {_TYPE}", other) for other in lines[place : place + 3]
        ):
            return CERTAIN
    adds = sum(
        _ADD.fullmatch(line) is not None and re.search(r"[\d.:]", line) is not None
        for line in lines
    )
    if adds and adds * 2 > len(lines):
        return CERTAIN
    named = parse_command(source.command).program == "ipset" and all(
        _MESSAGE.fullmatch(line) for line in lines
    )
    return CERTAIN if named and lines else NO


def read_ipset(source: Source) -> Reading:
    """Read all sets of a source, in either output form."""
    return _IpSetReader(source).read()


FORMATS = (Format("ipset", recognise_ipset, read_ipset),)


class _Listed:
    """A set of `ipset list` while its heading is read."""

    __slots__ = ("fields", "name", "place")

    def __init__(self, name: str, place: int) -> None:
        self.name = name
        self.place = place
        self.fields: dict[str, str] = {}


class _IpSetReader:
    """Reads one source. Mutable, local to one call."""

    __slots__ = ("_ledger", "_listed", "_members")

    def __init__(self, source: Source) -> None:
        self._ledger = Ledger(source)
        self._listed: _Listed | None = None
        self._members: str | None = None
        """The set whose members the lines are."""

    def read(self) -> Reading:
        for place, line in enumerate(self._ledger.source.lines):
            if line and not line.isspace():
                self._read_line(place, line)
        self._end_heading(len(self._ledger.source.lines))
        return self._ledger.close("a set or a member of ipset")

    def _read_line(self, place: int, line: str) -> None:
        created = _CREATE.fullmatch(line)
        if created is not None:
            self._end_heading(place)
            self._members = None
            self._add_set(
                place, place, created["name"], created["type"], created["options"] or "", None
            )
            return
        added = _ADD.fullmatch(line) if self._members is None else None
        if added is not None:
            self._add_member(place, added["name"], added["element"], added["options"] or "")
            return
        named = _NAME.fullmatch(line)
        if named is not None:
            self._end_heading(place)
            self._listed, self._members = _Listed(named["name"], place), None
            return
        if self._listed is not None:
            self._read_field(place, line)
        elif self._ledger.elide(place):
            pass
        elif self._members is not None and (member := _MEMBER.fullmatch(line)) is not None:
            self._add_member(place, self._members, member["element"], member["options"] or "")
        elif _MESSAGE.fullmatch(line):
            self._ledger.head(place)

    def _read_field(self, place: int, line: str) -> None:
        found = _FIELD.fullmatch(line)
        if found is None or self._listed is None:
            self._end_heading(place)
            return
        self._listed.fields[found["field"]] = found["value"]
        if found["field"] == "Members":
            self._end_heading(place + 1)

    def _end_heading(self, place: int) -> None:
        """Make the set of the heading that ends before a line."""
        listed = self._listed
        if listed is None:
            return
        fields = listed.fields
        count = fields.get("Number of entries", "")
        if "Type" not in fields:
            self._ledger.gap(listed.place, "expected the type of the set, saw none", place - 1)
        else:
            size = int(count) if re.fullmatch(r"\d{1,9}", count) else None
            self._add_set(
                listed.place, place - 1, listed.name, fields["Type"], fields.get("Header", ""), size
            )
        self._members = listed.name if "Members" in fields else None
        self._listed = None

    def _add_set(
        self, place: int, last: int, name: str, kind: str, options: str, size: int | None
    ) -> None:
        words = {
            option: " ".join(values) for option, values in _scan_options(options, _CREATE_FLAGS)
        }
        while last > place and not self._ledger.source.lines[last].strip():
            last -= 1
        family: Family = 6 if words.pop("family", "inet") == "inet6" else 4
        span = self._ledger.span(place, last)
        self._ledger.add(
            IpSetRecord(span=span, name=name, type=kind, family=family, options=words, size=size)
        )

    def _add_member(self, place: int, name: str, element: str, options: str) -> None:
        scanned = _scan_options(options, _ADD_FLAGS)
        self._ledger.add(
            IpSetEntryRecord(
                span=self._ledger.span(place),
                name=name,
                parts=tuple(re.findall(r"[^,]+", element)),
                options=tuple(
                    (option, values) for option, values in scanned if option != "nomatch"
                ),
                nomatch=any(option == "nomatch" for option, _ in scanned),
            )
        )


def _scan_options(text: str, flags: frozenset[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Read options as ipset prints them: a name and one value, or a flag alone."""
    options: list[tuple[str, tuple[str, ...]]] = []
    cursor = Cursor(text, quotes=True)
    for name in cursor:
        takes = name not in flags or (name == "comment" and flags is _ADD_FLAGS)
        options.append((name, (cursor.take(),) if takes and not cursor.done else ()))
    return options

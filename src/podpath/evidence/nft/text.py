"""`nft list ruleset` (and `list table`, `list chain`) as text: tables with their chains, rules,
sets and maps.

The language does not care for lines but for braces, semicolons and line ends, so a file for `nft
-f` reads the same way.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.nft.listing import scope_of
from podpath.evidence.nft.records import (
    FAMILIES,
    HOOKS,
    TYPES,
    NftChainRecord,
    NftListingRecord,
    NftRuleRecord,
    NftSetRecord,
    NftTableRecord,
)
from podpath.evidence.nft.rule_text import parse_rule
from podpath.evidence.nft.terms_text import parse_set
from podpath.evidence.nft.tokens import Token, TokenCursor, scan
from podpath.evidence.records import HeadingRecord, Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net import nft
from podpath.net.provenance import Source

PRIORITIES: Mapping[str, int] = {
    "raw": -300,
    "mangle": -150,
    "dstnat": -100,
    "filter": 0,
    "security": 50,
    "srcnat": 100,
}
BRIDGE_PRIORITIES: Mapping[str, int] = {"dstnat": -300, "filter": -200, "out": 100, "srcnat": 300}
_TABLE = re.compile(r"\s*table (?:ip6?|inet|arp|bridge|netdev) \S+ \{")
_WARNING = re.compile(r"# Warning: table (?P<family>\S+) (?P<name>\S+) is managed by iptables-nft")


def recognise(source: Source) -> int:
    """Recognize a table's heading."""
    lines = sample(source)
    if not any(_TABLE.match(line) for line in lines):
        return NO
    return CERTAIN if scope_of(source.command) or _TABLE.match(lines[0]) else LIKELY


def read(source: Source) -> Reading:
    """Read the whole listing."""
    reader = NftReader(source)
    reader.read_all()
    return reader.finish()


class NftReader:
    """Goes through the tokens of one listing. Mutable, used once."""

    def __init__(self, source: Source) -> None:
        """Take the tokens of a source."""
        self.source = source
        self.ledger = Ledger(source)
        self.tokens = list(scan(source.lines))
        self.place = 0
        self.whole = True
        self.elided: list[int] = []
        """Lines that say that others are left out, in order."""
        self.scope = ""
        self.managed: set[tuple[str, str]] = set()

    def read_all(self) -> None:
        """Read every table."""
        for index, line in enumerate(self.source.lines):
            warning = _WARNING.match(line.strip())
            if warning is not None:
                self.managed.add((warning["family"], warning["name"]))
                self.ledger.head(index)
            elif line.strip().startswith("#"):
                self.ledger.head(index)
            elif self.ledger.elide(index):
                self.whole = False
                self.elided.append(index)
        elided = frozenset(self.elided)
        self.tokens = [token for token in self.tokens if token.line not in elided]
        while self.place < len(self.tokens):
            start = self.place
            statement = self.statement()
            if statement and statement[0].text == "table" and self.opens():
                self.read_table(statement)
            elif self.place == start:
                self.place += 1

    def finish(self) -> Reading:
        """Return the records, with one that says whether the listing is whole."""
        for index, line in enumerate(self.source.lines):
            if not self.ledger.is_claimed(index) and line.strip() in {"}", "};"}:
                self.ledger.head(index)
        reading = self.ledger.close("a part of a table of nft's")
        cut = any(
            isinstance(record, HeadingRecord) and record.partial for record in reading.records
        )
        if any(isinstance(record, NftTableRecord) for record in reading.records):
            ended = not cut and not self.source.open_end
            whole = self.whole and ended and not reading.gaps
            span = self.ledger.span(0, len(self.source.lines) - 1)
            scope = scope_of(self.source.command) or "tables"
            reading = reading._replace(
                records=(*reading.records, NftListingRecord(span=span, scope=scope, whole=whole))
            )
        return reading

    def statement(self) -> list[Token]:
        """Take tokens up to a line's end, a semicolon or an opening brace that holds statements;
        these are not taken.
        """
        taken: list[Token] = []
        depth = 0
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if depth == 0 and (token.kind == "end" or token.is_sign(";") or token.is_sign("}")):
                break
            if token.is_sign("{"):
                if depth == 0 and _holds_statements(taken):
                    break
                depth += 1
            elif token.is_sign("}"):
                depth -= 1
            taken.append(token)
            self.place += 1
        if depth:
            self.whole = False
        return taken

    def opens(self) -> bool:
        """Tell whether a block begins here."""
        return self.place < len(self.tokens) and self.tokens[self.place].is_sign("{")

    def _skip(self) -> bool:
        """Pass ends of lines and semicolons; tell whether the block goes on."""
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.is_sign("}"):
                self.place += 1
                return False
            if token.kind != "end" and not token.is_sign(";"):
                return True
            self.place += 1
        self.whole = False
        return False

    def _handle(self) -> int | None:
        """Return the handle at the end of the line under way."""
        for place in range(self.place, len(self.tokens)):
            if self.tokens[place].kind == "end":
                return self.tokens[place].handle
        return None

    def read_table(self, heading: list[Token]) -> None:
        """Read a table from its opening brace on."""
        words = [token.text for token in heading[1:]]
        if len(words) < 2 or words[0] not in FAMILIES:
            words = ["ip", *words, ""]
        family, name = nft.NftFamily(words[0]), words[1]
        span = self.ledger.span(heading[0].line, self.tokens[self.place].line)
        self.place += 1
        flags: list[str] = []
        objects: list[str] = []
        position = len(self.ledger.records)
        while self._skip():
            statement = self.statement()
            if not statement:
                self.place += 1
                continue
            kind = statement[0].text
            if kind == "chain" and self.opens():
                self.read_chain(family, name, statement)
            elif kind in {"set", "map"} and self.opens():
                self.read_set(family, name, statement)
            elif self.opens():
                objects.append(self._read_object(statement))
            elif kind == "flags":
                flags += [token.text for token in statement[1:] if token.kind == "word"]
                self._head(statement)
            elif kind == "comment":
                self._head(statement)
        self.ledger.records.insert(
            position,
            NftTableRecord(
                span=span,
                family=family,
                name=name,
                flags=tuple(flags),
                objects=tuple(objects),
                managed=(family, name) in self.managed,
            ),
        )

    def _head(self, statement: list[Token]) -> None:
        self.ledger.head(statement[0].line, statement[-1].line)

    def _read_object(self, heading: list[Token]) -> str:
        start, first = self.place, heading[0].line
        depth = 0
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            depth += token.is_sign("{") - token.is_sign("}")
            self.place += 1
            if depth == 0:
                break
        else:
            self.whole = False
        body = [
            token.text if token.kind != "end" else ";" for token in self.tokens[start : self.place]
        ]
        text = re.sub(
            r"(?:; )+;", ";", " ".join(token.text for token in heading) + " " + " ".join(body)
        )
        self.ledger.head(first, self.tokens[self.place - 1].line)
        return text.replace("{ ;", "{").replace("; ;", ";")

    def read_chain(self, family: nft.NftFamily, table: str, heading: list[Token]) -> None:
        """Read a chain from its opening brace on."""
        name = heading[1].text if len(heading) > 1 else ""
        first, handle = heading[0].line, self._handle()
        last = self.tokens[self.place].line
        self.place += 1
        base: dict[str, str] = {}
        devices: tuple[str, ...] = ()
        position = len(self.ledger.records)
        lines: list[int] = []
        while self._skip():
            statement = self.statement()
            if not statement:
                self.place += 1
                continue
            if _is_base(statement):
                base, devices = parse_base(statement, family)
                last = statement[-1].line
            elif _is_policy(statement):
                base["policy"] = statement[1].text
            elif statement[0].text == "comment" and len(statement) == 2:
                self._head(statement)
            else:
                lines.append(statement[0].line)
                self._read_rule(family, table, name, statement)
        closing = self.tokens[self.place - 1]
        missing = [line for line in self.elided if first < line <= closing.line]
        span = self.ledger.span(first, last)
        place = _place_of(base)
        kind, hook = place or (nft.NftChainType.REGULAR, nft.NftHook.NONE)
        record = NftChainRecord(
            span=span,
            family=family,
            table=table,
            name=name,
            type=kind,
            hook=hook,
            priority=int(base.get("priority", "0")),
            policy=nft.NftPolicy(base.get("policy", "accept")),
            devices=devices,
            handle=handle,
            whole=closing.is_sign("}") and not missing,
            in_line=bisect_left(lines, missing[0]) if missing else None,
        )
        self.ledger.records.insert(position, record)
        if place is None:
            saw = f"{family} {base['type']} hook {base['hook']}"
            self.ledger.refuse(span, f"expected a chain of nft's, saw {saw}")

    def _read_rule(
        self, family: nft.NftFamily, table: str, chain: str, statement: list[Token]
    ) -> None:
        words = TokenCursor(statement)
        span = self.ledger.span(statement[0].line, statement[-1].line)
        rule = parse_rule(words)
        self.ledger.add(
            NftRuleRecord(
                span=span,
                family=family,
                table=table,
                chain=chain,
                statements=rule.statements,
                handle=self._handle(),
                comment=rule.comment,
            )
        )

    def read_set(self, family: nft.NftFamily, table: str, heading: list[Token]) -> None:
        """Read a set or a map from its opening brace on."""
        kind, name = heading[0].text, heading[1].text if len(heading) > 1 else ""
        self.place += 1
        types: tuple[str, ...] = ()
        data, typeof = "", False
        flags: tuple[str, ...] = ()
        options: list[str] = []
        elements: tuple[nft.Element, ...] = ()
        last = heading[-1].line
        while self._skip():
            statement = self.statement()
            if not statement:
                self.place += 1
                continue
            last = statement[-1].line
            word = statement[0].text
            if word in {"type", "typeof"}:
                typeof = word == "typeof"
                types, data = _parse_types(statement[1:])
            elif word == "flags":
                flags = tuple(token.text for token in statement[1:] if token.kind == "word")
            elif word == "elements":
                try:
                    elements = parse_set(TokenCursor(statement[2:])).elements
                except (ValueError, RecursionError) as error:
                    self.ledger.refuse(
                        self.ledger.span(statement[0].line, last),
                        f"elements of {kind} {name}: {error}",
                    )
            elif word != "comment":
                options.append(" ".join(token.text for token in statement))
        span = self.ledger.span(heading[0].line, last)
        self.ledger.add(
            NftSetRecord(
                span=span,
                family=family,
                table=table,
                name=name,
                types=types,
                elements=elements,
                data=data,
                flags=flags,
                options=tuple(options),
                typeof=typeof,
            )
        )


def _holds_statements(heading: list[Token]) -> bool:
    """Tell whether a brace behind these words opens a block: of a table, a chain, a set or an
    object, and not of values.
    """
    if not heading:
        return False
    first, most = heading[0].text, 3
    if first in {"add", "create"} and len(heading) > 1:
        first, most = heading[1].text, 5
    if first == "ct":
        return len(heading) > 1 and heading[1].text in {"helper", "timeout", "expectation"}
    return len(heading) <= most and first in {
        "table",
        "chain",
        "set",
        "map",
        "flowtable",
        "counter",
        "quota",
        "limit",
        "synproxy",
        "secmark",
    }


def _place_of(base: Mapping[str, str]) -> tuple[nft.NftChainType, nft.NftHook] | None:
    """Return what a chain is for and where it stands; None where nft knows no such thing."""
    kind, hook = base.get("type", ""), base.get("hook", "")
    if kind in TYPES and hook in HOOKS:
        return nft.NftChainType(kind), nft.NftHook(hook)
    return None


def _is_policy(statement: list[Token]) -> bool:
    names = statement[0].text == "policy" and len(statement) == 2
    return names and statement[1].text in {"accept", "drop"}


def _is_base(statement: list[Token]) -> bool:
    return statement[0].text == "type" and len(statement) > 3 and statement[2].text == "hook"


def parse_base(statement: list[Token], family: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Read `type filter hook ingress device "eth0" priority filter - 5`."""
    texts = [token.text for token in statement]
    base = {"type": texts[1], "hook": texts[3]}
    place = texts.index("priority") if "priority" in texts else len(texts)
    devices = tuple(
        token.text
        for token in statement[4:place]
        if token.kind != "sign" and token.text not in {"device", "devices"}
    )
    words = texts[place + 1 :]
    if words:
        base["priority"] = str(_parse_priority(words, family))
    return base, devices


def _parse_priority(words: list[str], family: str) -> int:
    named = BRIDGE_PRIORITIES if family == "bridge" else PRIORITIES
    name = words[0]
    number = named.get(name, 0)
    if re.fullmatch(r"-?\d{1,10}", name):
        number = int(name)
    rest = "".join(words[1:])
    return number + (int(rest) if re.fullmatch(r"[+-]\d{1,10}", rest) else 0)


def _parse_types(tokens: list[Token]) -> tuple[tuple[str, ...], str]:
    text = " ".join(token.text for token in tokens)
    key, _, data = text.partition(" : ")
    return tuple(part.strip() for part in key.split(" . ")), data.strip()


FORMAT = Format("nft list ruleset", recognise, read)

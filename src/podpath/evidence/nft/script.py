"""Scripts for `nft -f`: commands and blocks of tables, each a record, in the order in which nft
takes them.

What nft's language has beyond (includes, objects with state) is a gap by its name: who takes the
script over says that it is not known what becomes of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from podpath.evidence.nft.records import (
    FAMILIES,
    NftChainRecord,
    NftRuleRecord,
    NftTableRecord,
)
from podpath.evidence.nft.rule_text import parse_rule
from podpath.evidence.nft.terms_text import parse_set
from podpath.evidence.nft.text import NftReader
from podpath.evidence.nft.tokens import Token, TokenCursor
from podpath.evidence.nft.variables import expand_variables
from podpath.evidence.records import Reading, Record
from podpath.net import nft
from podpath.net.provenance import Source, Span

_NUMBER = re.compile(r"[0-9]{1,20}")
_COMMAND = re.compile(
    r"\s*(?:(?:(?:add|create|insert|replace|delete|destroy|flush)\s+(?:ruleset|table|chain|rule|set|map|"
    r"element)\b)|flush\s+ruleset|table\s+(?:(?:ip6?|inet|arp|bridge|netdev)\s+)?\S+\s*\{|"
    r"#!\s*\S*nft\b)"
)
_NAMED = {"rule": 1, "element": 1, "chain": 1, "set": 1, "map": 1, "table": 0, "ruleset": -1}
"""How many names follow a kind of thing, beyond its table's; below zero: not even that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NftCommandRecord(Record):
    """A command of a script; what it adds follows in records of the things themselves."""

    verb: str
    """`flush`, `delete`, `destroy`, `add` of elements; of the rule that follows `insert`,
    `replace`, and `add` beside another.
    """
    kind: str
    """`ruleset`, `table`, `chain`, `set`, `map`, `rule`, `element`."""
    family: str = ""
    """Empty of a ruleset of all families."""
    table: str = ""
    name: str = ""
    elements: tuple[nft.Element, ...] = ()
    handle: int | None = None
    """Of the rule that is deleted or replaced, or beside which another is put."""
    index: int | None = None
    """The same rule by its place in the chain, from 0."""


def is_script(source: Source) -> bool:
    """Tell whether a text is a script for `nft -f`."""
    return any(_COMMAND.match(line) is not None for line in source.lines)


def read_script(source: Source) -> Reading:
    """Read a script: every line ends as a record or a gap."""
    reader = _ScriptReader(source)
    reader.read_all()
    return reader.ledger.close("a command of nft's that is modeled")


class _ScriptReader(NftReader):
    """Goes through the commands of one script. Mutable, used once."""

    def read_all(self) -> None:
        for index, line in enumerate(self.source.lines):
            if line.strip().startswith("#"):
                self.ledger.head(index)
        expanded = expand_variables(self.tokens)
        self.tokens = list(expanded.tokens)
        for place in expanded.defining:
            self.ledger.head(place)
        for place, why in expanded.faults:
            self.ledger.gap(place, why)
        while self.place < len(self.tokens):
            start = self.place
            statement = self.statement()
            if statement:
                self._read_command(statement)
            elif self.place == start:
                self.place += 1
        for index, line in enumerate(self.source.lines):
            if line.strip() in {"}", "};"} and not self.ledger.is_claimed(index):
                self.ledger.head(index)

    def _read_command(self, statement: list[Token]) -> None:
        words = [token.text for token in statement]
        verb = words[0]
        block = statement if verb == "table" else statement[1:]
        if (verb == "table" or words[:2] == ["add", "table"]) and self.opens():
            self.read_table(block)
        elif (
            verb in {"add", "create", "insert", "replace", "delete", "destroy", "flush"}
            and words[1:]
        ):
            self._read_verb(verb, words[1], statement)
        elif verb == "include":
            named = " ".join(words[1:])
            self._refuse(statement, f"`include {named}` is not modeled: put what it names here")
        else:
            self._refuse(statement, f"`{' '.join(words[:2])}` is not modeled")

    def _read_verb(self, verb: str, kind: str, statement: list[Token]) -> None:
        count = _NAMED.get(kind)
        if count is None:
            self._refuse(statement, f"`{verb} {kind}` is not modeled")
            return
        rest = statement[2:]
        family = ""
        if rest and rest[0].text in FAMILIES and rest[0].kind == "word":
            family, rest = rest[0].text, rest[1:]
        elif count >= 0:
            family = "ip"
        names = [token.text for token in rest[: count + 1]]
        if len(names) < count + 1 or any(token.kind == "sign" for token in rest[: count + 1]):
            self._refuse(statement, f"`{verb} {kind}` names less than nft asks for")
            return
        self._read_named(verb, kind, family, statement, rest)

    def _read_named(
        self, verb: str, kind: str, family: str, statement: list[Token], rest: list[Token]
    ) -> None:
        """Read a command whose names are there; `rest` begins with them."""
        table = rest[0].text if rest and kind != "ruleset" else ""
        name = rest[1].text if len(rest) > 1 and kind not in {"ruleset", "table"} else ""
        adds = verb in {"add", "create", "insert"}
        more = rest[bool(table) + bool(name) :]
        if adds and kind in {"chain", "set", "map"} and self.opens():
            reads = self.read_chain if kind == "chain" else self.read_set
            reads(nft.NftFamily(family), table, [statement[1], rest[1]])
        elif kind == "rule" and verb != "flush":
            self._read_rule_command(verb, family, statement, rest)
        elif kind == "element" and verb in {"add", "create", "delete", "destroy"}:
            self._read_elements(verb, family, statement, rest)
        elif more or self.opens():
            self._refuse(statement, f"`{verb} {kind}` in this form is not modeled")
            self._pass_block()
        elif adds and kind in {"table", "chain"}:
            self._add_bare(kind, family, table, name, statement)
        elif verb in {"delete", "destroy", "flush"}:
            self._add_command(verb, kind, family, statement, table, name)
        else:
            self._refuse(statement, f"`{verb} {kind}` is not modeled")

    def _read_rule_command(
        self, verb: str, family: str, statement: list[Token], rest: list[Token]
    ) -> None:
        body = rest[2:]
        beside = {"handle": "handle", "position": "handle", "index": "index"}.get(
            body[0].text if body else "", ""
        )
        placed = beside and body[1:] and _NUMBER.fullmatch(body[1].text)
        number = int(body[1].text) if placed else None
        deletes = verb in {"delete", "destroy"}
        if (beside and number is None) or (deletes and (beside != "handle" or len(body) > 2)):
            self._refuse(statement, f"`{verb} rule` in this form is not modeled")
            return
        body = body[2:] if beside else body
        named = (family, statement, rest[0].text, rest[1].text)
        if deletes:
            self._add_command(verb, "rule", *named, handle=number)
            return
        if not body or (verb == "replace" and beside != "handle"):
            self._refuse(statement, f"`{verb} rule` names less than nft asks for")
            return
        if beside == "index":
            self._add_command(verb, "rule", *named, index=number)
        elif beside or verb == "insert":
            self._add_command(verb, "rule", *named, handle=number)
        read = parse_rule(TokenCursor(body))
        self.ledger.add(
            NftRuleRecord(
                span=self._span(statement),
                family=nft.NftFamily(family),
                table=rest[0].text,
                chain=rest[1].text,
                statements=read.statements,
                comment=read.comment,
            )
        )

    def _read_elements(
        self, verb: str, family: str, statement: list[Token], rest: list[Token]
    ) -> None:
        try:
            elements = parse_set(TokenCursor(rest[2:])).elements
        except (ValueError, RecursionError) as error:
            self._refuse(statement, f"elements of {rest[1].text}: {error}")
            return
        done = "add" if verb == "create" else verb
        record = NftCommandRecord(
            span=self._span(statement),
            verb=done,
            kind="element",
            family=family,
            table=rest[0].text,
            name=rest[1].text,
            elements=elements,
        )
        self.ledger.add(record)

    def _add_bare(
        self, kind: str, family: str, table: str, name: str, statement: list[Token]
    ) -> None:
        """Add a table or a regular chain without a block."""
        span = self._span(statement)
        if kind == "table":
            record = NftTableRecord(span=span, family=nft.NftFamily(family), name=table)
            self.ledger.add(record)
        else:
            chain = NftChainRecord(span=span, family=nft.NftFamily(family), table=table, name=name)
            self.ledger.add(chain)

    def _add_command(  # noqa: PLR0913  # the fields of a command
        self,
        verb: str,
        kind: str,
        family: str,
        statement: list[Token],
        table: str,
        name: str,
        *,
        handle: int | None = None,
        index: int | None = None,
    ) -> None:
        record = NftCommandRecord(
            span=self._span(statement),
            verb=verb,
            kind=kind,
            family=family,
            table=table,
            name=name,
            handle=handle,
            index=index,
        )
        self.ledger.add(record)

    def _span(self, statement: list[Token]) -> Span:
        return self.ledger.span(statement[0].line, statement[-1].line)

    def _refuse(self, statement: list[Token], why: str) -> None:
        self.ledger.gap(statement[0].line, why, statement[-1].line)

    def _pass_block(self) -> None:
        """Pass a block that is not read."""
        depth = 0
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            depth += token.is_sign("{") - token.is_sign("}")
            self.place += 1
            if depth <= 0:
                return

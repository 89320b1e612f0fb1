"""Files that `iptables-restore` takes: its commands in their order, one to a line.

A saved ruleset declares chains and appends rules; a file that somebody writes may also insert,
delete and replace rules, create, empty and delete chains, and set policies. What the program
refuses to read (a line outside of a table, an option `-t`) is a gap. Read from iptables 1.8.9
(`ip46tables_restore_main`, iptables/iptables-restore.c; `do_parse`, iptables/xshared.c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.evidence.iptables.ruleset import RuleText
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Family
from podpath.net.provenance import Source

_TABLE = re.compile(r"\*(?P<table>\S+)\s*")
_DECLARED = re.compile(r":(?P<chain>\S+)\s+(?P<policy>\S+)(?:\s+(?:\[\d+:\d+\]\s*)?)?")
_COMMAND = re.compile(
    r"\s*(?P<counters>\[\d{1,20}:\d{1,20}\]\s*)?(?P<option>-[A-Z]|--[a-z][a-z-]*)(?P<rest>\s.*)?"
)
_CHAIN = re.compile(r"\s+(?P<chain>[^\s!-]\S*)(?P<rest>\s.*)?")
_NUMBER = re.compile(r"\s+(?P<number>\d{1,9})(?P<rest>\s.*)?")
_POLICY = re.compile(r"\s+(?P<policy>[A-Za-z]\S*)(?:\s+-c\s+\d+\s+\d+)?\s*")
_FOREIGN = re.compile(r"\s(?:-t|--table)(?:\s|=|$)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


class RestoreVerb(Enum):
    """What a line of such a file does."""

    TABLE = "*"
    DECLARE = ":"
    APPEND = "-A"
    INSERT = "-I"
    REPLACE = "-R"
    DELETE = "-D"
    CHECK = "-C"
    CREATE = "-N"
    REMOVE = "-X"
    RENAME = "-E"
    FLUSH = "-F"
    POLICY = "-P"
    ZERO = "-Z"


LONG: Mapping[str, str] = {
    "--append": "-A",
    "--insert": "-I",
    "--replace": "-R",
    "--delete": "-D",
    "--check": "-C",
    "--new-chain": "-N",
    "--new": "-N",
    "--delete-chain": "-X",
    "--rename-chain": "-E",
    "--flush": "-F",
    "--policy": "-P",
    "--zero": "-Z",
}
"""Commands as they are written out."""
_WITH_RULE = frozenset(
    {
        RestoreVerb.APPEND,
        RestoreVerb.INSERT,
        RestoreVerb.REPLACE,
        RestoreVerb.DELETE,
        RestoreVerb.CHECK,
    }
)
_NUMBERED = frozenset({RestoreVerb.INSERT, RestoreVerb.REPLACE, RestoreVerb.DELETE})
_ALL_CHAINS = frozenset({RestoreVerb.REMOVE, RestoreVerb.FLUSH, RestoreVerb.ZERO})


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreRecord(Record):
    """One line of a file for iptables-restore."""

    family: Family
    flavour: str | None
    """`legacy` or `nft`, where the file says which program wrote it."""
    table: str
    verb: RestoreVerb
    chain: str = ""
    """Empty where the line is about the whole table."""
    rule: RuleText | None = None
    number: int | None = None
    """The position that it names, from 1."""
    policy: str = ""
    """As it is spelled; `-` of a chain that has none."""
    renamed: str = ""
    """The name that a chain gets."""
    called: bool = False
    """True: `flavour` is that of the program that is called, by its name."""


def read_restore(source: Source, family: Family, flavour: str | None) -> Reading:
    """Read the commands of a file; what the program would refuse to read is a gap."""
    return _RestoreReader(Ledger(source), family, flavour).read()


def read_call(
    ledger: Ledger,
    lines: tuple[int, int],
    *,
    family: Family,
    flavour: str | None,
    table: str,
    command: str,
) -> None:
    """Read one call of iptables, which is a block of its own for the table that it names; `command`
    is the call without its program and that name, as `iptables-save` spells it.
    """
    _RestoreReader(ledger, family, flavour).read_call(lines, table, command)


class _RestoreReader:
    """Reads one file. Mutable, local to one call."""

    __slots__ = ("_family", "_flavour", "_last", "_ledger", "_opened", "_table")

    def __init__(self, ledger: Ledger, family: Family, flavour: str | None) -> None:
        self._ledger = ledger
        self._last: int | None = None
        """The last line of a call that goes over several; None where each has its own."""
        self._family: Family = family
        self._flavour = flavour
        self._table = ""
        self._opened = 0

    def read(self) -> Reading:
        ledger = self._ledger
        for index, line in enumerate(ledger.source.lines):
            if not line:
                continue
            if line.startswith("#"):
                ledger.head(index)
                continue
            why = self._read_line(index, line)
            if why:
                ledger.gap(index, why)
        if self._table:
            ledger.gap(self._opened, "expected COMMIT behind the table, saw the end of the file")
        return ledger.close("a line of a file for iptables-restore")

    def read_call(self, lines: tuple[int, int], table: str, command: str) -> None:
        first, self._last = lines
        self._table = table
        self._add(first, RestoreVerb.TABLE)
        why = self._read_command(first, command)
        if why:
            self._ledger.gap(first, why, self._last)

    def _read_line(self, index: int, line: str) -> str:
        """Keep what a line does; return why it is none that the program takes."""
        if not self._table:
            found = _TABLE.fullmatch(line)
            if found is None:
                return f"expected a line `*TABLE`, saw {line.strip()[:60]!r}"
            self._table, self._opened = found["table"], index
            self._add(index, RestoreVerb.TABLE)
            return ""
        if line.rstrip() == "COMMIT":
            self._table = ""
            self._ledger.head(index)
            return ""
        if line.startswith(":"):
            return self._read_declaration(index, line)
        return self._read_command(index, line)

    def _read_declaration(self, index: int, line: str) -> str:
        found = _DECLARED.fullmatch(line)
        if found is None:
            return f"expected `:CHAIN POLICY`, saw {line.strip()[:60]!r}"
        chain, policy = found["chain"], found["policy"]
        self._add(index, RestoreVerb.DECLARE, chain=chain, policy=policy)
        return ""

    def _read_command(self, index: int, line: str) -> str:
        found = _COMMAND.fullmatch(line)
        option = found["option"] if found is not None else ""
        verb = next((one for one in RestoreVerb if one.value == LONG.get(option, option)), None)
        if found is None or verb is None or _FOREIGN.search(_QUOTED.sub('""', line)):
            return f"expected a command of iptables-restore, saw {line.strip()[:60]!r}"
        rest = found["rest"] or ""
        named = _CHAIN.fullmatch(rest)
        if named is None:
            if verb not in _ALL_CHAINS or rest.strip():
                return f"expected a chain behind {option}, saw {rest.strip()[:60]!r}"
            self._add(index, verb)
            return ""
        chain, rest = named["chain"], named["rest"] or ""
        if verb in _WITH_RULE:
            return self._read_rule(index, verb, chain, found["counters"] or "", rest)
        if verb is RestoreVerb.RENAME:
            new = _CHAIN.fullmatch(rest)
            if new is None or (new["rest"] or "").strip():
                return f"expected the new name of {chain}, saw {rest.strip()[:60]!r}"
            self._add(index, verb, chain=chain, renamed=new["chain"])
            return ""
        if verb is RestoreVerb.POLICY:
            wanted = _POLICY.fullmatch(rest)
            if wanted is None:
                return f"expected a policy behind {chain}, saw {rest.strip()[:60]!r}"
            self._add(index, verb, chain=chain, policy=wanted["policy"])
            return ""
        if rest.strip():
            return f"expected nothing behind {chain}, saw {rest.strip()[:60]!r}"
        self._add(index, verb, chain=chain)
        return ""

    def _read_rule(
        self, index: int, verb: RestoreVerb, chain: str, counters: str, rest: str
    ) -> str:
        numbered = _NUMBER.fullmatch(rest) if verb in _NUMBERED else None
        number = int(numbered["number"]) if numbered is not None else None
        if numbered is not None:
            rest = numbered["rest"] or ""
        if verb is RestoreVerb.REPLACE and number is None:
            return f"expected the number of a rule behind {chain}, saw {rest.strip()[:60]!r}"
        if number is not None and verb is RestoreVerb.DELETE:
            if rest.strip():
                return f"expected nothing behind {number}, saw {rest.strip()[:60]!r}"
            self._add(index, verb, chain=chain, number=number)
            return ""
        read = parse_rule_line(f"{counters}-A {chain}{rest}")
        if read is None:
            return f"expected a rule behind {chain}, saw {rest.strip()[:60]!r}"
        if read.unread:
            return read.unread
        span = self._ledger.span(index, self._last)
        rule = RuleText(
            span,
            chain,
            read.selectors,
            read.matches,
            read.target,
            read.goto,
            read.packets,
            read.bytes,
        )
        self._add(index, verb, chain=chain, rule=rule, number=number)
        return ""

    def _add(  # noqa: PLR0913  # the fields of a line
        self,
        index: int,
        verb: RestoreVerb,
        *,
        chain: str = "",
        policy: str = "",
        rule: RuleText | None = None,
        number: int | None = None,
        renamed: str = "",
    ) -> None:
        record = RestoreRecord(
            span=self._ledger.span(index, self._last) if rule is None else rule.span,
            family=self._family,
            flavour=self._flavour,
            table=self._table,
            verb=verb,
            chain=chain,
            rule=rule,
            number=number,
            policy=policy,
            renamed=renamed,
            called=self._last is not None and self._flavour is not None,
        )
        self._ledger.add(record)

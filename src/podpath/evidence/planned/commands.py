"""Commands that change rules (`iptables -A ...`), routes and policy rules (`ip route add ...`, `ip
rule del ...`), sysctls and modules: one to a line, as a script of the shell has them; those of `ip`
also without that word, as `ip -batch` takes them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podpath.evidence.commands.command import parse_command
from podpath.evidence.iproute.route import parse_route_words
from podpath.evidence.iproute.route_fields import TYPES, RouteFields, RouteListing, assemble_route
from podpath.evidence.iproute.rule import parse_rule_words
from podpath.evidence.kernel.sysctl import spell_key
from podpath.evidence.node_records import PolicyRuleRecord, RouteRecord, SysctlRecord
from podpath.evidence.planned.restore import LONG, RestoreVerb, read_call
from podpath.evidence.planned.shell import ShellCall, read_calls
from podpath.evidence.records import Reading, Record
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import Family
from podpath.net.provenance import Source, Span

_LINE = re.compile(r"\s*(?:sudo\s+|\$\s+|#\s+)?(?P<words>\S.*?)\s*")
_STARTS = re.compile(
    r"\s*(?:sudo\s+)?(?:ip\s+(?:-\S+\s+)*)?(?:r|ro|route|ru|rule)\s+(?:a|add|append|prepend|replace|change|d|del|delete)\b"
    r"|\s*(?:sudo\s+)?(?:sysctl\s+-w|modprobe)\s"
    r"|\s*(?:sudo\s+)?(?:/\S*/)?ip6?tables(?:-nft|-legacy)?\s"
)
_TABLES = re.compile(r"(?:/\S*/)?ip(?P<six>6?)tables(?:-(?P<flavour>nft|legacy))?")
_COMMANDS = frozenset({verb.value for verb in RestoreVerb if verb.value[0] == "-"} | {*LONG})
_LISTING = frozenset({"-L", "--list", "-S", "--list-rules", "-V", "--version", "-h", "--help"})
_PLAIN = re.compile(r"[^\s\"'\\]+")
_SHEBANG = re.compile(r"#!\s*\S*/(?:env\s+)?(?:ba|da|k|z|a)?sh\b")
_ROUTE_VERBS = ("add", "append", "prepend", "replace", "change", "delete")
_RULE_VERBS = ("add", "delete")
_PRIORITIES = frozenset({"pref", "priority", "preference", "order"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCommandRecord(Record):
    """`ip route VERB ...`: a route, as far as the command names it."""

    verb: str
    route: RouteRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCommandRecord(Record):
    """`ip rule VERB ...`."""

    verb: str
    rule: PolicyRuleRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCommandRecord(Record):
    """`modprobe NAME`."""

    name: str


def is_command_list(source: Source) -> bool:
    """Tell whether most lines that say something are such commands, or it is a shell's script, of
    which each line that is none is refused by itself.
    """
    if source.lines and _SHEBANG.match(source.lines[0]) is not None:
        return True
    calls = [call for call in read_calls(source.lines) if call.words or call.fault]
    lines = [source.lines[call.first] for call in calls]
    known = sum(_STARTS.match(line) is not None or "iptables" in line for line in lines)
    return known > 0 and known * 2 >= len(lines)


def read_commands(source: Source) -> Reading:
    """Read one command to a line; what is none of these is a gap."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        if line.lstrip().startswith("#"):
            ledger.head(index)
    for call in read_calls(source.lines):
        if call.fault:
            ledger.gap(call.first, call.fault, call.last)
        elif not call.words:
            ledger.head(call.first, call.last)
        elif (program := _TABLES.fullmatch(call.words[0])) is not None:
            _read_tables(ledger, call, program)
        else:
            span = ledger.span(call.first, call.last)
            try:
                for record in _read_line(shlex.join(call.words), span):
                    ledger.add(record)
            except ValueError as error:
                ledger.refuse(span, str(error))
    return ledger.close("a command that changes rules, routes, policy rules or sysctls")


def _read_tables(ledger: Ledger, call: ShellCall, program: re.Match[str]) -> None:
    """Read a call of iptables; one that lists changes nothing."""
    lines = (call.first, call.last)
    try:
        table, words = _take_options(call.words[1:])
    except ValueError as error:
        ledger.gap(call.first, str(error), call.last)
        return
    place = next((place for place, word in enumerate(words) if word in _COMMANDS), None)
    if place is None:
        if _LISTING.isdisjoint(words):
            why = f"expected a command of iptables (-A, -I, ...), saw {shlex.join(words)[:60]!r}"
            ledger.gap(call.first, why, call.last)
        else:
            ledger.head(call.first, call.last)
        return
    # options may stand before the command, and are the rule's then
    end = place + 1
    while end < len(words) and end < place + 3 and not words[end].startswith(("-", "!")):
        end += 1
    ordered = [*words[place:end], *words[:place], *words[end:]]
    read_call(
        ledger,
        lines,
        family=6 if program["six"] else 4,
        flavour=program["flavour"],
        table=table,
        command=" ".join(map(_quote, ordered)),
    )


def _take_options(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the table that a call names, and its words without that and without those that say how
    the program goes about it.
    """
    table, left = "filter", []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in {"-t", "--table"}:
            if not rest:
                raise ValueError(f"expected a table behind {word}")
            table = rest.pop(0)
        elif word.startswith("--table="):
            table = word.partition("=")[2]
        elif word in {"-w", "--wait", "-W", "--wait-interval"}:
            if rest and rest[0].isdigit():
                rest.pop(0)
        elif word not in {"-v", "--verbose", "-4", "--ipv4", "-6", "--ipv6"}:
            left.append(word)
    return table, left


def _quote(word: str) -> str:
    """Spell a word as `iptables-save` does."""
    if word and _PLAIN.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _read_line(line: str, span: Span) -> Sequence[Record]:
    found = _LINE.fullmatch(line)
    command = parse_command(found["words"] if found is not None else line)
    words = list(command.arguments)
    if command.program == "modprobe" and words and not words[0].startswith("-"):
        return [ModuleCommandRecord(span=span, name=words[0].replace("-", "_"))]
    if command.program == "sysctl":
        return _read_sysctls(words, span)
    if command.program != "ip":
        words = [command.program, *words]
    family: Family | None = None
    while words and words[0].startswith("-"):
        family = {"-4": 4, "-6": 6}.get(words.pop(0), family)  # type: ignore[assignment]  # its values are families
    if len(words) < 3:
        raise ValueError(f"`{line.strip()}` is not modeled")
    if "route".startswith(words[0]):
        return [_read_route(words[1:], span, family)]
    if "rule".startswith(words[0]):
        return [_read_rule(words[1:], span, family)]
    raise ValueError(f"`{' '.join(words[:2])}` is not modeled")


def _read_sysctls(words: Sequence[str], span: Span) -> Sequence[Record]:
    settings = [word for word in words if not word.startswith("-")]
    records: list[Record] = []
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign or not value:
            raise ValueError(f"expected KEY=VALUE, saw {setting!r}")
        records.append(SysctlRecord(span=span, key=spell_key(key), value=value, configured=True))
    return records


def _spell_verb(word: str, verbs: Sequence[str]) -> str:
    """Spell a verb in full, as iproute2 takes any beginning of it."""
    found = next((verb for verb in verbs if verb.startswith(word)), "")
    if not found:
        raise ValueError(f"`{word}` is not modeled")
    return found


def _read_route(words: Sequence[str], span: Span, family: Family | None) -> RouteCommandRecord:
    verb = _spell_verb(words[0], _ROUTE_VERBS)
    rest = list(words[1:])
    if rest and rest[0] == "to":
        rest.pop(0)
    kind = rest.pop(0) if len(rest) > 1 and rest[0] in TYPES else ""
    fields = RouteFields(rest[0], type=kind, family=family)
    parse_route_words(" ".join(rest[1:]), fields)
    if fields.unread or fields.foreign:
        raise ValueError(f"expected a route, saw {(fields.unread or fields.foreign)[:60]!r}")
    if verb == "delete" and not fields.nexthops and not kind:
        fields.type = "throw"  # of a unicast route `assemble_route` wants to know where it leads
        named = assemble_route(fields, span, RouteListing(family, {}))
        return RouteCommandRecord(span=span, verb=verb, route=replace(named, type=None))
    record = assemble_route(fields, span, RouteListing(family, {}))
    return RouteCommandRecord(span=span, verb=verb, route=record)


def _read_rule(words: Sequence[str], span: Span, family: Family | None) -> RuleCommandRecord:
    verb = _spell_verb(words[0], _RULE_VERBS)
    rest = list(words[1:])
    priority = ""
    for place, word in enumerate(rest[:-1]):
        if word in _PRIORITIES:
            priority = rest[place + 1]
            del rest[place : place + 2]
            break
    rule = parse_rule_words(" ".join(rest), priority, span, family, bare=verb == "delete")
    return RuleCommandRecord(span=span, verb=verb, rule=rule)

"""Reads iptables commands as people type them, at a prompt or in a firewall script: what was done
to which chain.

Not modeled: variables of a script, loops and functions: a line with a variable where an address
should be states no address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import LIKELY, NO, Format, sample
from podpath.evidence.records import ChangeCommandRecord, Reading, StatementRecord
from podpath.evidence.text.ledger import Ledger
from podpath.net.addresses import PortRange, Prefix
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.provenance import Source, Span

_PROGRAM = re.compile(r"ip6?tables(?:-legacy|-nft)?")
_LINE = re.compile(
    r"\s*(?:sudo\s+)?(?:/\S*/|\$)?\{?(?:ip6?tables(?:-legacy|-nft)?|IPTABLES|IPT)\}?\s"
    r"(?=(?:.*\s)?(?:-[APIFXDNZ]|--(?:append|policy|insert|flush|delete\S*|new-chain|zero))\b)"
)
_SHELL = re.compile(
    r"\s*(?:#.*|sudo\s.*|\w+=.*|echo\b.*|exit\b.*|(?:/\S*/)?(?:ip6?tables|ip|sysctl|modprobe|sleep|"
    r"service|systemctl)\b.*|(?:if|then|else|fi|for|do|done|case|esac)\b.*|[{}]|(?:\S.*)?\\)\s*"
)
_ACTIONS = {
    "-A": RuleEdit.APPEND,
    "--append": RuleEdit.APPEND,
    "-I": RuleEdit.INSERT,
    "--insert": RuleEdit.INSERT,
    "-D": RuleEdit.DELETE,
    "--delete": RuleEdit.DELETE,
    "-P": RuleEdit.POLICY,
    "--policy": RuleEdit.POLICY,
    "-F": RuleEdit.FLUSH,
    "--flush": RuleEdit.FLUSH,
    "-X": RuleEdit.DELETE_CHAIN,
    "--delete-chain": RuleEdit.DELETE_CHAIN,
}
ANY_PORT = PortRange(0, 65535)
_STATES = {"--ctstate", "--state"}
_FOLLOWING = {"ESTABLISHED", "RELATED"}
_GENERAL = {
    "-j",
    "--jump",
    "-g",
    "--goto",
    "-w",
    "--wait",
    "-t",
    "--table",
    "-m",
    "--match",
    "--reject-with",
    "--comment",
}
"""Options that select no packets, with a value each (`-m` counts by the options that follow it)."""


def recognise(source: Source) -> int:
    """Recognize a script: most of its lines are commands of the shell, and some are iptables
    commands that change a table.
    """
    lines = sample(source)
    if not any(_LINE.match(line) for line in lines):
        return NO
    shell = sum(
        _SHELL.fullmatch(line) is not None or _LINE.match(line) is not None for line in lines
    )
    return LIKELY if shell * 2 > len(lines) else NO


def read(source: Source) -> Reading:
    """Read every command of a script; what else stands in it is no fact."""
    ledger = Ledger(source)
    for index, line in enumerate(source.lines):
        if _LINE.match(line):
            span = ledger.span(index)
            text = line.strip()
            ledger.add(ChangeCommandRecord(span=span, command=text))
            for record in read_typed_rules(text, span):
                ledger.add(record)
        elif _SHELL.fullmatch(line):
            ledger.head(index)
    return ledger.close("a command of a script")


FORMAT = Format("iptables script", recognise, read)


def read_typed_rules(command: str, span: Span) -> Iterator[StatementRecord]:
    """Yield what the iptables commands of a command line do."""
    for step in parse_typed(_name_program(command)).commands:
        if _PROGRAM.fullmatch(step.program):
            rule = parse_typed_rule(step.arguments)
            if rule is not None:
                yield StatementRecord(span=span, statement=rule)


def _name_program(command: str) -> str:
    """Put the program's name where a script has its variable."""
    return re.sub(r"^(\s*(?:sudo\s+)?)\$\{?(?:IPTABLES|IPT)\}?(?=\s)", r"\1iptables", command)


def parse_typed_rule(arguments: Sequence[str]) -> TypedRule | None:
    """Read the arguments of iptables; None where they change nothing that is known here."""
    action = next((word for word in arguments if word in _ACTIONS), None)
    if action is None:
        return None
    place = arguments.index(action)
    chain = _following(arguments, place)
    table = _value(arguments, "-t", "--table") or "filter"
    if _ACTIONS[action] == RuleEdit.POLICY:
        policy = _following(arguments, place + 1)
        return TypedRule(RuleEdit.POLICY, table, chain, policy) if chain and policy else None
    rest = list(arguments[place + 1 :])
    states = {part for name in _STATES for part in _value(rest, name).upper().split(",") if part}
    return TypedRule(
        action=_ACTIONS[action],
        table=table,
        chain=chain,
        target=_value(rest, "-j", "--jump") or _value(rest, "-g", "--goto"),
        plain=not any(word.startswith("-") and word not in _GENERAL for word in rest),
        follows=bool(states) and states <= _FOLLOWING,
        src=_prefix(_value(rest, "-s", "--source", "--src")),
        in_link=_value(rest, "-i", "--in-interface"),
        out_link=_value(rest, "-o", "--out-interface"),
        protocol=_value(rest, "-p", "--protocol", "--proto"),
        sports=_ports(_value(rest, "--sport", "--source-port", "--sports", "--source-ports")),
        dports=_ports(
            _value(rest, "--dport", "--destination-port", "--dports", "--destination-ports")
        ),
    )


def _following(arguments: Sequence[str], place: int) -> str:
    """Return the word behind a place; empty where an option stands there, or nothing."""
    word = arguments[place + 1] if place + 1 < len(arguments) else ""
    return "" if word.startswith("-") else word


def _value(arguments: Sequence[str], *names: str) -> str:
    places = (place for place, word in enumerate(arguments) if word in names)
    return next((_following(arguments, place) for place in places), "")


def _ports(text: str) -> tuple[PortRange, ...]:
    """Read `80`, `80:90` or `80,443`; a name of a service or a variable may be any port."""
    return tuple(_port_range(part) for part in text.split(",") if part)


def _port_range(text: str) -> PortRange:
    first, colon, last = text.partition(":")
    if not (first.isdecimal() and (last.isdecimal() or not colon)):
        return ANY_PORT
    return PortRange(int(first), int(last) if colon else int(first))


def _prefix(text: str) -> Prefix | None:
    try:
        return Prefix.parse(text) if text else None
    except ValueError:
        return None

"""nslookup, dig, host and getent: whether a name server answered, and whether it knows the name.

A server that says that there is no such name, or that it cannot tell, was reached: its answer is a
failure of another sort than silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.attempts.failures import parse_host, parse_result
from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import NAMES, Ending, FailureKind, Result
from podpath.net.provenance import Source
from podpath.net.statements import NameAnswer, NameReply

_TIMEOUT = re.compile(
    r"\s*(?:;; (?:connection timed out|communications error to|no servers could be reached)|"
    r";; UDP setup with .* failed|nslookup: "
    r"(?:can't resolve|read: |write to ')|"
    r"\*\* server can't find .*: (?:NXDOMAIN looking up|No answer)|"
    r";; reply from unexpected source)"
)
_WRITTEN = re.compile(r"^\s*nslookup: write to '[^']*': ")
"""What busybox says before the error of its socket."""
_CODE = re.compile(
    r"status: (?P<code>[A-Z]+)|can't find .*: (?P<told>[A-Z]+)|not found: \d\((?P<number>[A-Z]+)\)"
)
_FOUND = re.compile(r"\S+ has (?:IPv6 )?address |Name:\s|\S+\.\s+\d+\s+IN\s+(?:A|AAAA|CNAME)\s")
_OF_NAMES = NAMES | {FailureKind.NAME_NOT_RESOLVED}
_ANSWERED = re.compile(
    r";; (?:->>HEADER<<-|Query time|Got answer)|Name:\s|\*\* server can't find .*: (?:NXDOMAIN|"
    r"SERVFAIL|REFUSED)|\S+ has (?:IPv6 )?address |"
    r"Host \S+ not found: \d\((?:NXDOMAIN|SERVFAIL|REFUSED)\)|"
    r"Non-authoritative|\S+\.\s+\d+\s+IN\s"
)
_NAMED = re.compile(
    r"Name:\s+(?P<name>[\w.-]+)|(?P<told>[\w.-]+) has (?:IPv6 )?address |"
    r"\d+(?:\.\d+){3}\s+(?P<listed>[\w-][\w.-]*\w)"
)
_TYPE = re.compile(r" -(?:t(?:ype)?|q(?:uery)?(?:type)?)[= ](\w+)")
_STATUS = re.compile(r";; ->>HEADER<<-.* status: ([A-Z]+)")
_NO_RECORD = re.compile(r";; flags:.* ANSWER: 0\b")
_NO_ANSWER = re.compile(r"\*\*\* Can't find (?P<name>[\w.-]+?)\.?: No answer")
_TYPES = frozenset({"A", "AAAA", "SRV", "MX", "TXT", "PTR", "NS", "SOA", "CNAME"})
_QUESTION = re.compile(r";([\w.-]+?)\.?\s+IN\s+([A-Z]+)\s*$")
_DENIED = re.compile(
    r"\*\* server can't find (?P<name>[\w.-]+?)\.?: (?P<code>[A-Z]{5,8})\s*$|"
    r"Host (?P<host>[\w.-]+?)\.? not found: \d\((?P<number>[A-Z]+)\)"
)
_LISTED = re.compile(r"\d+(?:\.\d+){3}\s+[\w-][\w.-]*\w(?:\s+[\w.-]+)*\s*$")
_HOSTS = frozenset({"hosts", "ahosts", "ahostsv4"})
"""Tables of getent that hold addresses of names."""
_SERVER = re.compile(
    r"Server:\s+(?P<a>\S+)|;; SERVER: (?P<b>[^#\s]+)#(?P<port>\d+)|(?:;; communications error to |"
    r".*expected )(?P<c>[^#\s]+)#(?P<d>\d+)|"
    r"Address(?: \d)?:\s+(?P<e>[^#\s]+)(?:#(?P<f>\d+))?|nslookup: write to '(?P<g>[^']+)'"
)


def recognise_resolver(source: Source) -> int:
    """Recognize a resolver's tool by its comments and its server lines."""
    lines = sample(source)
    signs = sum(any(map(sign.match, lines)) for sign in (_TIMEOUT, _ANSWERED, _SERVER))
    program = parse_typed(source.command or "").program
    if program == "getent" and _find_asked(source.command or ""):
        return CERTAIN if lines and all(map(_LISTED.match, lines)) else NO
    if signs and (
        program in {"nslookup", "dig", "host"}
        or any(line.startswith((";; ", "Server:")) for line in lines)
    ):
        return CERTAIN
    return LIKELY if signs > 1 else NO


def read_resolver(source: Source) -> Reading:
    """Read whether the name server was reached."""
    ledger = LineLedger(source)
    lines = ledger.lines
    failed = [index for index, line in enumerate(lines) if _TIMEOUT.match(line)]
    answered = [index for index, line in enumerate(lines) if _ANSWERED.match(line)]
    dst, port = _server(ledger)
    if answered or failed:
        place = answered[0] if answered else failed[0]
        result = _answer(lines) if answered else _error(lines[index] for index in failed)
        add_attempt(
            ledger,
            "DNS lookup",
            (protocols.UDP, dst, port),
            AttemptOutcome(result, lines[place].strip(), place, place),
        )
    asked = _find_asked(source.command or "")
    for index, line in enumerate(lines):
        found = _NAMED.match(line)
        if asked and found is not None:
            name = found["name"] or found["told"] or found["listed"]
            answer = NameAnswer(asked, name.rstrip("."))
            ledger.add(StatementRecord(span=ledger.span(index), statement=answer))
    for index, reply in _list_replies(source.command or "", lines):
        ledger.add(StatementRecord(span=ledger.span(index), statement=reply))
    for index, line in enumerate(lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a line of a resolver's tool")


def _list_replies(command: str, lines: Sequence[str]) -> Iterator[tuple[int, NameReply]]:
    """Yield what was answered to each question, by the line that says so.

    dig prints the code and the question; nslookup and host print the addresses that they found, and
    what kept them from others of the same name: they ask for both families.
    """
    typed = _TYPE.search(command)
    asked = typed[1].upper() if typed is not None else "A"
    status: tuple[int, str] | None = None
    known, empty = "", False
    for index, line in enumerate(lines):
        if (code := _STATUS.search(line)) is not None:
            status, empty = (index, code[1]), False
        elif _NO_RECORD.match(line) is not None:
            empty = True
        elif (question := _QUESTION.match(line)) is not None and status is not None:
            yield status[0], NameReply(question[1], question[2], status[1], empty)
            status = None
        elif (none := _NO_ANSWER.match(line)) is not None:
            yield index, NameReply(none["name"], asked, "NOERROR", empty=True)
        elif (named := _NAMED.match(line)) is not None and not named["listed"]:
            known = (named["name"] or named["told"]).rstrip(".")
            yield index, NameReply(known, asked, "NOERROR")
        elif (denied := _DENIED.match(line)) is not None:
            name = (denied["name"] or denied["host"]).rstrip(".")
            code_of = denied["code"] or denied["number"]
            second = "AAAA" if name == known and typed is None else asked
            yield index, NameReply(name, second, code_of)
    name, kind = _find_dug(command)
    if status is not None and name:
        yield status[0], NameReply(name, kind, status[1], empty)


def _find_dug(command: str) -> tuple[str, str]:
    """Return the name that dig was asked for, and of which type; empty where it asks for none."""
    typed = parse_typed(command)
    if typed.program != "dig" or not typed.commands:
        return "", ""
    words = [word for word in typed.commands[0].arguments if word[:1] not in {"-", "+", "@"}]
    kind = next((word.upper() for word in words if word.upper() in _TYPES), "A")
    names = [word for word in words if "." in word and parse_host(word) is None]
    return (names[0].rstrip("."), kind) if len(names) == 1 else ("", "")


def _find_asked(command: str) -> str:
    """Return the name that nslookup, host or getent was asked for; empty where it asks for none."""
    typed = parse_typed(command)
    if typed.program not in {"nslookup", "host", "getent"} or not typed.commands:
        return ""
    words = [word for word in typed.commands[0].arguments if not word.startswith("-")]
    if typed.program == "getent":
        words = words[1:] if words[:1] and words[0] in _HOSTS else []
    names = [word for word in words if parse_host(word) is None]
    return names[0].rstrip(".") if names else ""


def _answer(lines: Sequence[str]) -> Result:
    """Say what a name server answered."""
    matched = [found for found in map(_CODE.search, lines) if found is not None]
    codes = [found["code"] or found["told"] or found["number"] for found in matched]
    known = any(_FOUND.match(line) for line in lines)
    if not codes or known or "NOERROR" in codes:
        return Ending.OK
    return FailureKind.NAME_UNKNOWN if codes[0] == "NXDOMAIN" else FailureKind.NAME_SERVER_FAILS


def _error(lines: Iterable[str]) -> FailureKind:
    """Say how no name server was reached: by an error of the network where a line has one, else in
    silence.
    """
    said = (_WRITTEN.sub("", line) for line in lines)
    kinds = [kind for kind in map(parse_result, said) if kind is not None and kind not in _OF_NAMES]
    return next((kind for kind in kinds if kind is not FailureKind.TIMEOUT), FailureKind.TIMEOUT)


def _server(ledger: LineLedger) -> tuple[Address | None, int]:
    for line in ledger.lines:
        found = _SERVER.match(line)
        if found is not None:
            address = parse_host(found["a"] or found["b"] or found["c"] or found["e"] or found["g"])
            if address is not None:
                return address, int(found["port"] or found["d"] or found["f"] or 53)
    commands = parse_typed(ledger.source.command or "").commands
    for word in commands[0].arguments if commands else ():
        address = parse_host(word.removeprefix("@"))
        if address is not None:
            return address, 53
    return None, 53


FORMAT = Format("nslookup or dig", recognise_resolver, read_resolver)

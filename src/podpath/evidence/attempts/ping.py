"""ping's output (iputils and busybox): answers, errors, and the summary at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from podpath.evidence.attempts.failures import parse_host, parse_result
from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading, StatementRecord
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import Ending, FailureKind
from podpath.net.probe import USUALLY, Sending
from podpath.net.provenance import Source
from podpath.net.statements import NameAnswer

_START = re.compile(r"PING (?P<name>\S+?)(?: ?\((?P<address>[^)]+)\))?[ :]")
_SUM = re.compile(r"(?P<sent>\d+) packets transmitted, (?P<received>\d+)(?: packets)? received")
_INTERRUPT = re.compile(r"\s*\^C")
_REPLY = re.compile(
    r"(?:\d+ bytes )?from (?P<who>\S+?)(?: \([^)]*\))?:? .*(?:icmp_)?seq=(?P<seq>\d+)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"(?:\d+ bytes )?[Ff]rom (?P<who>\S+)(?: \([^)]*\))?:? (?:icmp_)?seq=\d+ "
    r"(?P<what>.*(?:[Uu]nreachable|exceeded|filtered|"
    r"[Pp]rohibited).*)|"
    r"\d+ bytes from \S+: (?P<told>(?:Destination|Communication|Time to live) .*)|"
    r"Request timeout for icmp_seq|no answer yet for icmp_seq"
)
_MESSAGE = re.compile(
    r"(?:ping6?|connect|sendmsg|sendto): .*(?:[Uu]nreachable|[Nn]o route|not permitted|"
    r"[Pp]ermission denied|[Ii]nvalid argument|broadcast|"
    r"is down|not known|resolution|[Uu]nknown host|bad address|timed out)"
)
_PINGS = frozenset({"ping", "ping4", "ping6"})
_HEADERS = {protocols.ICMP: 28, protocols.ICMPV6: 48}
"""Bytes of the IP and ICMP headers, which ping's size leaves out."""
_SIZES = range(48, 1 << 16)
_LOSS_THAT_COUNTS = 0.2
"""A share of lost packets from which a path is said to fail at times; a first packet lost to ARP is
nothing.
"""


def recognise_ping(source: Source) -> int:
    """Recognize ping by its first line, its answers or its sum."""
    lines = sample(source)
    if any(_START.match(line) or _SUM.match(line) for line in lines):
        return CERTAIN
    spoken = any(
        _MESSAGE.match(line)
        or (line.startswith(("64 bytes from", "From ")) and _REPLY.search(line))
        for line in lines
    )
    return LIKELY if spoken else NO


def read_ping(source: Source) -> Reading:
    """Read what came of it: answers make a success, losses a timeout or what the errors say; both,
    where it failed at times.

    Any ping without a count ends by `^C`: one that lost several requests failed, and one that was
    stopped at its first did not.
    """
    ledger = LineLedger(source)
    lines = ledger.lines
    said = _PingLines.of(lines)
    sent, received = said.sum_up(lines)
    dst = _destination(ledger)
    protocol = protocols.ICMP if dst is None or dst.family == 4 else protocols.ICMPV6
    outcomes: list[AttemptOutcome] = []
    if received and (said.replies or said.total is not None):
        place = said.replies[0] if said.replies else said.total or 0
        outcomes.append(AttemptOutcome(Ending.OK, lines[place].strip(), place, place))
    lost = sent - received
    if said.stopped and sent <= 1 and not said.errors and not received:
        place = said.stopped[0]
        why = "stopped before an answer"
        outcomes.append(AttemptOutcome(Ending.INTERRUPTED, why, place, place))
    elif said.errors:
        place = said.errors[0]
        kind = _kind(lines[place])
        outcomes.append(AttemptOutcome(kind, lines[place].strip(), place, place))
    elif lost and lost >= _LOSS_THAT_COUNTS * sent:
        place = said.total or 0
        why = f"{lost} of {sent} not answered"
        outcomes.append(AttemptOutcome(FailureKind.TIMEOUT, why, place, place))
    for outcome in outcomes:
        add_attempt(ledger, "ping", (protocol, dst, 0), outcome, _sending(ledger.source, protocol))
    _add_name(ledger)
    for index, line in enumerate(lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a line of ping")


def _add_name(ledger: LineLedger) -> None:
    """Keep the name that was found, where a search domain stands behind the one that was typed."""
    typed = parse_typed(ledger.source.command or "")
    words = typed.commands[0].arguments if typed.program in _PINGS else ()
    for index, line in enumerate(ledger.lines):
        found = _START.match(line)
        if found is None:
            continue
        name = found["name"].rstrip(".")
        asked = next((word for word in words if name.startswith(f"{word}.")), "")
        if asked and not asked.startswith("-") and not ledger.is_claimed(index):
            answer = NameAnswer(asked, name)
            ledger.add(StatementRecord(span=ledger.span(index), statement=answer))
        return


class _PingLines(NamedTuple):
    """Which lines of ping say what, by their numbers."""

    errors: Sequence[int]
    replies: Sequence[int]
    stopped: Sequence[int]
    total: int | None
    """The line of the sums, the first one."""

    @classmethod
    def of(cls, lines: Sequence[str]) -> Self:
        """Sort the lines of an output."""
        errors: list[int] = []
        replies: list[int] = []
        stopped: list[int] = []
        totals: list[int] = []
        for index, line in enumerate(lines):
            if _ERROR.match(line) or _MESSAGE.match(line):
                errors.append(index)
            elif _REPLY.match(line):
                replies.append(index)
            if _INTERRUPT.match(line):
                stopped.append(index)
            if _SUM.match(line):
                totals.append(index)
        return cls(errors, replies, stopped, totals[0] if totals else None)

    def sum_up(self, lines: Sequence[str]) -> tuple[int, int]:
        """Return how many requests and answers there were: as the sums say, else as shown."""
        found = None if self.total is None else _SUM.match(lines[self.total])
        if found is None:
            return len(self.replies), len(self.replies)
        return int(found["sent"]), int(found["received"])


def _kind(line: str) -> FailureKind:
    """Say how a line of ping says that it failed."""
    if "timeout for icmp_seq" in line or "no answer yet" in line:
        return FailureKind.TIMEOUT
    return parse_result(line) or FailureKind.UNREACHABLE


def _destination(ledger: LineLedger) -> Address | None:
    for line in ledger.lines:
        found = _START.match(line)
        if found is not None:
            return parse_host(found["address"]) or parse_host(found["name"])
    typed = parse_typed(ledger.source.command or "")
    words = (
        typed.commands[0].arguments if typed.commands and typed.program.startswith("ping") else ()
    )
    return next(
        (address for address in map(parse_host, reversed(words)) if address is not None), None
    )


def _sending(source: Source, protocol: int) -> Sending:
    """Return how the typed command sends: a size that must not be fragmented (`-M do -s 1472`),
    which is how people look for an MTU. Without it, what a size comes to is up to fragments.
    """
    typed = parse_typed(source.command or "")
    words = typed.commands[0].arguments if typed.program in _PINGS else ()
    options = {word: value for word, value in pairwise(words) if word in {"-s", "-M"}}
    size = options.get("-s", "")
    if options.get("-M") != "do" or not size.isdigit():
        return USUALLY
    length = int(size) + _HEADERS[protocol]
    return USUALLY._replace(size=length, dont_fragment=True) if length in _SIZES else USUALLY


FORMAT = Format("ping", recognise_ping, read_ping)

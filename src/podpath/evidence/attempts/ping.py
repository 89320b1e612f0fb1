"""ping's output (iputils and busybox): answers, errors, and the sum at the end."""

from __future__ import annotations

import re

from podpath.evidence.attempts.failures import parse_host, parse_result
from podpath.evidence.attempts.outcome import AttemptOutcome, add_attempt
from podpath.evidence.commands.typed import parse_typed
from podpath.evidence.formats import CERTAIN, LIKELY, NO, Format, sample
from podpath.evidence.records import Reading
from podpath.evidence.text.line_ledger import LineLedger
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import Ending, FailureKind
from podpath.net.provenance import Source

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
    errors = [
        index for index, line in enumerate(lines) if _ERROR.match(line) or _MESSAGE.match(line)
    ]
    replies = [
        index for index, line in enumerate(lines) if _REPLY.match(line) and index not in errors
    ]
    stopped = [index for index, line in enumerate(lines) if _INTERRUPT.match(line)]
    total = next((index for index, line in enumerate(lines) if _SUM.match(line)), None)
    dst = _destination(ledger)
    protocol = protocols.ICMP if dst is None or dst.family == 4 else protocols.ICMPV6
    found = _SUM.match(lines[total]) if total is not None else None
    sent, received = (
        (int(found["sent"]), int(found["received"]))
        if found is not None
        else (len(replies), len(replies))
    )
    if received and (replies or total is not None):
        place = replies[0] if replies else total or 0
        add_attempt(
            ledger,
            "ping",
            (protocol, dst, 0),
            AttemptOutcome(Ending.OK, lines[place].strip(), place, place),
        )
    lost = sent - received
    if stopped and sent <= 1 and not errors and not received:
        place = stopped[0]
        add_attempt(
            ledger,
            "ping",
            (protocol, dst, 0),
            AttemptOutcome(Ending.INTERRUPTED, "stopped before an answer", place, place),
        )
    elif errors or (lost and lost >= _LOSS_THAT_COUNTS * sent):
        place = errors[0] if errors else total or 0
        result = _kind(lines[place]) if errors else FailureKind.TIMEOUT
        detail = lines[place].strip() if errors else f"{lost} of {sent} not answered"
        add_attempt(
            ledger, "ping", (protocol, dst, 0), AttemptOutcome(result, detail, place, place)
        )
    for index, line in enumerate(lines):
        if line.strip() and not ledger.is_claimed(index) and not ledger.elide(index):
            ledger.head(index)
    return ledger.close("a line of ping")


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


FORMAT = Format("ping", recognise_ping, read_ping)

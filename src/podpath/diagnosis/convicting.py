"""What settles a possible fault: a fact that is stated beside its lines, of a kind that its check
says would make it certain.

Each rule is a conjunction: the fault's own line, and a second one that has to do with it. A program
that reports an error and goes on proves nothing; nor does the end of another program, or of the
same one before, or one that has started again since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.checks.finding import WEIGHTY, Finding
from podpath.checks.ground import Ground
from podpath.checks.told import list_failing
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.failures import Ending, FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

NEAR, NEXT = 12, 3
"""Lines from an error to the last words of its program: where each line names its speaker, and
where none does.
"""
SHORTEST_NAME = 3
"""Letters that a unit and its program have in common."""
_WORD = re.compile(r"[\w./:-]{4,}")
_SERVICE = re.compile(
    r"<[^>]*\b(?:svc|service|vip|cluster[ _-]?ip|load[ _-]?balancer|lb)\b", re.IGNORECASE
)
_PROBE = re.compile(r"(?<![\w.])\d{15,19}\.\d{15,19}\. HINFO\b")
"""What CoreDNS' plugin loop asks at its start: a random name and a rare type."""
_RESOLVE = frozenset({"resolve", "resolves", "resolved"})


def settle_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each certain that something stated beside its lines settles."""
    return tuple(_settle(case, finding) for finding in findings)


def _settle(case: Case, finding: Finding) -> Finding:
    if finding.certainty == 1 or finding.severity not in WEIGHTY or finding.rests_on:
        return finding
    for ground in sorted(finding.settled_by, key=lambda one: one.value):
        rule = RULES.get(ground)
        spans = tuple(rule(case, finding)) if rule is not None else ()
        if spans:
            return replace(
                finding,
                certainty=1.0,
                asks=(),
                evidence=tuple(dict.fromkeys((*finding.evidence, *spans[:1]))),
                reasoning=(*finding.reasoning, ground),
            )
    return finding


def _find_end(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the last words of who said what the finding quotes, unless it has started again."""
    quoted = [message for message in case.messages if message.span in finding.evidence]
    starts = [one for one in case.messages if one.kind is MessageKind.PROGRAM_STARTED]
    for end in case.messages:
        if end.kind is not MessageKind.PROGRAM_ENDED:
            continue
        again = any(_is_later(end, start) for start in starts)
        if not again and any(_is_end_of(message, end) for message in quoted):
            yield end.span


def _is_later(first: Message, second: Message) -> bool:
    same = first.span.source.name == second.span.source.name
    return same and second.span.line > first.span.line


def _is_end_of(message: Message, end: Message) -> bool:
    """Tell whether an ending is that of a message's speaker, soon after it."""
    if message.span.source.name != end.span.source.name:
        return False
    distance = end.span.line - message.span.line
    if message.speaker:
        return 0 <= distance <= NEAR and (
            end.speaker == message.speaker or _is_unit_of(end, message.speaker)
        )
    alone = message.span.source == end.span.source and not end.speaker
    return alone and 0 <= distance <= NEXT


def _is_unit_of(end: Message, speaker: str) -> bool:
    """Tell whether the unit that failed is a program's own: they have one name."""
    unit = end.values.get("unit", "").partition("@")[0].casefold()
    program = speaker.partition("[")[0].strip("()").rpartition("/")[2].casefold()
    if min(len(unit), len(program)) < SHORTEST_NAME:
        return False
    return unit.startswith(program) or program.startswith(unit)


def _find_call(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the call of a trace that fails with the error that the finding quotes, and is about the
    same thing.
    """
    quoted = [span for span in finding.evidence if " = -1 E" not in span.text]
    for call in case.messages:
        if call.kind is not MessageKind.CALL_FAILED:
            continue
        error = call.values["error"].casefold()
        things = set(_WORD.findall(call.values.get("arguments", "")))
        for span in quoted:
            rest = span.text.casefold().replace(error, "")
            named = any(thing.casefold() in rest for thing in things)
            if error in span.text.casefold() and named:
                yield call.span


def _tell_by(circumstance: Circumstance) -> Callable[[Case, Finding], Iterator[Span]]:
    def find(case: Case, _: Finding) -> Iterator[Span]:
        return (told.span for told in case.told if told.circumstance is circumstance)

    return find


def _find_lasting(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield what was said more than once for an error that does not pass by itself, where people
    say that anything fails.
    """
    if not any(True for _ in list_failing(case)):
        return
    for message in case.messages:
        lasting = message.values.get("error", "").casefold().strip(" .") in LASTING
        if message.span in finding.evidence and message.times > 1 and lasting:
            yield message.span


def _find_outside_names(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentences that say that names outside fail, and at times only."""
    both = {Circumstance.EXTERNAL_NAMES, Circumstance.INTERMITTENT}
    return (one.span for one in list_failing(case) if one.circumstances >= both)


def _find_masked_service(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted lines whose destination is a service's address, or masked by words for one,
    where people say that anything fails.
    """
    services = {str(address) for one in case.node.services for address in one.addresses}
    if not any(True for _ in list_failing(case)):
        return
    for message in case.messages:
        dst = message.values.get("dst", "")
        known = dst in services or _SERVICE.search(dst) is not None
        if message.span in finding.evidence and known:
            yield message.span


def _find_others_answered(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the sentences that say that names resolve, where each quoted line is about the question
    that a program asks of itself.
    """
    if all(_PROBE.search(span.text) for span in finding.evidence):
        for one in case.complaints:
            if one.works and not _RESOLVE.isdisjoint(one.spoken):
                yield one.span


def _find_its_task(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the sentences that miss routes or addresses, where the unit that sets them up has ended
    and is not said to have started since.
    """
    starts = [one for one in case.messages if one.kind is MessageKind.PROGRAM_STARTED]
    for message in case.messages:
        if message.span not in finding.evidence or _MANAGER.search(message.span.text) is None:
            continue
        if not any(_is_later(message, start) for start in starts):
            yield from (one.span for one in list_failing(case) if one.spoken & _SET_UP)


_MANAGER = re.compile(r"\b(?:systemd-networkd|NetworkManager|dhcpcd|networking|wicked\w*)\.service")
_SET_UP = frozenset({"ipv6", "route", "routes", "address", "addresses", "lease", "dhcp", "gateway"})
"""What people call that which a network manager sets up."""


def _find_own_reject(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted errors that who is asked sends, where people say that anything fails."""
    if not any(True for _ in list_failing(case)):
        return
    asked = {str(attempt.probe.dst) for attempt in case.attempts if attempt.is_bad}
    for message in case.messages:
        hop, target = message.values.get("hop"), message.values.get("target")
        own = hop == target if target is not None else hop in asked
        if message.span in finding.evidence and hop is not None and own:
            yield message.span


def _find_insisted(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted errors that a hop sends several times to one client about one target, where
    people say that anything fails.
    """
    if not any(True for _ in list_failing(case)):
        return
    for message in case.messages:
        ends = {"client", "target"} <= message.values.keys()
        if message.span in finding.evidence and ends and message.times >= INSISTS:
            yield message.span


def _find_family_off(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the kernel's command line that switches the family off, where people say that something
    does not start, or refuses.
    """
    unserved = {FailureKind.NOT_STARTED, FailureKind.REFUSED}
    if any(one.failure in unserved for one in list_failing(case)):
        kind = MessageKind.FAMILY_OFF_AT_BOOT
        yield from (one.span for one in case.messages if one.kind is kind)


def _find_delayed_service(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentences that say that a service of pods on another node answers late."""
    for one in list_failing(case):
        slow = one.failure is FailureKind.SLOW and one.same_node is False
        if slow and one.target in {EndKind.SERVICE, EndKind.NODE_PORT, EndKind.API_SERVER}:
            yield one.span


def _find_whole_ttl(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted answers to a ping that was typed without a TTL, which one hop gave again,
    where no connection is shown to be made.
    """
    if any(attempt.result is Ending.OK for attempt in case.attempts):
        return
    for message in case.messages:
        command = message.span.source.command or ""
        plain = _PING.match(command) is not None and _TTL.search(command) is None
        if message.span in finding.evidence and message.times > 1 and plain:
            yield message.span


_PING = re.compile(r"(?:sudo )?ping6? ")
_TTL = re.compile(r" -[tTmi] ?\d| --ttl\b")
"""What gives packets a TTL: Linux' -t, others' -m, -T and -i."""


def _find_same_port(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted lines by which the kernel drops requests for the port that fails; where no
    sentence names one with what fails, for the port of which the text above them speaks.
    """
    failing = {port for one in list_failing(case) for port in one.ports}
    working = {port for one in case.complaints if one.works for port in one.ports}
    for message in case.messages:
        if message.span not in finding.evidence or "action" not in message.values:
            continue
        port = int(message.values["port"])
        label = message.span.source.label or ""
        spoken = re.search(rf"(?:\bports?\W+(?:\w+\W+)?|[\w.]:){port}\b", label)
        named = port in failing if failing else spoken is not None
        if named and port not in working:
            yield message.span


INSISTS = 3
"""Errors about one target after which a sender that takes them would send smaller packets."""
LASTING = frozenset({
    "is a directory", "not a directory", "read-only file system", "function not implemented",
    "operation not supported", "exec format error", "protocol not supported",
    "operation not permitted", "permission denied", "no such device",
    "executable file not found in $path", "no such file or directory",
})  # fmt: skip
"""Errors of calls that trying again does not cure, in the words of strerror(3)."""

RULES: Mapping[Ground, Callable[[Case, Finding], Iterator[Span]]] = {
    Ground.ENDED: _find_end,
    Ground.SAME_ERROR: _find_call,
    Ground.LASTING: _find_lasting,
    Ground.OUTSIDE_NAMES: _find_outside_names,
    Ground.SERVICE_MASKED: _find_masked_service,
    Ground.OTHERS_ANSWERED: _find_others_answered,
    Ground.ITS_TASK: _find_its_task,
    Ground.OWN_REJECT: _find_own_reject,
    Ground.INSISTED: _find_insisted,
    Ground.SAME_PORT: _find_same_port,
    Ground.WHOLE_TTL: _find_whole_ttl,
    Ground.SYMPTOM: _find_delayed_service,
    Ground.SAME_MECHANISM: _find_family_off,
    Ground.ONE_NODE: _tell_by(Circumstance.ONE_NODE),
    Ground.BY_HAND: _tell_by(Circumstance.BY_HAND),
    Ground.AT_CONTAINER_START: _tell_by(Circumstance.AT_CONTAINER_START),
}
"""By what would settle a fault, what looks for it."""

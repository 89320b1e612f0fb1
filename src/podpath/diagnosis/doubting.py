"""What makes a certain fault a possible one: a fact that is stated beside its lines, of a kind that
its check says would leave it open.

One line of a program convicts only while no other line of the ticket ends it, explains it, or says
that it means something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.checks.finding import WEIGHTY, Finding
from podpath.checks.ground import Unsettling
from podpath.net.failures import Ending
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

LONG = 300.0
"""Seconds of a log after which what was said at their beginning is over."""
DOUBTED = 0.6
"""The certainty of a fault that something stated leaves open."""
_UPTIME = re.compile(r"\[ *(\d{1,9}\.\d{3,9})\]")
_CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)(?!\d)")
_NAMES = ("device", "bond", "bridge", "link")
"""Values of a message that name a device."""


def doubt_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each possible that something stated beside its lines leaves open."""
    return tuple(_doubt(case, finding) for finding in findings)


def _doubt(case: Case, finding: Finding) -> Finding:
    if finding.certainty < 1 or finding.severity not in WEIGHTY:
        return finding
    for doubt in sorted(finding.doubted_by, key=lambda one: one.value):
        span = next(RULES[doubt](case, finding), None)
        if span is not None:
            return replace(
                finding,
                certainty=DOUBTED,
                evidence=tuple(dict.fromkeys((*finding.evidence, span))),
                reasoning=(*finding.reasoning, doubt),
            )
    return finding


def _list_quoted(case: Case, finding: Finding) -> list[Message]:
    return [message for message in case.messages if message.span in finding.evidence]


def _list_devices(case: Case, finding: Finding) -> set[str]:
    """Return the devices that a finding's messages name, with those that belong to them by others:
    the members of a bond.
    """
    own: set[str] = set()
    for message in _list_quoted(case, finding):
        own.update(_read_devices(message))
    related = [one for one in map(_read_devices, case.messages) if own & one]
    return own.union(*related)


def _read_devices(message: Message) -> set[str]:
    return {message.values[name] for name in _NAMES if name in message.values}


def _find_later(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of the same log about the same device, long after the last word of the fault."""
    quoted = _list_quoted(case, finding)
    devices = _list_devices(case, finding)
    shapes = {_shape(message.span.text) for message in quoted}
    for source in {message.span.source for message in quoted}:
        numbered = enumerate(source.lines, source.first_line)
        spoken = [(number, line) for number, line in numbered if _names_any(line, devices)]
        hangs = [number for number, line in spoken if _shape(line) in shapes]
        ended = [read_time(line) for number, line in spoken if number == max(hangs, default=0)]
        for number, line in spoken:
            time = read_time(line)
            if number > max(hangs, default=number) and time is not None and ended[0] is not None:
                yield from (Span(source, number, number),) if time - ended[0] > LONG else ()


def _names_any(line: str, devices: Collection[str]) -> bool:
    return any(device in line for device in devices)


def _shape(line: str) -> str:
    """Return a line without numbers and blanks: a program says the same again at another time."""
    return re.sub(r"[\s\d]+", "", line)


def read_time(line: str) -> float | None:
    """Return the seconds that a line of a log begins with: since the boot, or of the day."""
    uptime = _UPTIME.search(line)
    if uptime is not None:
        return float(uptime[1])
    clock = _CLOCK.search(line)
    if clock is None:
        return None
    hours, minutes, seconds = map(int, clock.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


def _find_answered(case: Case, _: Finding) -> Iterator[Span]:
    """Yield a try that was answered; one from a good host, or after the cure, says nothing."""
    return (
        attempt.span
        for attempt in case.attempts
        if attempt.result is Ending.OK and not attempt.good
    )


def _find_unread(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield an output that was not read, whose command names one of the finding's devices."""
    devices = _list_devices(case, finding)
    for gap in case.gaps:
        words = set(re.split(r"[^\w.@-]+", gap.span.source.command or ""))
        if devices & words and gap.span not in finding.evidence:
            yield gap.span


def _find_existing(case: Case, _: Finding) -> Iterator[Span]:
    """Yield a refusal to make something that is there already."""
    for message in case.messages:
        exists = message.values.get("error", "").casefold() == "file exists"
        if message.kind is MessageKind.RTNETLINK_ANSWER and exists:
            yield message.span


RULES: Mapping[Unsettling, Callable[[Case, Finding], Iterator[Span]]] = {
    Unsettling.OVER: _find_later,
    Unsettling.WORKS: _find_answered,
    Unsettling.UNREAD_BESIDE: _find_unread,
    Unsettling.EXISTS: _find_existing,
}
"""By what would leave a fault open, what looks for it."""

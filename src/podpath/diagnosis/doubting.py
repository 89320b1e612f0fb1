"""What makes a certain fault a possible one: a fact that is stated beside its lines, of a kind that
its check says would leave it open.

One line of a program convicts only while no other line of the ticket ends it, explains it, or says
that it means something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from podpath.checks.finding import WEIGHTY, Finding, FollowUp
from podpath.checks.ground import Unsettling
from podpath.diagnosis.beside import (
    find_answered_beyond,
    find_done,
    find_named_by_command,
    find_other_device,
    find_other_failure,
    find_outside_range,
    find_own_words,
    find_recovered,
    find_running,
    find_standing,
    find_unowned,
    find_without_speed,
    list_devices,
    list_quoted,
    names_any,
    shape,
)
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

LONG = 300.0
"""Seconds of a log after which what was said at their beginning is over."""
DOUBTED = 0.6
"""The certainty of a fault that something stated leaves open."""
_UPTIME = re.compile(r"\[ *(\d{1,9}\.\d{3,9})\]")
_TAKEN = re.compile(
    r"\b(?:bridge|device|interface|link)\b.*\balready (?:exists|in use)\b|\bFile exists\b",
    re.IGNORECASE,
)
"""What tools say of a device that is there already, in words that no row of messages has."""
_CLOCK = re.compile(r"(?<!\d)(\d\d):(\d\d):(\d\d)(?!\d)")


def doubt_findings(case: Case, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, each possible that something stated beside its lines leaves open."""
    return tuple(_doubt(case, finding) for finding in findings)


def _doubt(case: Case, finding: Finding) -> Finding:
    """Return a finding, possible only, and not to be settled, where anything unsettles it."""
    settled = finding.settled_by or finding.proves or finding.needed_for or finding.certainty == 1
    if not settled or finding.severity not in WEIGHTY:
        return finding
    for doubt in sorted(finding.doubted_by | ALWAYS, key=lambda one: one.value):
        span = next(RULES[doubt](case, finding), None)
        if span is not None:
            return replace(
                finding,
                certainty=min(finding.certainty, DOUBTED),
                settled_by=frozenset(),
                proves=frozenset(),
                needed_for=frozenset(),
                asks=finding.asks or ASKS.get(doubt, ()),
                evidence=tuple(dict.fromkeys((*finding.evidence, span))),
                reasoning=(*finding.reasoning, doubt),
            )
    return finding


def _find_later(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a line of the same log about the same device, long after the last word of the fault."""
    quoted = list_quoted(case, finding)
    devices = list_devices(case, finding)
    shapes = {shape(message.span.text) for message in quoted}
    for source in {message.span.source for message in quoted}:
        numbered = enumerate(source.lines, source.first_line)
        spoken = [(number, line) for number, line in numbered if names_any(line, devices)]
        hangs = [number for number, line in spoken if shape(line) in shapes]
        ended = [read_time(line) for number, line in spoken if number == max(hangs, default=0)]
        for number, line in spoken:
            time = read_time(line)
            if number > max(hangs, default=number) and time is not None and ended[0] is not None:
                yield from (Span(source, number, number),) if time - ended[0] > LONG else ()


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


def _find_unread(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield an output that was not read, whose command names one of the finding's devices."""
    devices = list_devices(case, finding)
    for gap in case.gaps:
        words = set(re.split(r"[^\w.@-]+", gap.span.source.command or ""))
        if devices & words and gap.span not in finding.evidence:
            yield gap.span


def _find_existing(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield a refusal to make something that is there already, or the device that was asked for."""
    yield from find_named_by_command(case, finding)
    for gap in case.gaps:
        if _TAKEN.search(gap.span.text):
            yield gap.span
    for message in case.messages:
        exists = message.values.get("error", "").casefold() == "file exists"
        if message.kind is MessageKind.RTNETLINK_ANSWER and exists:
            yield message.span


RULES: Mapping[Unsettling, Callable[[Case, Finding], Iterator[Span]]] = {
    Unsettling.OVER: _find_later,
    Unsettling.WORKS: find_answered_beyond,
    Unsettling.UNREAD_BESIDE: _find_unread,
    Unsettling.EXISTS: _find_existing,
    Unsettling.RECOVERED: find_recovered,
    Unsettling.STANDS: find_standing,
    Unsettling.OTHER_DEVICE: find_other_device,
    Unsettling.OTHER_FAILURE: find_other_failure,
    Unsettling.OWN_WORDS: find_own_words,
    Unsettling.OUTSIDE_RANGE: find_outside_range,
    Unsettling.ITS_OWN: find_unowned,
    Unsettling.NO_SPEED: find_without_speed,
    Unsettling.DONE: find_done,
    Unsettling.RUNS: find_running,
}
"""By what would leave a fault open, what looks for it."""
ALWAYS = frozenset({Unsettling.DONE, Unsettling.RUNS})
"""What leaves any fault open that messages tell."""

_NOW = FollowUp(
    "what fails now: the logged fault is over, or the device works despite it",
    "ip -s link; ip neigh; ip route get ADDRESS; ping -c 3 ADDRESS; getent hosts NAME",
    "the device's error counters grow, or its next hop does not answer: this is the cause; "
    "otherwise look at the name, the route or the port that fails",
)
_SINCE = FollowUp(
    "whether the program has said it again since it went on",
    "the newest lines of the same log (kubectl logs --since=10m POD; journalctl -u UNIT -n 50)",
    "the line comes again: this is the cause; otherwise it is over, and something else fails",
)
_LEFT_OVER = FollowUp(
    "whether what is in the way is left over from the same network",
    "ip -br addr; virsh net-list --all; docker network ls; podman network ls; "
    "ip -d link show DEVICE",
    "its own device, but no network of that name: delete the device; otherwise another network "
    "or route has the range",
)
ASKS: Mapping[Unsettling, tuple[FollowUp, ...]] = {
    Unsettling.OVER: (_NOW,),
    Unsettling.WORKS: (_NOW,),
    Unsettling.RECOVERED: (_NOW,),
    Unsettling.STANDS: (_NOW,),
    Unsettling.OTHER_DEVICE: (_NOW,),
    Unsettling.DONE: (_SINCE,),
    Unsettling.RUNS: (_SINCE,),
    Unsettling.EXISTS: (_LEFT_OVER,),
    Unsettling.ITS_OWN: (_LEFT_OVER,),
}
"""What to ask where a doubt leaves a fault open whose check asks nothing."""

"""What captures show, as terminal text: the fault first, then where it was captured, who talked
with whom, what was not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from podpath.capture.frames import clock
from podpath.capture.states import STATES
from podpath.checks.finding import WEIGHTY, Finding
from podpath.diagnosis.capture_answer import (
    CaptureAnswer,
    CaptureForbids,
    ConnectionsFail,
    ConnectionSummary,
    NoPacket,
    PacketsDropped,
    PacketsRefused,
    RequestsUnanswered,
)
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled
from podpath.node.case import CapturedPoint
from podpath.report.brief import render_brief_answer, render_decisive
from podpath.report.claims import spell_claim
from podpath.report.escape import escape
from podpath.report.finding_text import render_finding, render_short
from podpath.report.quotes import left_out, render_gaps
from podpath.report.style import Style, render_head

_NAMES = (
    "To name these devices, pass the host's `ip link`, taken while it has them, together with "
    "this one capture, or a bundle from each host."
)
LISTED = 8
"""Connections, and findings of one kind, that are told to a reader who did not ask for all."""


def render_capture(answer: CaptureAnswer, style: Style, drawings: Sequence[str] = ()) -> str:
    """Render the whole answer; `drawings` are ladders, safe to print already."""
    weighty = [finding for finding in answer.findings if finding.severity in WEIGHTY]
    lesser = [finding for finding in answer.findings if finding.severity not in WEIGHTY]
    lines = [*_headline(answer, weighty, style), *_count_failing(answer, weighty, style)]
    spans = [span for one in answer.forbids for span in one.spans]
    fix: Sequence[str] = ()
    ask = ""
    if weighty:
        first = weighty[0]
        spans = list(first.evidence)
        fix = first.repairs[0].commands if first.repairs else ()
        ask = f"podpath explain {first.check}"
    if style.brief:
        return render_brief_answer(lines, spans, fix=fix, ask=ask)
    lines += render_decisive(spans, style, fix=fix, ask=ask)
    lines += _faults(weighty, style)
    for drawing in drawings:
        lines += ["", *drawing.rstrip("\n").split("\n")]
    lines += _lesser(lesser, style)
    lines += _points(answer.points, style)
    lines += _connections(answer, style)
    lines += render_gaps(answer.gaps, style)
    return "\n".join(lines) + "\n"


def _faults(weighty: Sequence[Finding], style: Style) -> list[str]:
    """Render each fault in full; the first one's head stands above already."""
    shown = weighty if style.verbose else weighty[:LISTED]
    lines: list[str] = []
    for number, finding in enumerate(shown):
        if number:
            lines += ["", *render_head(style, "bad", "FAULT", spell_claim(finding.claim))]
        more = style.paint("dim", f"more: podpath explain {escape(finding.check)}")
        lines += [*render_finding(finding, style), "", f"  {more}"]
    return [*lines, *left_out(len(weighty) - len(shown), "fault", style)]


def _lesser(lesser: Sequence[Finding], style: Style) -> list[str]:
    """Render in short what is no fault."""
    if not lesser:
        return []
    shown = lesser if style.verbose else lesser[:LISTED]
    lines = ["", style.paint("head", "Also seen")]
    for finding in shown:
        lines += render_short(finding, style)
    return [*lines, *left_out(len(lesser) - len(shown), "note", style)]


def _headline(answer: CaptureAnswer, weighty: Sequence[Finding], style: Style) -> list[str]:
    if weighty:
        return render_head(
            style,
            "bad",
            "CAUSE" if weighty[0].severity == "cause" else "FAULT",
            spell_claim(weighty[0].claim),
        )
    if answer.verdict == "undecided":
        return render_head(
            style,
            "warn",
            "UNDECIDED",
            "; ".join(say_capture_forbids(one) for one in answer.forbids),
        )
    packets = sum(point.packets for point in answer.points)
    return render_head(
        style,
        "good",
        "NOTHING WRONG FOUND",
        f"in {packets} packets at {len(answer.points)} capture points",
    )


def _count_failing(answer: CaptureAnswer, weighty: Sequence[Finding], style: Style) -> list[str]:
    """Say beside a fault how many connections fail at all."""
    count, asked = answer.failing
    if not weighty or not count:
        return []
    verb = "fails" if count == 1 else "fail"
    return style.wrap(f"{count} of {asked} TCP connections {verb}.", "  ")


def say_capture_forbids(one: CaptureForbids) -> str:
    """Say why captures do not show that nothing is wrong."""
    match one:
        case NoPacket():
            return "no packet was read"
        case PacketsDropped(points=points):
            count = sum(point.dropped for point in points)
            return f"the kernel dropped {count} packets at {points[0].name} that no capture shows"
        case ConnectionsFail(connections=connections, count=count, asked=asked):
            first = ""
            if connections:
                first = f", the first {connections[0].words} ({connections[0].meaning})"
            verb = "fails" if count == 1 else "fail"
            return (
                f"{count} of {asked} TCP connections {verb}{first}, and no known fault explains it"
            )
        case PacketsRefused(errors=errors):
            error = errors[0].packet
            to = error.quoted.dst if error.quoted is not None else error.dst
            others = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
            return f"{error.src} refuses a packet from {error.dst} to {to}{others}"
        case RequestsUnanswered(requests=requests):
            others = f", and {len(requests) - 1} more" if len(requests) > 1 else ""
            return f"{requests[0]} has no answer in the capture{others}"
        case LinesUnread(gaps=gaps):
            return (
                f"{len(gaps)} {'part was' if len(gaps) == 1 else 'parts were'} not read, the first "
                f"at {gaps[0].span}"
            )
        case InputCut(gaps=gaps):
            return f"not all of {gaps[0].span.source.name} was seen: {gaps[0].why}"
        case NotModelled(what=what):
            return what
        case _:
            assert_never(one)


def _points(points: Sequence[CapturedPoint], style: Style) -> list[str]:
    if not points:
        return []
    shown = points if style.verbose else points[: 2 * LISTED]
    width = max(len(escape(point.name)) for point in shown)
    lines = ["", style.paint("head", "Captured")]
    for point in shown:
        if point.first is not None and point.last is not None:
            times = f"  {clock(point.first)} to {clock(point.last)}"
        else:
            times = ""
        if point.dropped:
            dropped = f"  {style.paint('warn', f'{point.dropped} dropped by the kernel')}"
        else:
            dropped = ""
        lines.append(f"  {escape(point.name):<{width}}  {point.packets} packets{times}{dropped}")
    lines += left_out(len(points) - len(shown), "point", style)
    if any(one.unnamed for one in points):
        return [*lines, *style.wrap(_NAMES, "  ")]
    return lines


def _connections(answer: CaptureAnswer, style: Style) -> list[str]:
    if not answer.connections and not answer.states:
        return []
    counts = ", ".join(
        f"{number} {state} ({STATES.get(state, '')})" for state, number in answer.states.items()
    )
    lines = ["", style.paint("head", "Connections")]
    lines += style.wrap(f"TCP: {counts}", "  ") if counts else []
    shown = answer.connections if style.verbose else answer.connections[:LISTED]
    for one in shown:
        lines.append(
            f"  {_mark(one, style)} {escape(one.words)}  {one.state or one.meaning}, {one.packets} "
            "packets"
        )
        if len(one.points) > 1:
            lines += style.wrap(escape(style.hop.join(one.points)), "      ")
    return lines + left_out(len(answer.connections) - len(shown), "connection", style)


def _mark(one: ConnectionSummary, style: Style) -> str:
    if one.fails:
        return style.broken
    if one.state in ("SF", "S1", "S2", "S3") or one.meaning == "answered":
        return style.arrived
    return style.doubtful

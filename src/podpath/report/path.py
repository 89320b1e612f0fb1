"""The path of a connection in a few lines: one for each packet, its hops in a row, the break
marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from podpath.datapath.tracing.trace import (
    Branch,
    Delivered,
    Dropped,
    Outcome,
    Rejected,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.datapath.vocabulary import Direction
from podpath.net.packet import Packet, spell_ends
from podpath.report.escape import escape
from podpath.report.sentences import spell_reason
from podpath.report.style import Style

MOST_HOPS = 12
"""Hops that are drawn of one packet: only one that goes round has more."""


def render_path(branch: Branch, style: Style, indent: str) -> list[str]:
    """Draw each packet of the branch: its name, direction, hops, and where it arrived or broke.

    The last packet of a branch that fails broke it, even where it reached somebody: a reply that
    its client does not know.
    """
    width = max((len(trace.name) for trace in branch.traces), default=0)
    lines: list[str] = []
    for trace in branch.traces:
        arrow = style.forth if trace.direction is Direction.ORIGINAL else style.back
        head = f"{indent}{escape(trace.name):<{width}} {arrow} "
        arrived = isinstance(trace.outcome, (Delivered, Transmitted))
        unwanted = arrived and branch.works is False and trace is branch.last
        sign = style.broken if unwanted else _sign(trace.outcome, style)
        words = f"{describe_end(trace, style)}{_unwanted(branch.kind, style) if unwanted else ''}"
        tail = f"{sign} {words}"
        hops = style.hop.join(_shorten(list(_hops(trace)), style))
        if len(head) + len(hops) + len(words) + 3 <= style.width or len(head) > style.width:
            lines.append(f"{head}{hops} {tail}")
        else:
            lines += [f"{head}{hops}", f"{' ' * len(head)}{tail}"]
    return lines


def describe_outcome(outcome: Outcome) -> str:
    """Say in a few words how a packet ended."""
    match outcome:
        case Delivered():
            return f"delivered in netns {escape(outcome.netns)}"
        case Transmitted():
            return f"left the node on {escape(outcome.link)}"
        case Dropped():
            return f"dropped in netns {escape(outcome.netns)}{_reason(outcome.reason)}"
        case Rejected():
            return (
                f"rejected in netns {escape(outcome.netns)}{_reason(outcome.reason)}: the sender "
                f"gets {escape(outcome.answer)}"
            )
        case Undecided():
            return (
                f"undecided in netns {escape(outcome.netns)}: "
                f"{escape(spell_reason(outcome.reason))}"
            )
        case _:
            assert_never(outcome)


def _hops(trace: Trace) -> Iterator[str]:
    """Name each namespace and device when the packet first comes to it."""
    netns, link = trace.start, ""
    yield escape(netns)
    for step in trace.steps:
        if step.netns != netns:
            netns, link = step.netns, ""
            yield escape(netns)
        if step.link and step.link != link:
            link = step.link
            yield escape(link)


def _sign(outcome: Outcome, style: Style) -> str:
    match outcome:
        case Delivered() | Transmitted():
            return style.arrived
        case Dropped() | Rejected():
            return style.broken
        case Undecided():
            return style.doubtful
        case _:
            assert_never(outcome)


def describe_end(trace: Trace, style: Style) -> str:
    """Say how a packet ended: where it arrived, as what, or what stopped it."""
    outcome = trace.outcome
    match outcome:
        case Delivered() | Transmitted():
            place = "delivered" if isinstance(outcome, Delivered) else "left the node"
            last = outcome.packet
            rewritten = (last.src, last.dst, last.sport, last.dport) != _ends(trace.packet)
            if rewritten:
                return f"{place} as {spell_ends(last)}"
            return place
        case Dropped() | Rejected():
            stage = f"at {escape(trace.deciding.stage)}" if trace.steps else ""
            word = "dropped" if isinstance(outcome, Dropped) else "rejected"
            return style.paint("bad", f"{word} {stage}{_reason(outcome.reason)}")
        case Undecided():
            return style.paint("warn", f"undecided: {escape(spell_reason(outcome.reason))}")
        case _:
            assert_never(outcome)


def _reason(reason: str) -> str:
    """Name the kernel's drop reason where it says something."""
    if reason and reason != "NOT_SPECIFIED":
        return f" ({escape(reason)})"
    return ""


def _unwanted(kind: str, style: Style) -> str:
    return style.paint("bad", f": {escape(kind)}" if kind else "")


def _shorten(hops: list[str], style: Style) -> list[str]:
    """Leave out the middle of a way that goes round and round."""
    if len(hops) <= MOST_HOPS:
        return hops
    return [*hops[: MOST_HOPS - 2], "…" if style.unicode else "...", hops[-1]]


def _ends(packet: Packet) -> tuple[object, ...]:
    return packet.src, packet.dst, packet.sport, packet.dport

"""The shapes that both JSON reports share: quotes, packets, assumptions. Field names are the
published schema's.
"""

from __future__ import annotations

from typing import TypedDict

from podpath.checks.owned import NOBODY, OwnerPlaces
from podpath.datapath.tracing.trace import (
    Assumption,
    Branch,
    Delivered,
    Dropped,
    Rejected,
    Step,
    Trace,
    Transmitted,
    Undecided,
)
from podpath.net.packet import Packet
from podpath.net.provenance import Gap, Span
from podpath.report.escape import escape
from podpath.report.owner_words import owned_objects, owner_object
from podpath.report.sentences import spell_failure, spell_near, spell_reason


class Quote(TypedDict):
    """A line of evidence."""

    source: str
    line: int
    text: str


class StepObject(TypedDict):
    """One decision."""

    stage: str
    netns: str
    link: str | None
    function: str
    decision: str
    why: str
    before: str
    after: str
    evidence: list[Quote]
    near: list[dict[str, object]]
    owner: dict[str, str] | None
    whose: list[dict[str, object]]


class PacketObject(TypedDict):
    """One packet of a conversation."""

    name: str
    direction: str
    netns: str
    packet: str
    outcome: str
    drop_reason: str | None
    answer: str | None
    left_as: str | None
    link: str | None
    ask: str | None
    decided_by: Quote | None
    steps: list[StepObject]


def quote_object(span: Span) -> Quote:
    """Quote a span: the line it starts on and its text, lines joined by a newline."""
    return Quote(
        source=escape(span.source.name),
        line=span.line,
        text="\n".join(escape(line) for line in span.text.split("\n")),
    )


def gap_object(gap: Gap) -> dict[str, object]:
    """Return a gap as its quote and why."""
    return {**quote_object(gap.span), "why": escape(gap.why)}


def assumption_object(made: Assumption) -> dict[str, object]:
    """Return an assumption with its meaning in words; the value itself may be of any type and is
    left out.
    """
    return {
        "fact": escape(made.fact),
        "meaning": escape(made.meaning),
        "ask": escape(made.ask),
        "random": made.random,
        "evidence": quote_object(made.span) if made.span is not None else None,
    }


def branch_object(branch: Branch) -> dict[str, object]:
    """Return a branch without its packets."""
    return {
        "assumptions": [assumption_object(made) for made in branch.assumptions],
        "works": branch.works,
        "failure": escape(spell_failure(branch.failure)),
    }


def packet_object(trace: Trace, owners: OwnerPlaces = NOBODY) -> PacketObject:
    """Return one packet's way."""
    outcome = trace.outcome
    gone = isinstance(outcome, (Dropped, Rejected))
    left = outcome.packet if isinstance(outcome, (Delivered, Transmitted)) else None
    return PacketObject(
        name=escape(trace.name),
        direction=trace.direction,
        netns=escape(outcome.netns),
        packet=_packet(trace.packet),
        outcome=type(outcome).__name__.lower(),
        drop_reason=escape(outcome.reason) if isinstance(outcome, (Dropped, Rejected)) else None,
        answer=escape(outcome.answer) if isinstance(outcome, Rejected) else None,
        left_as=_packet(left) if left is not None else None,
        link=escape(outcome.link) if isinstance(outcome, Transmitted) else None,
        ask=escape(outcome.ask) if isinstance(outcome, Undecided) else None,
        decided_by=quote_object(trace.deciding.spans[0])
        if gone and trace.steps and trace.deciding.spans
        else None,
        steps=[_step_object(step, owners) for step in trace.steps],
    )


def _step_object(step: Step, owners: OwnerPlaces) -> StepObject:
    return StepObject(
        stage=escape(step.stage),
        netns=escape(step.netns),
        link=escape(step.link) if step.link is not None else None,
        function=escape(step.function),
        decision=escape(step.decision),
        why=escape(spell_reason(step.reason)),
        before=_packet(step.before),
        after=_packet(step.after),
        evidence=[quote_object(span) for span in step.spans],
        near=[
            {**quote_object(near.span), "why": escape(spell_near(near.reason))}
            for near in step.near
        ],
        owner=owner_object(owners.of_step(step)),
        whose=owned_objects(owners.list_of_step(step)),
    )


def _packet(packet: Packet) -> str:
    return escape(str(packet))

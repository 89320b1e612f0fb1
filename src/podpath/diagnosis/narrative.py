"""Which steps of a walk tell something: those that changed a packet's lot."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Step, Trace
from podpath.datapath.vocabulary import StepDecision

QUIET = frozenset(
    {
        StepDecision.RECEIVE,
        StepDecision.TRANSMIT,
        StepDecision.ROUTE,
        StepDecision.FORWARD,
        StepDecision.LOCAL,
        StepDecision.ACCEPT,
        StepDecision.PASS,
        StepDecision.RESOLVE,
        StepDecision.DELIVER,
        StepDecision.HAND_ON,
        StepDecision.HOP,
        StepDecision.ESTABLISHED,
        StepDecision.BOND,
        StepDecision.SWITCH,
        StepDecision.LOOP,
        StepDecision.TOS,
        StepDecision.TTL,
    }
)
"""Decisions that every packet meets: they are told only where one of them ends it."""


def telling_steps(trace: Trace) -> tuple[Step, ...]:
    """Return the steps that changed a packet's lot, without what every packet meets."""
    return tuple(step for step in trace.steps if step.decision not in QUIET)

"""Which steps of a walk tell something: those that changed a packet's lot."""

from __future__ import annotations

from podpath.datapath.tracing.trace import Step, Trace

QUIET = frozenset(
    (
        "receive", "transmit", "route", "forward", "local", "accept", "pass", "resolve", "deliver", "hand on", "return", "hop",
        "established", "bond", "switch", "loop", "tos", "ttl",
    )
)  # fmt: skip
"""Decisions that every packet meets: they are told only where one of them ends it."""


def telling_steps(trace: Trace) -> tuple[Step, ...]:
    """Return the steps that changed a packet's lot, without what every packet meets."""
    return tuple(step for step in trace.steps if step.decision not in QUIET)

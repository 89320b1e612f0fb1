"""Tests of the trace that stages write."""

from __future__ import annotations

from podpath.datapath.reasons.devices import LinkDown
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.datapath.walk.trace_builder import TraceBuilder
from podpath.testing.nodes import given_node
from tests.datapath.walks import given_skb, given_walk, packet


def test_a_step_holds_the_packet_before_and_after() -> None:
    """A step is recorded with the packet as it was and as it is."""
    before = packet("10.0.0.1", "10.0.0.2")
    skb = given_skb(given_walk(given_node()), before._replace(ttl=63))
    trace = TraceBuilder()
    trace.step(
        StageName.FORWARD, skb, "f", before, StepDecision.FORWARD, LinkDown("eth0"), link="eth0"
    )

    (step,) = trace.steps
    assert ("forward", "host", 64, 63) == (step.stage, step.netns, step.before.ttl, step.after.ttl)
    assert ("forward", LinkDown("eth0"), "eth0") == (step.decision, step.reason, step.link)

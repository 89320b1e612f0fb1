"""Tests of steps and traces."""

from __future__ import annotations

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.routes import NoRoute
from podpath.testing.nodes import given_netns, given_node, ip, probe


def test_the_last_step_decides_and_the_last_trace_ends() -> None:
    """A failing conversation ends with the trace that failed, and that one with the step that
    decided.
    """
    branch = converse(
        given_node(given_netns("host", "eth0 192.0.2.2/24")), probe("tcp 192.0.2.2 > 8.8.8.8:80")
    ).branches[0]

    assert ("SYN", "route output", NoRoute(ip("8.8.8.8"))) == (
        branch.last.name,
        branch.last.deciding.stage,
        branch.last.deciding.reason,
    )


def test_a_branch_has_the_steps_of_all_its_packets() -> None:
    """In the order in which they are sent: those of the reply follow those of the request."""
    node = given_node(given_netns("host", "eth0 192.0.2.2/24"))
    branch = converse(node, probe("tcp 192.0.2.2:5000 > 192.0.2.2:80")).branches[0]
    request, reply, *_ = branch.traces
    assert [*request.steps, *reply.steps] == branch.steps[: len(request.steps) + len(reply.steps)]
    assert sum(len(trace.steps) for trace in branch.traces) == len(branch.steps)

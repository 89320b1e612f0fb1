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

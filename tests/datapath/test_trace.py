"""Tests of steps and traces."""

from __future__ import annotations

from podpath.datapath.conversation import converse
from podpath.datapath.trace import Step
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.walks import packet


def test_a_reason_is_a_sentence_made_when_it_is_read() -> None:
    """A step's reason is its template with the arguments in place."""
    seen = packet("10.0.0.1", "10.0.0.2")
    step = Step("route input", "host", "f", seen, seen, "forward", "{0} goes on over {1}", ("10.0.0.2", "eth0"))

    assert ("10.0.0.2 goes on over eth0", "{plain}") == (step.why, step._replace(template="{plain}", arguments=()).why)


def test_the_last_step_decides_and_the_last_trace_ends() -> None:
    """A failing conversation ends with the trace that failed, and that one with the step that decided."""
    branch = converse(given_node(given_netns("host", "eth0 192.0.2.2/24")), probe("tcp 192.0.2.2 > 8.8.8.8:80")).branches[0]

    assert ("SYN", "route output", "no route leads to 8.8.8.8") == (
        branch.last.name,
        branch.last.deciding.stage,
        branch.last.deciding.why,
    )

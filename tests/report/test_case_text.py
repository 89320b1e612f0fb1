"""What was read, as text."""

from __future__ import annotations

from podpath.net.provenance import Gap
from podpath.node.case import Case
from podpath.report.case_text import NodeSummary, render_cases
from podpath.report.style import Style
from podpath.testing.nodes import given_netns, given_node, span

NODE = given_node(given_netns("host", "eth0 10.0.0.1/24"), given_netns("pod-a", complete=False))


def test_namespaces_and_what_they_hold() -> None:
    """One line each, with numbers of what there is and without what there is not."""
    lines = render_cases(
        [NodeSummary("kn-04", Case(node=NODE))], [span("x").source], Style()
    ).splitlines()

    assert ["node kn-04", "  netns host   1 device, 1 address, 1 route, 5 policy rules"] == lines[
        :2
    ]
    assert "  netns pod-a  5 policy rules" == lines[2]
    assert "read from 1 output in 1 file" == lines[-1]


def test_gaps_are_counted_or_listed() -> None:
    """Who wants all is shown each gap with its line and reason, escaped."""
    facts = Case(node=NODE, gaps=(Gap(span("\x1b[2J", "ticket.md"), "expected a route"),))
    short = render_cases([NodeSummary("n", facts)], (), Style())
    long = render_cases([NodeSummary("n", facts)], (), Style(verbose=True))

    assert "1 gap: evidence that could not be read or used" in short
    assert r"ticket.md:1 | \x1b[2J: expected a route" in long
    assert "\x1b" not in long

"""What is asked first where nothing is found, and what is said of names that nobody gave."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.diagnose import _made_up_names
from podpath.testing.nodes import given_netns, given_node
from tests.diagnosis.test_repairs import DROP, cause_of, node


def test_a_device_that_no_output_names_is_called_a_placeholder() -> None:
    """One that is listed is not, nor one of another namespace."""
    trace = cause_of(node(DROP)).trace
    step = trace.steps[-1]
    steps = tuple(
        step._replace(netns=netns, link=link)
        for netns, link in (("host", "(port of cni0)"), ("host", "eth0"), ("pod", "(other)"))
    )
    shown = Branch(assumptions=(), traces=(replace(trace, steps=steps),), works=False)
    named = Finding(check="x", severity=Severity.CAUSE, claim="x", evidence=(), shown_by=shown)
    host = given_node(given_netns("host", "eth0"))
    (said,) = _made_up_names(host, (replace(named, shown_by=None), named))

    assert said.startswith("(port of cni0): no output shows the name")
    assert [] == list(_made_up_names(host, (replace(named, shown_by=None),)))

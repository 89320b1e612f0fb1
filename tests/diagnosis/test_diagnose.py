"""What is asked first where nothing is found, and what is said of names that nobody gave."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Severity
from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.diagnose import _made_up_names, diagnose
from podpath.testing.nodes import given_netns, given_node
from tests.checks.pasted import ticket_of
from tests.diagnosis.test_repairs import DROP, cause_of, node

UNHEARD = """Marked packets have a rule of their own; once a machine runs, they do not follow it.

```
# ip rule
0:      from all lookup local
32766:  from all lookup main
32767:  from all lookup default
```
"""


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


def test_what_the_clues_speak_for_is_asked_before_which_connection_fails() -> None:
    """Where no sentence is understood as a failure, the general question stands behind."""
    facts = [question.fact for question in diagnose(ticket_of(UNHEARD)).questions]

    assert "which connection fails" in facts[3:]
    assert any("adds and deletes policy rules" in str(fact) for fact in facts[:3])

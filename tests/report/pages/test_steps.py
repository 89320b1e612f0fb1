"""The steps of a packet as parts of a page."""

from __future__ import annotations

from pathlib import Path

from podpath.library.trace import trace
from podpath.net.packet import spell_ends as ends
from podpath.report.pages.steps import list_packets

TICKET = (
    Path(__file__).resolve().parents[3]
    / "examples"
    / "incidents"
    / "br-netfilter-off"
    / "ticket.md"
)


def test_a_rewrite_is_said_at_its_step() -> None:
    """What a step changed stands in it, and in no other."""
    answer = trace(TICKET, "tcp 10.61.9.14 > 10.97.44.210:80")
    branch = answer.drawn
    assert branch is not None
    request = list_packets(branch)[0]
    rewrites = [step for step in branch.traces[0].steps if ends(step.before) != ends(step.after)]
    assert rewrites
    assert request.body.count(" becomes ") == len(rewrites)
    assert request.body.count("<details>") == len(branch.traces[0].steps)

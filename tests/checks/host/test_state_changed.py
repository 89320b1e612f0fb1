"""What vanished between two states."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.host.state_changed import check
from podpath.net.complaints import Complaint
from podpath.net.provenance import Source, Span
from podpath.node.shifts import Shift, ShiftKind
from tests.checks.pasted import case_of

SPAN = Span(Source(name="ticket.md", lines=("default via 192.0.2.1", "$ true")), 1, 1)
SHIFT = Shift(
    kind=ShiftKind.ROUTE, name="the default route", good=SPAN, bad=None, told=True, netns="host"
)
CASE = replace(case_of("$ true"), complaints=(Complaint(span=SPAN, works=False),))


def test_what_vanished_is_told_by_labels() -> None:
    """The words say which state fails, and a sentence says that something does."""
    (finding,) = check(replace(CASE, shifts=(SHIFT,)))

    assert finding.certainty == 1.0
    assert finding.evidence == (SPAN,)


def test_a_guessed_direction_leaves_it_open() -> None:
    """Nobody says which state fails."""
    (finding,) = check(replace(CASE, shifts=(replace(SHIFT, told=False),)))

    assert finding.certainty == 0.7


def test_what_only_appeared_is_not_lost() -> None:
    """A new route alone takes nothing away."""
    assert not list(check(replace(CASE, shifts=(replace(SHIFT, good=None, bad=SPAN),))))

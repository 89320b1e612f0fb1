"""Whose a line is stands below every line that an answer quotes, wherever in the answer that is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from podpath.checks.finding import Finding, Severity
from podpath.checks.owned import OwnerPlaces
from podpath.diagnosis.diagnosis import Diagnosis
from podpath.diagnosis.forbids import NotShown
from podpath.diagnosis.verdict import Verdict
from podpath.net.owners import Owned, OwnedKind, Owner, OwnerSign
from podpath.net.provenance import Span
from podpath.node.case import Contradiction
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.json_documents import render_diagnosis_json
from podpath.report.pages.diagnosis_page import render_diagnosis_page
from podpath.report.style import Style
from podpath.testing.nodes import span

LINES = {name: span(f"10.9.{place}.0/24 dev eth0", name) for place, name in enumerate("abcdefg")}
"""One quoted line for each part of an answer."""


def own(line: Span) -> Owned:
    """Return a route of a program that is called after its line."""
    owner = Owner(
        program=f"writer-{line.source.name}", ground=OwnerSign.PROTOCOL, sign="x",
        again="at start", instead="its file",
    )  # fmt: skip
    return Owned(OwnedKind.ROUTE, line.text, "host", line, owner)


def find(name: str, severity: Severity = Severity.CAUSE, certainty: float = 1.0) -> Finding:
    """Return a finding that one line shows."""
    return Finding(
        check=f"check-{name}", severity=severity, claim=f"Claim {name}.",
        evidence=(LINES[name],), certainty=certainty,
    )  # fmt: skip


FAULT = Diagnosis(
    verdict=Verdict.FAULT,
    findings=(
        find("a"), find("b"), find("c", Severity.FAULT), find("d", certainty=0.5),
        find("e", Severity.RISK),
    ),
    conversations=(), questions=(), gaps=(),
    contradictions=(Contradiction(fact="a route", spans=(LINES["f"],), meaning="They differ."),),
    owners=OwnerPlaces({line: (own(line),) for line in LINES.values()}),
)  # fmt: skip
OPEN = replace(
    FAULT,
    verdict=Verdict.POSSIBLE,
    findings=(find("a", certainty=0.6), find("b", certainty=0.4), find("e", Severity.RISK)),
    forbids=(NotShown(what="the routes", netns="host", ask="ip route", spans=(LINES["g"],)),),
)
WIDE = Style(width=200)


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(("diagnosis", "least"), [(FAULT, 4), (OPEN, 3)])
def test_below_every_quoted_line_stands_whose_it_is(
    diagnosis: Diagnosis, least: int, *, verbose: bool
) -> None:
    """Of the first finding as of the others, of what is possible, and of what is left open."""
    lines = render_diagnosis(diagnosis, replace(WIDE, verbose=verbose)).splitlines()
    quoted = [
        (place, name)
        for place, line in enumerate(lines)
        for name, quote in LINES.items()
        if f"{name}:1 | {quote.text}" in line
    ]

    assert len(quoted) >= least
    for place, name in quoted:
        said = " ".join(lines[place + 1 : place + 5])
        assert f"written by writer-{name}, again at start" in said, "\n".join(lines)


def test_every_part_of_a_whole_answer_is_quoted() -> None:
    """So that the test before has met each of them."""
    told = "".join(render_diagnosis(each, replace(WIDE, verbose=True)) for each in (FAULT, OPEN))

    assert all(f"writer-{name}," in told for name in LINES)


def test_documents_and_pages_say_it_too() -> None:
    """For programs beside what is quoted, and in a page below each finding's line."""
    document = json.loads(render_diagnosis_json(OPEN))
    (forbids,) = document["forbids"]
    (contradiction,) = document["contradictions"]
    told = [*document["findings"], forbids, contradiction]

    assert [each["whose"][0]["owner"]["program"] for each in told] == [
        f"writer-{name}" for name in ("a", "b", "e", "g", "f")
    ]
    page = render_diagnosis_page(FAULT)
    text = page[: page.index("The whole answer as text")]
    assert all(f"written by writer-{name}, again at start" in text for name in "abcde")

"""The scorer of gathered incidents: what an answer is worth, and that answers are written as the
README says.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import pytest

import podpath
from podpath.checks.category import Category
from scripts.score_incidents import (
    INCIDENTS,
    Diagnosis,
    Incident,
    Outcome,
    judge,
    read_incident,
    read_incidents,
    render_misses,
)

INCIDENT = Incident(
    folder=Path("slug"),
    answerable=True,
    categories=frozenset({"forward-policy"}),
    decisive=("Chain FORWARD (policy DROP",),
    ask=("iptables",),
)


def answer(
    code: int,
    *,
    check: str = "forward-policy",
    line: str = "Chain FORWARD (policy DROP)",
    ask: str = "",
) -> Outcome:
    """Judge an answer of one finding and one question."""
    finding = {
        "check": check,
        "severity": "cause",
        "certainty": 1 if code == 1 else 0.5,
        "evidence": [{"text": line}],
    }
    document: dict[str, object] = {
        "findings": [finding],
        "unknowns": [{"fact": "a rule", "ask": ask}],
    }
    return judge(INCIDENT, code, document)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (answer(1), Outcome.NAMED),
        (answer(1, line="Chain  FORWARD (policy   DROP 3 packets, 180 bytes)"), Outcome.NAMED),
        (answer(1, line="Chain INPUT (policy DROP)"), Outcome.WRONG),
        (answer(1, check="rp-filter"), Outcome.WRONG),
        (answer(3), Outcome.RANKED),
        (answer(3, check="rp-filter", ask="sudo iptables-save"), Outcome.ASKED),
        (answer(3, check="rp-filter", ask="ip route"), Outcome.SILENT),
        (answer(0), Outcome.FALSE_ALL_CLEAR),
        (judge(INCIDENT, 2, None), Outcome.REFUSED),
        (judge(INCIDENT, -1, None), Outcome.FAILED),
    ],
)
def test_an_answer_is_worth_what_it_tells(got: Outcome, expected: Outcome) -> None:
    """The right sort of cause with a decisive line is named; certainty about anything else is
    wrong.
    """
    assert got == expected


def test_of_the_sealed_half_no_name_is_told() -> None:
    """What is missed is told by kind where names must not be seen."""
    told = "\n".join(render_misses([(INCIDENT, Outcome.SILENT)], names=False))
    assert told == "1 silent: forward-policy"


def test_categories_are_those_that_checks_can_name() -> None:
    """The list for those who gather and the enum of the checks are one."""
    listed = tomllib.loads((INCIDENTS / "categories.toml").read_text(encoding="utf-8"))
    assert list(listed) == [str(category) for category in Category]


def test_answers_are_written_as_the_readme_says() -> None:
    """Every incident is in its half, its categories exist and its decisive lines stand in its
    ticket.
    """
    known = set(Category)
    for half in ("open", "sealed"):
        for incident in read_incidents(half):
            file = incident.folder / "answer.json"
            source = json.loads(file.read_text(encoding="utf-8"))["source"]
            sealed = hashlib.sha256(source.encode()).hexdigest()[0] >= "8"
            ticket = (incident.folder / "ticket.md").read_text(encoding="utf-8")
            assert sealed is (half == "sealed"), "an incident in the wrong half"
            assert 1 <= len(incident.categories) <= 3, "too many categories or none"
            assert incident.categories <= known, "unknown categories"
            assert all(line in ticket for line in incident.decisive), (
                "a decisive line that is not in the ticket"
            )
            assert read_incident(file) == incident


def test_a_copy_of_this_process_answers_as_the_library_does(tmp_path: Path) -> None:
    """Its exit code and its document are those of the command; a missing ticket gives none."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text("$ sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n", encoding="utf-8")
    code, document = Diagnosis(ticket).finish()
    answer = podpath.diagnose([str(ticket)])

    assert (code, document) == (answer.exit_code, json.loads(answer.json()))
    assert Diagnosis(tmp_path / "nothing.md").finish()[0] == 2

"""Whole answers made short: the first items are taken, and what is left out is counted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from podpath.library.result import Result
from podpath.net.provenance import Source, Span
from podpath.report.style import Style
from podpath.report.tables import TablePlan
from podpath_mcp.bounds import COMMAND
from podpath_mcp.shelf import AnswerShelf
from podpath_mcp.short import (
    COMMANDS,
    FINDINGS,
    BriefDraft,
    shorten_captures,
    shorten_comparison,
    shorten_diagnosis,
    shorten_trace,
)

SOURCE = Source(name="rules.txt", lines=("-A FORWARD -j DROP", "COMMIT"))
QUOTE = {"source": "rules.txt", "line": 1, "text": "-A FORWARD -j DROP"}
FINDING = {
    "check": "drop-rule", "severity": "cause", "claim": "A rule drops it.", "evidence": [QUOTE] * 9,
    "breaks": ["tcp a > b"] * 9, "certainty": 1.0,
    "repairs": [
        {
            "title": "remove it", "commands": ["true"] * 9 + ["x" * (COMMAND + 1)],
            "proven": "simulated", "side_effects": [],
        }
    ],
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Given(Result):
    """An answer whose document is given."""

    document: dict[str, object] = field(default_factory=dict)

    def text(self, style: Style | None = None) -> str:
        """Return three lines."""
        return "CAUSE: it\nrules.txt:1 | -A FORWARD -j DROP\nfix: true\n" if style else ""

    def json(self) -> str:
        """Return the document."""
        return json.dumps(self.document)

    @property
    def exit_code(self) -> int:
        """Return that of a fault."""
        return 1

    @property
    def table_plan(self) -> TablePlan:
        """Return the findings' names."""
        return TablePlan("findings", {"check": "check"})


def draft(**document: object) -> tuple[BriefDraft, AnswerShelf]:
    """Begin an answer with that document."""
    shelf = AnswerShelf()
    return BriefDraft(shelf, Given(document=document), [Span(SOURCE, 1, 1)]), shelf


def test_the_first_of_each_list_is_taken_and_the_rest_counted() -> None:
    """Findings, lines, commands and what they break."""
    made, _ = draft(
        verdict="fault", node="n", findings=[FINDING] * (FINDINGS + 3), conversations=[],
        unknowns=[], forbids=[{"says": "Something is missing."}],
    )  # fmt: skip
    answer = shorten_diagnosis(made)

    assert FINDINGS == len(answer.findings)
    assert 3 == answer.left_out["findings"]
    assert 5 * FINDINGS == answer.left_out["evidence"]
    assert (10 - COMMANDS) * FINDINGS == answer.left_out["commands"]
    assert ["true"] * COMMANDS == answer.findings[0].fixes[0].commands
    assert ["Something is missing."] == answer.no_all_clear_because
    assert answer.summary.startswith("CAUSE: it\n")
    assert "certain" in answer.meaning


def test_a_possibility_is_not_certain() -> None:
    """Its share is told, and what it means."""
    made, _ = draft(
        verdict="possible", node="", findings=[{**FINDING, "certainty": 0.5}], conversations=[],
        unknowns=[{"fact": "f", "ask": "x" * (COMMAND + 1), "decides": ["0: no"]}], forbids=[],
    )  # fmt: skip
    answer = shorten_diagnosis(made, ["node2: nothing"])

    assert (False, 0.5) == (answer.findings[0].certain, answer.findings[0].certainty)
    assert "whole answer" in answer.questions[0].ask
    assert ["node2: nothing"] == answer.not_read


def test_a_quoted_line_is_found_again_in_its_source() -> None:
    """Where its source is known; a line that no source has is quoted alone."""
    made, shelf = draft(
        verdict="fault", findings=[{**FINDING, "evidence": [QUOTE, {**QUOTE, "line": 7}]}],
        connections=[], forbids=[],
    )  # fmt: skip
    answer = shorten_captures(made)
    first, second = answer.findings[0].evidence

    assert "podpath://answers/1/quotes/0" == first.around
    assert ">      1 | -A FORWARD -j DROP" in shelf.read_quote(answer.number, 0)
    assert second.around is None
    assert {"json", "text"} == {uri.rpartition("/")[2] for uri in answer.resources}


def test_the_last_packet_is_always_told() -> None:
    """It is the one that the connection ends with, however many come before it."""
    step = {"stage": "forward", "netns": "host", "why": "a rule drops it"}
    packets = [
        {
            "name": f"packet {number}", "direction": "original", "packet": "tcp a > b",
            "outcome": "delivered", "steps": [step], "decided_by": None,
        }
        for number in range(20)
    ]  # fmt: skip
    branch = {"works": False, "failure": "dropped", "assumptions": [], "packets": packets}
    made, _ = draft(verdict="NEVER", probe="tcp a > b", branches=[{}, branch], forbids=[])
    answer = shorten_trace(made, 1)

    assert "packet 19" == answer.packets[-1].name
    assert 20 == len(answer.packets) + answer.left_out["packets"]
    assert (2, "dropped") == (answer.branches, answer.failure)


def test_a_connection_without_branches() -> None:
    """Nothing was walked, and nothing is made up."""
    made, _ = draft(verdict="UNDECIDED", probe="tcp a > b", branches=[], forbids=[])
    answer = shorten_trace(made, 0)

    assert ("", [], []) == (answer.failure, answer.packets, answer.assumptions)


def test_an_explanation_has_both_nodes_lines() -> None:
    """And the faults that it is known as."""
    difference = {"says": "it differs", "here": [QUOTE], "there": [], "commands": ["true"]}
    made, _ = draft(
        verdict="explained", unexplained=["tcp c > d"], forbids=[],
        explanations=[
            {"differences": [difference], "probes": ["tcp a > b"], "faults": [{"check": "x"}]}
        ],
    )  # fmt: skip
    answer = shorten_comparison(made)

    assert ["x"] == answer.explanations[0].faults
    assert "-A FORWARD -j DROP" == answer.explanations[0].differences[0].here[0].text
    assert ["tcp c > d"] == answer.unexplained

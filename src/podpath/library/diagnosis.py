"""What broke the path: every node of a case diagnosed, its logs joined, and the answer of the node
where something is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from podpath.checks.finding import Finding
from podpath.datapath.tracing.trace import Branch, Conversation
from podpath.diagnosis import diagnose as causes
from podpath.diagnosis.diagnosis import Diagnosis, Question
from podpath.diagnosis.several_nodes import choose_answer
from podpath.library.case import Case, NodeCase
from podpath.library.given import Asked, Given, place_probes
from podpath.library.logged import read_chronicle
from podpath.library.memory import collecting_seldom
from podpath.library.printed import leave_out_printed
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import as_case
from podpath.library.result import DrawnResult
from podpath.library.when import When
from podpath.net.provenance import Gap, Source
from podpath.node import case as facts
from podpath.report.diagnosis_text import render_diagnosis
from podpath.report.style import Style
from podpath.report.tables import TablePlan


@dataclass(frozen=True, slots=True, repr=False)
class DiagnosisResult(DrawnResult):
    """The answer of `diagnose`."""

    diagnosis: Diagnosis
    """All that is known, as data."""

    @property
    def verdict(self) -> str:
        """Tell in one word how it ended."""
        return self.diagnosis.verdict

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong, the cause first, each with its evidence and repairs."""
        return self.diagnosis.findings

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """The connections that were walked."""
        return self.diagnosis.conversations

    @property
    def questions(self) -> tuple[Question, ...]:
        """What is not known and would decide, the most telling first, each with the command that
        tells.
        """
        return self.diagnosis.questions

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What could not be read, and why."""
        return self.diagnosis.gaps

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath diagnose`."""
        return self.diagnosis.exit_code

    @property
    def table_plan(self) -> TablePlan:
        """The findings, each with its first line and fix."""
        return TablePlan(
            "findings",
            {
                "check": "check",
                "severity": "severity",
                "certainty": "certainty",
                "claim": "claim",
                "line": "evidence.0",
                "fix": "repairs.0.commands",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath diagnose` prints it."""
        return render_diagnosis(self.diagnosis, style or Style())

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/diagnosis/v1`."""
        from podpath.report.json_documents import render_diagnosis_json  # noqa: PLC0415 - only where it is asked for

        return render_diagnosis_json(self.diagnosis)

    def html(self) -> str:
        """Return the answer as one HTML file: the claim, the path, the deciding lines, the fix, and
        everything else to be opened.
        """
        from podpath.report.pages.diagnosis_page import render_diagnosis_page  # noqa: PLC0415 - only where it is asked for

        return render_diagnosis_page(self.diagnosis)

    @property
    def drawn(self) -> Branch | None:
        """The branch that shows the first finding, else one of a walked connection."""
        from podpath.report.pages.diagnosis_page import find_branch  # noqa: PLC0415 - only where something is drawn

        return find_branch(self.diagnosis)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeQuestions:
    """What every node of a case is asked."""

    probes: Sequence[Asked]
    good: facts.Case | None
    when: When
    sources: Sequence[Source]
    progress: Progress


def diagnose(
    case: Case | Given,
    probes: Sequence[Asked] = (),
    *,
    good: Case | Given | None = None,
    when: When | None = None,
    progress: Progress = silent,
) -> DiagnosisResult:
    """Find what broke the path, with the lines that say so and the fix.

    The connections in question are found in the case (attempts that failed, captures, events);
    `probes` names more of them. `good` is a case of a node where it works: what differs is told.
    Logs in the case tell what led to the fault, and `when` says when it failed, where they do not.
    """
    read = as_case(case, probes, progress)
    asked = NodeQuestions(
        probes=probes,
        good=as_case(good, (), progress).facts if good is not None else None,
        when=when or When(),
        sources=read.sources,
        progress=progress,
    )
    with collecting_seldom():
        answers = [_diagnose_node(node, asked) for node in read.nodes]
    return DiagnosisResult(choose_answer([node.name for node in read.nodes], answers))


def _diagnose_node(node: NodeCase, asked: NodeQuestions) -> Diagnosis:
    facts_left, chronicle = read_chronicle(node.facts, asked.sources, asked.when, asked.progress)
    with stage(asked.progress, f"walking {node.name}".strip()) as tell:
        probes = place_probes(asked.probes, facts_left.node)
        answer = causes.diagnose(facts_left, probes, asked.good, tell=tell)
    questions = leave_out_printed(answer.questions, facts_left.printed)
    answer = replace(answer, questions=questions)
    if chronicle is None:
        return answer
    from podpath.diagnosis.history import tell_history  # noqa: PLC0415 - only where there are logs

    return tell_history(answer, chronicle)

"""Two nodes, and the least difference that explains why one of them does not work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.difference.compare import MinimalCure, NodeComparison, compare_cases
from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.forbids import FlowsNotWalked
from podpath.flows.flow import FlowSet
from podpath.library.case import Case
from podpath.library.given import Asked, Given, place_probes
from podpath.library.many import list_witnesses
from podpath.library.memory import collecting_seldom
from podpath.library.progress import Progress, silent, stage
from podpath.library.reading import as_case
from podpath.library.result import DrawnResult
from podpath.report.diff_text import render_diff
from podpath.report.style import Style
from podpath.report.tables import TablePlan


@dataclass(frozen=True, slots=True, repr=False)
class DiffResult(DrawnResult):
    """The answer of `diff`."""

    comparison: NodeComparison
    """All that is known, as data."""

    @property
    def verdict(self) -> str:
        """Tell in one word how it ended."""
        return self.comparison.verdict

    @property
    def explanations(self) -> tuple[MinimalCure, ...]:
        """The smallest sets of differences that explain what fails, each proven by walking."""
        return self.comparison.explanations

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All that differs, explaining or not."""
        return self.comparison.differences

    @property
    def exit_code(self) -> int:
        """The exit code of `podpath diff`."""
        return self.comparison.exit_code

    @property
    def table_plan(self) -> TablePlan:
        """The differences that explain it, else all."""
        return TablePlan(
            "explanations.0.differences" if self.explanations else "differences",
            {
                "kind": "kind",
                "netns": "netns",
                "says": "says",
                "here": "here.0",
                "there": "there.0",
                "commands": "commands",
            },
        )

    def text(self, style: Style | None = None) -> str:
        """Return the answer as `podpath diff` prints it."""
        return render_diff(self.comparison, style or Style())

    def json(self) -> str:
        """Return the answer as a document of the schema `podpath/diff/v1`."""
        from podpath.report.diff_json import render_diff_json  # noqa: PLC0415 - only where it is asked for

        return render_diff_json(self.comparison)

    def html(self) -> str:
        """Return the answer as one HTML file: the difference that explains, the connection drawn on
        both nodes, and everything else to be opened.
        """
        from podpath.report.pages.diff_page import render_diff_page  # noqa: PLC0415 - only where it is asked for

        return render_diff_page(self.comparison)

    @property
    def drawn(self) -> Branch | None:
        """The branch of the first connection that fails on the node in trouble."""
        from podpath.report.drawings.path_drawing import choose_branch  # noqa: PLC0415 - only where something is drawn
        from podpath.report.pages.diff_page import find_outcome  # noqa: PLC0415 - as above

        shown = find_outcome(self.comparison)
        if shown is not None:
            return choose_branch((shown.here,))
        return None


def diff(
    bad: Case | Given,
    good: Case | Given,
    probes: Sequence[Asked] = (),
    *,
    flows: FlowSet | None = None,
    progress: Progress = silent,
) -> DiffResult:
    """Find the smallest difference that explains why one node works and the other does not.

    The connections that fail on the bad node, and `probes` besides, are walked with the differences
    taken over from the good one: what makes them work is the answer. Of `flows`, a set that is not
    named one by one, one is asked about for each answer on both nodes (needs `podpath[fleet]`).
    """
    here, there = as_case(bad, probes, progress), as_case(good, probes, progress)
    asked = place_probes(probes, here.node)
    left: tuple[FlowsNotWalked, ...] = ()
    with collecting_seldom():
        if flows is not None:
            found = list_witnesses((here, there), flows, judged=False, progress=progress)
            asked = (*asked, *(one.probe for one in found if one.walked))
            left = tuple(FlowsNotWalked(said=one.stands_for) for one in found if not one.walked)
        with stage(progress, "walking"):
            return DiffResult(compare_cases(here.facts, there.facts, asked, left))

"""Two compared nodes as a page: the difference that explains, the connection drawn where it fails
and where it works, and everything else to be opened.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.diagnosis.difference.compare import ComparedOutcome, NodeComparison
from podpath.report.diff_text import render_diff
from podpath.report.drawings.path_drawing import choose_branch
from podpath.report.pages.diagnosis_page import draw, list_gaps
from podpath.report.pages.page import (
    Section,
    quote_lines,
    render_page,
    show_commands,
    show_text,
)
from podpath.report.pages.steps import list_packets
from podpath.report.pages.text_page import split_head
from podpath.report.style import PAGE_STYLE


def render_diff_page(comparison: NodeComparison) -> str:
    """Render the answer of a comparison as one HTML file."""
    verdict, rest = split_head(render_diff(comparison, PAGE_STYLE), comparison.exit_code)
    shown = find_outcome(comparison)
    here = choose_branch((shown.here,)) if shown is not None else None
    first = (draw(here), _show_deciding(comparison))
    return render_page(verdict, first, [*_list_sections(comparison, shown), _whole(rest)])


def find_outcome(comparison: NodeComparison) -> ComparedOutcome | None:
    """Return the connection that a picture shows: the first that fails on the node in trouble, else
    the first that was walked.
    """
    failing = (one for one in comparison.outcomes if one.fails_here)
    return next(failing, next(iter(comparison.outcomes), None))


def _show_deciding(comparison: NodeComparison) -> str:
    """Quote what differs on both nodes, and what makes them alike."""
    deciding = comparison.explanations[0].differences if comparison.explanations else ()
    spans = [span for each in deciding for span in (*each.here[:1], *each.there[:1])]
    fix = [command for each in deciding for command in each.commands]
    lines = f"<h2>The lines that differ</h2>{quote_lines(spans)}" if spans else ""
    return lines + (f"<h2>The fix</h2>{show_commands(fix)}" if fix else "")


def _list_sections(comparison: NodeComparison, shown: ComparedOutcome | None) -> Iterator[Section]:
    here = choose_branch((shown.here,)) if shown is not None else None
    there = choose_branch((shown.there,)) if shown is not None else None
    yield from list_packets(here) if here is not None else ()
    yield Section("The same connection on the other node", draw(there))
    yield list_gaps(comparison.gaps)


def _whole(text: str) -> Section:
    return Section("The whole answer as text", show_text(text))

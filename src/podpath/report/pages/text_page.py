"""An answer that has a text and perhaps a drawing as a page."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.net.provenance import Span
from podpath.report.notebook import strip_colors
from podpath.report.pages.page import PageHead, quote_lines, render_page, show_text

COLORS = {0: "good", 1: "bad"}
"""By the exit code of the command that gives the answer; others are undecided."""

QUOTED = 3
"""Deciding lines that stand on the first screen."""


def render_text_page(
    text: str, exit_code: int, drawing: str = "", style: str = "", deciding: Sequence[Span] = ()
) -> str:
    """Render an answer's colored text as one HTML file: its first line is the headline, and the
    lines that decide stand before the rest. A drawing may have a style of its own.
    """
    verdict, rest = split_head(text, exit_code)
    figure = f"<figure>{drawing}</figure>" if drawing else ""
    quoted = f"<h2>The deciding lines</h2>{quote_lines(deciding)}" if deciding else ""
    return render_page(verdict, (quoted, figure, show_text(rest)), (), style)


def split_head(text: str, exit_code: int) -> tuple[PageHead, str]:
    """Return an answer's first line as a page's headline, and the text below it."""
    head, _, rest = text.partition("\n")
    word, sign, claim = strip_colors(head).partition(": ")
    color = COLORS.get(exit_code, "warn")
    return PageHead(word, color, claim) if sign else PageHead("", "", word), rest

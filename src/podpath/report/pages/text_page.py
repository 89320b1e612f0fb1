"""An answer that has a text and perhaps a drawing as a page."""

from __future__ import annotations

from podpath.report.notebook import strip_colors
from podpath.report.pages.page import PageHead, render_page, show_text

COLORS = {0: "good", 1: "bad"}
"""By the exit code of the command that gives the answer; others are undecided."""


def render_text_page(text: str, exit_code: int, drawing: str = "", style: str = "") -> str:
    """Render an answer's colored text as one HTML file: its first line is the headline. A drawing
    may have a style of its own.
    """
    head, _, rest = text.partition("\n")
    word, sign, claim = strip_colors(head).partition(": ")
    verdict = (
        PageHead(word, COLORS.get(exit_code, "warn"), claim) if sign else PageHead("", "", word)
    )
    figure = f"<figure>{drawing}</figure>" if drawing else ""
    return render_page(verdict, (figure, show_text(rest)), (), style)

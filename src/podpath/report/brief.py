"""An answer in three lines: the verdict, the line that decides, and the cure or the question."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.net.provenance import Span
from podpath.report.escape import escape, escape_command
from podpath.report.quotes import quote
from podpath.report.style import Style

DECISIVE = 2
"""Lines that are quoted below a headline."""


def render_brief_answer(
    headline: Sequence[str], spans: Sequence[Span], *, fix: Sequence[str] = (), ask: str = ""
) -> str:
    """Render a headline in one line, the first of the lines that decide, and commands that cure,
    else what to give next.
    """
    lines = [
        " ".join(line.strip() for line in headline),
        escape(quote(spans[0])) if spans else "no deciding line",
    ]
    if fix:
        lines.append(f"fix: {' && '.join(map(escape_command, fix))}")
    elif ask:
        lines.append(f"next: {escape(ask)}")
    return "\n".join(lines) + "\n"


def render_decisive(
    spans: Sequence[Span], style: Style, *, fix: Sequence[str] = (), ask: str = ""
) -> list[str]:
    """Render what stands below a headline: the lines that decide, and commands that cure, else what
    to give next.
    """
    lines = [
        f"  {style.paint('dim', escape(quote(span)))}"
        for span in tuple(dict.fromkeys(spans))[:DECISIVE]
    ]
    if fix:
        return [*lines, f"  fix: {style.paint('command', ' && '.join(map(escape_command, fix)))}"]
    if ask:
        return [*lines, f"  next: {style.paint('command', escape(ask))}"]
    return lines

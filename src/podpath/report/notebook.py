"""A report as HTML for a notebook's cell: the same text, its colors as styles, and every character
of it escaped.

Evidence cannot reach the page as markup: the report has spelled out all control characters before
(`escape`), and what is left is escaped here for HTML. Only sequences that `Style.paint` writes
become tags.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping

from podpath.report.style import SGR

_CSS: dict[str, str] = {
    "bad": "color:#d1242f;font-weight:bold",
    "good": "color:#1a7f37",
    "warn": "color:#9a6700;font-weight:bold",
    "head": "font-weight:bold",
    "mark": "color:#d1242f;font-weight:bold",
    "dim": "opacity:.65",
    "command": "color:#0b7285",
}
_TAGS: dict[str, str] = {code: f'<span style="{_CSS[meaning]}">' for meaning, code in SGR.items()}
_SEQUENCE = re.compile(r"\x1b\[(?P<code>[\d;]*)m")
_FRAME = '<pre class="podpath" style="white-space:pre-wrap;overflow-wrap:anywhere">'


def render_html(text: str) -> str:
    """Render a report's colored text as one HTML element, with a line end."""
    return f"{_FRAME}{tag_colors(text, _TAGS)}</pre>\n"


def render_cell(brief: str, parts: Iterable[str], whole: str) -> str:
    """Put an answer's HTML together: its first lines, drawing and table, and the whole to open."""
    shown = "".join(part for part in parts if part)
    more = f"<details><summary>The whole answer</summary>{whole}</details>\n"
    return f'{brief}<div class="podpath" style="overflow-x:auto">{shown}{more}</div>\n'


def tag_colors(text: str, tags: Mapping[str, str]) -> str:
    """Escape a report's colored text for HTML, with the start tag of a span for each sequence."""
    pieces: list[str] = []
    open_tags = at = 0
    for found in _SEQUENCE.finditer(text):
        pieces.append(html.escape(text[at : found.start()]))
        at = found.end()
        tag = tags.get(found["code"])
        if tag is not None:
            pieces.append(tag)
            open_tags += 1
        else:  # a reset ends all that is open
            pieces.append("</span>" * open_tags)
            open_tags = 0
    return "".join([*pieces, html.escape(text[at:]), "</span>" * open_tags])


def strip_colors(text: str) -> str:
    """Return a report's text without its colors."""
    return _SEQUENCE.sub("", text)

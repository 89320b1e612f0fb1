"""The page that every HTML answer is: one file that loads nothing and runs nothing.

Its content security policy forbids everything but the page's own two styles, named by their hashes,
so that markup which slipped through from the evidence could do nothing either. Colors follow the
reader's light or dark scheme; printed, all parts are open.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import NamedTuple

from podpath.net.provenance import Source, Span
from podpath.report.drawings.path_svg import STYLE as PATH_STYLE
from podpath.report.escape import clip, escape
from podpath.report.notebook import tag_colors
from podpath.report.style import SGR
from podpath.version import __version__

LONGEST_TEXT, LONGEST_LINE, LONGEST_LIST = 300_000, 300, 500
"""Characters of a text and of a quoted line, and entries of a list: a page stays under 1 MB."""
NEIGHBORS, LONGEST_QUOTE = 3, 12
"""Lines that are shown before and after a deciding one, and of a span of many lines."""
_TAGS = {code: f'<span class="{meaning}">' for meaning, code in SGR.items()}


class PageHead(NamedTuple):
    """The first line of a page."""

    word: str
    color: str
    """`bad`, `good` or `warn`."""
    claim: str


class Section(NamedTuple):
    """A part of a page that the reader opens."""

    title: str
    body: str
    """HTML; a part without any is left out."""


def render_page(
    verdict: PageHead, first: Iterable[str], sections: Iterable[Section], style: str = PATH_STYLE
) -> str:
    """Put a page together: the verdict, what everybody sees of it, and what one may open; `style`
    is that of its drawing.
    """
    css = resources.files("podpath.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    hashes = " ".join(f"'sha256-{_hash(one)}'" for one in (css, style))
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        (
            '<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;; '
            f"style-src {html.escape(hashes)}; base-uri &#x27;none&#x27;; "
            'form-action &#x27;none&#x27;">'
        ),
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{spell(f'{verdict.word}: {verdict.claim}', 200)}</title>",
        f"<style>{css}</style></head><body>",
        f"<h1>{_show_word(verdict)}{spell(verdict.claim, LONGEST_TEXT)}</h1>",
        *first,
        *(fold(one.title, one.body) for one in sections if one.body),
        f"<footer>podpath {spell(__version__)}</footer>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _show_word(verdict: PageHead) -> str:
    if not verdict.word:
        return ""
    return f'<span class="verdict {verdict.color}">{spell(verdict.word)}</span> '


def spell(text: str, longest: int = LONGEST_LINE) -> str:
    """Make text of the evidence or of ours safe for a page."""
    return html.escape(clip(escape(text), longest))


def fold(title: str, body: str) -> str:
    """Return a part that is closed until the reader opens it."""
    return f"<details><summary>{spell(title)}</summary>{body}</details>"


def list_items(items: Sequence[str], tag: str = "ul") -> str:
    """Return a list of what is HTML already; empty where there is nothing."""
    if not items:
        return ""
    left = len(items) - LONGEST_LIST
    more = f"<li>and {left} more: --verbose or --json lists all</li>" if left > 0 else ""
    body = "".join(f"<li>{item}</li>" for item in items[:LONGEST_LIST])
    return f"<{tag}>{body}{more}</{tag}>"


def show_commands(commands: Sequence[str]) -> str:
    """Return commands that one click selects."""
    if not commands:
        return ""
    return f'<pre class="commands">{"&#10;".join(spell(one, 2000) for one in commands)}</pre>'


def show_text(text: str) -> str:
    """Return a report's colored text, as the terminal shows it."""
    kept = text[:LONGEST_TEXT]
    cut = "\n(The rest is left out here.)" if len(kept) < len(text) else ""
    return f"<pre>{tag_colors(kept, _TAGS)}{cut}</pre>"


def quote_lines(spans: Iterable[Span]) -> str:
    """Quote deciding lines, marked, between the lines that stand next to them, of which a phone
    shows the nearest; what stands together in a source is quoted together.
    """
    marked: dict[Source, set[int]] = {}
    for span in spans:
        last = min(span.last_line, span.line + LONGEST_QUOTE - 1)
        marked.setdefault(span.source, set()).update(range(span.line, last + 1))
    return "".join(_quote_source(source, numbers) for source, numbers in marked.items())


def _quote_source(source: Source, marked: set[int]) -> str:
    if not source.lines:
        command = f"{source.prompt or '$'} {source.command or ''}"
        return _frame_lines(source, min(marked), [f"<mark>{spell(command)}</mark>"])
    around = {number + near for number in marked for near in range(-NEIGHBORS, NEIGHBORS + 1)}
    blocks: list[list[int]] = []
    for number in sorted(around):
        if not source.first_line <= number < source.first_line + len(source.lines):
            continue
        if not blocks or number != blocks[-1][-1] + 1:
            blocks.append([])
        blocks[-1].append(number)
    return "".join(_quote_block(source, block, marked) for block in blocks)


def _quote_block(source: Source, numbers: Sequence[int], marked: set[int]) -> str:
    lines = [_quote_line(source, number, marked) for number in numbers]
    return _frame_lines(source, min(marked.intersection(numbers), default=numbers[0]), lines)


def _frame_lines(source: Source, first: int, lines: Sequence[str]) -> str:
    place = spell(f"{source.name}:{first}")
    return f'<p class="file">{place}</p><pre class="lines">{"".join(lines)}</pre>'


def _quote_line(source: Source, number: int, marked: set[int]) -> str:
    text = f"{number:>6}  {spell(source.lines[number - source.first_line])}\n"
    if number in marked:
        return f"<mark>{text}</mark>"
    beside = marked & {number - 1, number + 1}
    if beside:
        return text
    return f'<span class="far">{text}</span>'


def _hash(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

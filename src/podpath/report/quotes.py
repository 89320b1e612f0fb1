"""Evidence quoted as `file:line | text`, with the words that decide marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from podpath.net.provenance import Gap, Source, Span
from podpath.report.escape import clip, escape
from podpath.report.style import Style

LONGEST_LINE = 300
"""Columns of a quoted line: of one line of JSON that holds a whole listing only the part around the
marked words is quoted.
"""
LONGEST_JSON = 1 << 20
"""Characters of a span of JSON in which the element that counts is looked for."""
LINES_OF_A_SPAN = 4
"""Lines quoted of one span: a span may cover a whole listing."""
GAPS_SHOWN = 3
"""Gaps that are shown where the reader did not ask for all."""
_INDENT = "    "


def render_quotes(
    spans: Iterable[Span],
    marks: Sequence[str],
    style: Style,
    indent: str,
    longest: int = LONGEST_LINE,
) -> list[str]:
    """Quote each span's lines once, aligned on the bar, with the deciding words painted or
    underlined.
    """
    rows: list[tuple[Source, int, str]] = []
    for span in dict.fromkeys(spans):
        rows += [(span.source, line, text) for line, text in _rows(span, marks, longest)]
    places = [f"{escape(source.name)}:{line}" for source, line, _ in rows]
    width = max(map(len, places), default=0)
    lines: list[str] = []
    for place, (source, line, text) in zip(places, rows, strict=True):
        head = f"{indent}{style.place(source.name, line)}{' ' * (width - len(place))} | "
        found = _marked(text, marks)
        lines.append(style.paint("dim", head) + _paint(text, found, style))
        if found and not style.color:
            lines.append(" " * (len(indent) + width + 1) + "| " + _underline(found))
    return lines


def quote(span: Span) -> str:
    """Spell a span as one line: `file:line | text` of its first line."""
    line, text = _rows(span, (), LONGEST_LINE)[0]
    place = f"{escape(span.source.name)}:{line}"
    return f"{place} | {text}" if text.strip() else place


def render_gaps(gaps: Sequence[Gap], style: Style) -> list[str]:
    """List what could not be read: the first few, or all where the reader asked."""
    if not gaps:
        return []
    shown = gaps if style.verbose else gaps[:GAPS_SHOWN]
    lines = ["", style.paint("head", f"Not read ({len(gaps)})")]
    for gap in shown:
        lines.append(f"  {escape(quote(gap.span))}")
        lines += style.wrap(escape(gap.why), _INDENT)
    return lines + left_out(len(gaps) - len(shown), "line", style)


def left_out(count: int, what: str, style: Style) -> list[str]:
    """Say how many of a long list are not shown."""
    if count <= 0:
        return []
    some = what if count == 1 else f"{what}s"
    return [style.paint("dim", f"  and {count} more {some}: --verbose lists all")]


def _rows(span: Span, marks: Sequence[str], longest: int) -> list[tuple[int, str]]:
    """Return the lines that are quoted, each with its number."""
    texts = span.text.split("\n")
    element = _element(span.text, marks) if len(texts) > 1 or len(texts[0]) > longest else ""
    if element:
        return [(span.line, _fit(escape(element), marks, longest))]
    shown = texts[:LINES_OF_A_SPAN] if len(texts) > LINES_OF_A_SPAN + 1 else texts
    rows = [
        (span.line + index, _fit(escape(text), marks, longest)) for index, text in enumerate(shown)
    ]
    if len(shown) < len(texts):
        rows.append((span.last_line, f"(and {len(texts) - len(shown)} more lines, up to here)"))
    return rows


def _element(text: str, marks: Sequence[str]) -> str:
    """Return the element of a span of JSON that has the most of the marked words, on one line;
    empty where it is no JSON.
    """
    listing = text.strip().rstrip(",")
    if not listing.startswith(("{", "[")) or len(listing) > LONGEST_JSON:
        return ""
    try:
        value = json.loads(listing)
    except (ValueError, RecursionError):
        return ""
    while isinstance(value, list) or (isinstance(value, dict) and len(value) == 1):
        inner = value if isinstance(value, list) else next(iter(value.values()))
        if not isinstance(inner, list | dict) or not inner:
            break
        if isinstance(inner, dict):
            value = inner
        else:
            value = max(inner, key=lambda item: _worth(item, marks))
    return json.dumps(value, ensure_ascii=False)


def _worth(item: object, marks: Sequence[str]) -> int:
    """Count the different marked words of an element."""
    text = escape(json.dumps(item, ensure_ascii=False))
    return len({text[start:end] for start, end in _marked(text, marks)})


def _fit(text: str, marks: Sequence[str], longest: int) -> str:
    """Shorten a long line to where most of the different marked words stand together; to both its
    ends where none does.
    """
    found = _marked(text, marks) if len(text) > longest else []
    if not found:
        return clip(text, longest)
    around = longest * 3 // 10
    reach = longest - 2 * around

    def worth(start: int) -> int:
        return len(
            {text[left:right] for left, right in found if start <= left and right <= start + reach}
        )

    start = max((left for left, _ in found), key=worth)
    begin, end = max(0, start - around), min(len(text), start + reach + around)
    return f"{'... ' if begin else ''}{text[begin:end]}{' ...' if end < len(text) else ''}"


def _marked(text: str, marks: Sequence[str]) -> list[tuple[int, int]]:
    """Find where the words stand, as whole words, merged where they overlap and in order."""
    found: list[tuple[int, int]] = []
    for word in marks:
        safe = escape(word)
        if safe:
            before = (
                r"[\w-]" if safe[0].isalpha() else r"[\w.:/-]"
            )  # a number must not be part of an address, a name may be of a key
            pattern = rf"(?<!{before}){re.escape(safe)}(?![\w/-]|[.:]\w)"
            found += [match.span() for match in re.finditer(pattern, text)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _paint(text: str, found: Sequence[tuple[int, int]], style: Style) -> str:
    if not style.color:
        return text
    parts: list[str] = []
    position = 0
    for start, end in found:
        parts += [text[position:start], style.paint("mark", text[start:end])]
        position = end
    return "".join([*parts, text[position:]])


def _underline(found: Sequence[tuple[int, int]]) -> str:
    line = ""
    for start, end in found:
        line = line.ljust(start) + "^" * (end - start)
    return line

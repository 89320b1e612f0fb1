"""A document's lines as regions: what stands in a fence, and the plain text round it.

Fences are those of Markdown (backticks and tildes, of any length, indented or quoted), of HTML
(`<pre>`) and of Jira (`{code}`, `{noformat}`), and a single backtick round several lines. A fence
that is never closed is none: a stray sign must not turn the rest of a document into console.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class DocumentLine(NamedTuple):
    """A line of a document."""

    number: int
    """Its number in the file, from 1."""
    text: str
    """Entities of HTML decoded, the signs of a quotation and the indentation of its fence taken
    off.
    """


class Region(NamedTuple):
    """Lines that stand together inside or outside a fence."""

    lines: tuple[DocumentLine, ...]
    fenced: bool
    info: str = ""
    """What the opening fence says (`console`, `go`)."""


class _Fence(NamedTuple):
    place: int
    sign: str
    """The closing line starts with it."""
    indent: str
    info: str


_OPENING = re.compile(
    r"(?P<indent>\s*(?:[-*+]\s+|\d+[.)]\s+)?)(?P<sign>`{3,}|~{3,})\s*(?P<info>[^`]*)$"
)
_HTML = re.compile(r"(?P<indent>\s*)<pre[^>]*>(?:\s*<code[^>]*>)?(?P<rest>.*)$", re.IGNORECASE)
_HTML_END = re.compile(r"(?:</code>\s*)?</pre>", re.IGNORECASE)
_JIRA = re.compile(r"(?P<indent>\s*)\{(?P<sign>code|noformat)(?::(?P<info>[^}]*))?\}\s*$")
_SPAN = re.compile(
    r"(?P<before>(?P<indent>\s*+(?:[-*+]\s++)?)(?:[^`]*`[^`]+`)*[^`]*?)(?<!\S)`(?P<rest>[^`]+)$"
)
_SPAN_END = re.compile(r"(?P<rest>[^`]*)`(?P<behind>[^`]*)$")
"""A single backtick before the first of several lines, and behind the last: the next one after
it.
"""
_SENTENCE_WRAPS = 2
"""Lines over which a command within a sentence may go on."""
_ENTITY = re.compile(
    r"&(?:(?P<name>gt|lt|amp|quot|apos|nbsp)|#(?P<decimal>\d{1,6})|#[xX](?P<hex>[0-9A-Fa-f]{1,5}));"
)
_ENTITIES: Mapping[str, str] = {
    "gt": ">",
    "lt": "<",
    "amp": "&",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
}
_STYLE = re.compile(
    r"\[/?(?:b|i|u|s|color|size|font|url|quote)(?:=[^\]\n]{0,60})?\]|"
    r"<(?:br|/?(?:b|strong|em|mark|u|font|tt))(?: [^<>\n]{0,80})?\s*/?>",
    re.IGNORECASE,
)
"""Signs of forums and HTML within a line that change how it looks, and nothing else."""
_ESCAPE = re.compile(r"\\([\[\]~#$*_<>`(){}|!+.&-])")
_QUOTE = re.compile(r"(?:\s{0,3}>(?: |$))+")
_DEPTH = 4
"""Fences within fences (a ticket that quotes a ticket): deeper ones are left as text."""


def split_regions(lines: Sequence[DocumentLine], depth: int = 0) -> tuple[Region, ...]:
    """Cut lines into regions, the lines of the fences themselves left out."""
    regions: list[Region] = []
    plain: list[DocumentLine] = []
    place = 0
    while place < len(lines):
        fence = _open(lines, place)
        end = None if fence is None else _close(lines, fence)
        if fence is None or end is None:
            plain.append(lines[place] if fence is None else _without_sign(lines[place], fence))
            place += 1
            continue
        before = _before(lines[place], fence)
        if before is not None:
            plain.append(before)
        if plain:
            regions.append(Region(tuple(plain), False))
            plain = []
        regions.extend(_inside(lines, fence, end, depth))
        behind = _behind(lines[end], fence)
        if behind is not None:
            plain.append(behind)
        place = (
            end if end < len(lines) and _is_opening_with_info(lines[end].text, fence) else end + 1
        )
    if plain:
        regions.append(Region(tuple(plain), False))
    return tuple(regions)


def decode_line(number: int, text: str) -> DocumentLine:
    """Make a line of a document from a line of the file."""
    if "&" in text:
        text = _ENTITY.sub(_decode, text)
    if "[/" in text or "<" in text:
        text = _STYLE.sub("", text)
    return DocumentLine(number, text)


def unquote(lines: Sequence[DocumentLine], holds_console: Sequence[bool]) -> list[DocumentLine]:
    """Take the `>` off runs of quoted lines of which one is console or a fence once it is off."""
    result = list(lines)
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and _QUOTE.match(lines[end].text):
            end += 1
        if any(holds_console[start:end]):
            result[start:end] = [
                DocumentLine(line.number, strip_quote(line.text)) for line in lines[start:end]
            ]
        start = max(end, start + 1)
    return result


def unescape(text: str) -> str:
    r"""Take the backslashes off that a converter to Markdown puts before its signs: `\[root@node1
    \~\]\#`.
    """
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def strip_quote(text: str) -> str:
    """Take the signs of a quotation off a line."""
    found = _QUOTE.match(text)
    return text[found.end() :] if found is not None else text


def is_fence(text: str) -> bool:
    """Tell whether a line opens or closes a fence."""
    return _OPENING.match(text) is not None or _JIRA.match(text) is not None


def _decode(found: re.Match[str]) -> str:
    if found["name"]:
        return _ENTITIES[found["name"]]
    code = int(found["decimal"]) if found["decimal"] else int(found["hex"], 16)
    return chr(code) if code not in {10, 13} and not 0xD800 <= code <= 0xDFFF else found[0]


def _open(lines: Sequence[DocumentLine], place: int) -> _Fence | None:
    text = lines[place].text
    found = _OPENING.match(text)
    if found is not None:
        return _Fence(
            place, found["sign"], " " * len(found["indent"].expandtabs(4)), found["info"].strip()
        )
    jira = _JIRA.match(text)
    if jira is not None:
        return _Fence(place, f"{{{jira['sign']}}}", jira["indent"], jira["info"] or "")
    html = _HTML.match(text)
    if html is not None:
        return _Fence(place, "</pre>", html["indent"], "")
    span = _SPAN.match(text) if "`" in text else None
    return None if span is None else _Fence(place, "`", span["indent"], "")


def _close(lines: Sequence[DocumentLine], fence: _Fence) -> int | None:
    """Return the index of the closing line; of the next opening one where that was forgotten; None
    where there is neither.
    """
    if fence.sign == "</pre>":
        return next(
            (i for i in range(fence.place, len(lines)) if _HTML_END.search(lines[i].text)), None
        )
    if fence.sign == "`":
        return _close_span(lines, fence.place)
    for i in range(fence.place + 1, len(lines)):
        stripped = lines[i].text.strip()
        closes = stripped == fence.sign
        if fence.sign[0] != "{":
            closes = stripped.startswith(fence.sign) and not stripped.strip(fence.sign[0])
        if closes or _is_opening_with_info(lines[i].text, fence):
            return i
    return None


def _close_span(lines: Sequence[DocumentLine], place: int) -> int | None:
    """Return the index of the line with the backtick that ends what one began."""
    opened = _SPAN.match(lines[place].text)
    end = next((i for i in range(place + 1, len(lines)) if "`" in lines[i].text), None)
    closed = None if end is None else _SPAN_END.match(lines[end].text)
    if opened is None or end is None or closed is None:
        return None
    alone = not opened["before"].strip(" -*+\t") and not closed["behind"].strip(" .,;:\t")
    return end if alone or end - place >= _SENTENCE_WRAPS else None


def _is_opening_with_info(text: str, fence: _Fence) -> bool:
    found = _OPENING.match(text)
    return (
        found is not None
        and found["sign"] == fence.sign
        and found["info"].strip() != ""
        and fence.sign[0] in "`~"
    )


def _without_sign(line: DocumentLine, fence: _Fence) -> DocumentLine:
    """Return a line that opens no fence, since none closes it: what stands behind a tag is kept."""
    if fence.sign == "`":
        return line
    opened = _HTML.match(line.text) if fence.sign == "</pre>" else None
    return line._replace(text="" if opened is None else opened["rest"])


def _before(line: DocumentLine, fence: _Fence) -> DocumentLine | None:
    """Return what stands on the opening line before a single backtick; None for nothing."""
    found = _SPAN.match(line.text) if fence.sign == "`" else None
    text = "" if found is None else found["before"].rstrip()
    return line._replace(text=text) if text.strip(" -*+\t") else None


def _behind(line: DocumentLine, fence: _Fence) -> DocumentLine | None:
    """Return what stands on the closing line of a fence behind its sign; None for nothing."""
    if fence.sign == "`":
        text = line.text.rpartition("`")[2].strip(" .,;:\t")
        return line._replace(text=text) if text else None
    parts = _HTML_END.split(line.text, maxsplit=1) if fence.sign == "</pre>" else ()
    return line._replace(text=parts[1]) if len(parts) > 1 and parts[1].strip() else None


def _inside(lines: Sequence[DocumentLine], fence: _Fence, end: int, depth: int) -> list[Region]:
    body = list(lines[fence.place + 1 : end])
    if fence.sign == "</pre>":
        body = _html_body(lines, fence, end)
    elif fence.sign == "`":
        body = _span_body(lines[fence.place : end + 1])
    inner = tuple(DocumentLine(line.number, _dedent(line.text, fence.indent)) for line in body)
    if depth < _DEPTH and any(is_fence(line.text) for line in inner):
        nested = split_regions(inner, depth + 1)
        if any(region.fenced for region in nested):
            return list(nested)
    return [Region(inner, True, fence.info)]


def _html_body(lines: Sequence[DocumentLine], fence: _Fence, end: int) -> list[DocumentLine]:
    body = []
    for i in range(fence.place, end + 1):
        text = lines[i].text
        if i == fence.place:
            found = _HTML.match(text)
            text = found["rest"] if found is not None else text
        if i == end:
            text = _HTML_END.split(text)[0]
        body.append(
            DocumentLine(
                lines[i].number, re.sub(r"</?(?:code|span|b|i|strong|em|mark)\b[^>]*>", "", text)
            )
        )
    return [
        line for place, line in enumerate(body) if line.text.strip() or 0 < place < len(body) - 1
    ]


def _span_body(lines: Sequence[DocumentLine]) -> list[DocumentLine]:
    """Return what stands between two backticks, without an empty line at either end."""
    first = lines[0]._replace(text=lines[0].text.rpartition("`")[2])
    last = lines[-1]._replace(text=lines[-1].text.partition("`")[0])
    body = [first, *lines[1:-1], last]
    return [line for line in body if line.text.strip() or line not in (first, last)]


def _dedent(text: str, indent: str) -> str:
    count = len(text) - len(text.lstrip(" "))
    return text[min(count, len(indent)) :]

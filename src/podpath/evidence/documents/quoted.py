"""Messages that stand in prose: between backticks or quotation marks, or on a line by themselves
that no person wrote.

Prose says nothing of a node's state, but the words of a program that it quotes are that program's:
a title such as `failed to set bridge addr: "cni0" already has an IP address different from ...`
names the cause. What a sentence says was not seen, or is over, is not quoted for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.evidence.documents.prose import reads_as_prose
from podpath.evidence.documents.regions import DocumentLine
from podpath.evidence.messages.table import find_messages
from podpath.evidence.records import MessageRecord
from podpath.net.provenance import Source

QUOTED = "quoted"
"""The format of a source that holds a message out of prose, and nothing else."""
SPREAD = 20
"""Lines of a quotation between single backticks: people set them as if they were a fence."""
SHORTEST = 12
"""Characters of a quotation that may be a message."""
_QUOTATION = re.compile(r"`+([^`]+)`+|[\"\u201c\u201e]([^\"\u201d\u201c]{25,})[\"\u201d\u201c]")
_DENIED = re.compile(
    (
        r"\b(?:no|not|never|without|none|nor|neither|instead of|unlike|isn't|wasn't|don't|doesn't|"
        r"didn't|can't|if you (?:see|get)|in case of)\b"
    ),
    re.IGNORECASE,
)
_NOT_NOW = re.compile(
    r"[^.!?]{0,40}\b(?:that|this|which|it)(?:'s| is| was| has been) (?:now |since |already |all )?"
    r"(?:over|solved|fixed|resolved|cured|sorted|history)\b|"
    r"[^.!?]{0,20}\b(?:I|we)(?: have|'ve| had)? (?:fixed|solved|resolved|cured|sorted)(?: out)? "
    r"(?:that|this|it)\b|"
    r"[^.!?]{0,30}\bsince (?:the|then|that|an?)\b[^.!?]{0,30}?\b(?:no more|no longer|gone|"
    r"not any ?more|never again)\b|"
    r"[^!?]{0,60}\b(?:I|we) (?:do not|don't|did not|didn't|never) (?:see|saw|get|got|have) "
    r"(?:that|this|it)\b|"
    r"[^!?]{0,60}\bthere (?:is|was) no such (?:line|message|entry|error|log)\b",
    re.IGNORECASE,
)
"""What says of a quotation, behind it, that it belongs to the past, or was not seen."""
_NOT_OURS = re.compile(
    r"(?:\b(?:colleague|friend|neighbor|customer|somebody else|someone else)(?:'s|s'?)?|"
    r"\b(?:documentation|manual|readme|docs|faq|wiki|article|blog post)|"
    r"\bif (?:it|that|this) (?:were|was|is)|\bother \w+, which (?:works?|is fine|runs fine))\b"
    r"[^.!?]{0,60}$|(?:^|[.!?] +)\W*(?:before|previously|formerly|at that time):\W*$",
    re.IGNORECASE,
)
"""What says of a quotation, before it in its sentence, that others saw it, or nobody did."""
_PRINTED = re.compile(
    r"^\W*(?:error|failed|unable|cannot|could not|warning|fatal|panic|[EWIF]\d{4} )|err(?:or)?=|"
    r"rpc error|(?::\s.*){2}|\d\d:\d\d:\d\d|^\[ *\d+\.\d+\]",
    re.IGNORECASE,
)
"""How a line of a program's begins, or parts its clauses, though its words read as a sentence."""
_PERSONAL = re.compile(
    r"\b(?:I|I'm|I've|[Ww]e|[Ww]e've|[Mm]y|[Oo]ur|[Pp]lease|[Tt]hanks)\b(?!/)|<!--|-->"
)
_COMMENT = re.compile(r"\s*(?:#|//|;)")
LABEL_WIDTH = 300
"""Characters of the paragraph above that are kept."""
_SENTENCE = 120
"""Characters before a quotation in which its sentence says whose it is."""
_NEAR = 40
"""Characters before a quotation in which a word denies it."""


def find_quoted(
    name: str, lines: Sequence[DocumentLine], pasted: frozenset[int] = frozenset()
) -> tuple[Source, ...]:
    """Return a source for each line of prose that quotes a known message; the lines are those that
    no block has, `pasted` the numbers of those that stand in fences.
    """
    spread = _list_spread(lines) | _list_printed(lines, pasted)
    texts = [
        line.text.strip("` ") if line.number in spread else _cut_quoted(line.text) for line in lines
    ]
    told = find_messages(Source(name=name, lines=tuple(texts), first_line=0))
    places = sorted({record.span.line for record in told})
    return tuple(
        replace(_make_source(name, lines[place], texts[place]), label=_find_label(lines, place))
        for place in places
    )


def is_quoted(source: Source) -> bool:
    """Tell whether a source is a message out of prose: of it only messages are read."""
    return source.format == QUOTED


def is_cut(source: Source, lines: Sequence[str]) -> bool:
    """Tell whether a source is a message that a sentence quotes: the rest of its line is prose."""
    if not is_quoted(source) or not 0 < source.first_line <= len(lines):
        return False
    line = lines[source.first_line - 1]
    return source.lines[0] != line and reads_as_prose(line)


def leave_out_disowned(said: Sequence[MessageRecord]) -> tuple[MessageRecord, ...]:
    """Return messages without those of a sentence that gives its quotation to others or the
    past.
    """
    return tuple(one for one in said if not _is_disowned(one))


def _is_disowned(message: MessageRecord) -> bool:
    line = message.span.text
    kept = _QUOTATION.sub(_drop_past, line) if "`" in line and reads_as_prose(line) else line
    left = () if kept == line else find_messages(Source(name="", lines=(kept,)))
    return kept != line and message.kind not in {one.kind for one in left}


def _list_spread(lines: Sequence[DocumentLine]) -> frozenset[int]:
    """Return the numbers of the lines of quotations that begin a line with a backtick, and end on
    another one.
    """
    found: set[int] = set()
    opened: list[int] = []
    for line in lines:
        odd = line.text.count("`") % 2 == 1
        if opened and (line.number > opened[-1] + 2 or len(opened) > SPREAD):
            opened = []
        if opened:
            opened.append(line.number)
            if odd:
                found.update(opened)
                opened = []
        elif odd and line.text.lstrip().startswith("`"):
            opened = [line.number]
    return frozenset(found)


def _list_printed(lines: Sequence[DocumentLine], pasted: frozenset[int]) -> frozenset[int]:
    """Return the numbers of the lines in fences that no person wrote: a program's line may read as
    a sentence, but speaks neither of its reader nor of who runs it.
    """
    return frozenset(
        line.number
        for line in lines
        if line.number in pasted
        and _PERSONAL.search(line.text) is None
        and _COMMENT.match(line.text) is None
    )


def _make_source(name: str, line: DocumentLine, text: str) -> Source:
    return replace(Source(name=name, lines=(text,), first_line=line.number), format=QUOTED)


def _find_label(lines: Sequence[DocumentLine], place: int) -> str | None:
    """Return the paragraph above a line that is one by itself; None where prose goes on into it."""
    if place == 0 or not reads_as_prose(lines[place - 1].text):
        return None
    return lines[place - 1].text.strip()[-LABEL_WIDTH:] or None


def _cut_quoted(text: str) -> str:
    """Return what a line of prose quotes; the whole of a line that is no prose, or begins or parts
    its clauses as programs do.
    """
    text = _QUOTATION.sub(_drop_past, text)
    if _PRINTED.search(text) is not None or not reads_as_prose(text):
        return text
    return " \u2026 ".join(_list_quoted(text))


def _drop_past(found: re.Match[str]) -> str:
    """Return a quotation, or nothing where its sentence says that it is over, or of others."""
    text, start = found.string, found.start()
    others = _NOT_OURS.search(text, max(0, start - _SENTENCE), start) is not None
    return "" if others or _NOT_NOW.match(text, found.end()) else found.group()


def _list_quoted(text: str) -> Iterator[str]:
    for found in _QUOTATION.finditer(text):
        words = found[1] or found[2]
        before = text[max(0, found.start() - _NEAR) : found.start()]
        if len(words) >= SHORTEST and _DENIED.search(before) is None:
            yield words

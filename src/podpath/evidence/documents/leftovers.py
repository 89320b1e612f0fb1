"""Lines of a document that are neither prose nor any output: what nobody read must be said.

Between outputs stand sentences, headings, labels and commands, which state nothing of a node. Any
other line may be a part of an output that was torn, mangled or is of a tool that podpath does not
know: each run of such lines is a gap, so that no answer is given as if they were not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.documents.programs import is_program, reads_as_command
from podpath.evidence.documents.prose import (
    is_heading,
    reads_as_prose,
    reads_as_words,
    strip_markup,
)
from podpath.evidence.documents.regions import DocumentLine, is_fence
from podpath.evidence.documents.shapes import match_shape
from podpath.net.provenance import Gap, Source, Span

OUTSIDE = (
    "expected prose or a line of an output between the outputs, saw something that reads as neither"
)
_LINK = re.compile(r"(?:[\w -]{1,40}: )?(?:https?://\S+|(?:~|/)[\w./@+-]+)[:.]?")
"""An address of the web or a file's path, which names what stands below it."""
_SIGNS = re.compile(r"[\W_]+|\^[A-Z]|#!\S+(?: \S+)?")
"""A line of signs alone, an interruption, or the first line of a script."""
_REMARK = re.compile(r"^(?:#+|//|<!--|REM\b|;)\s*")
_ITEM = re.compile(r"\s*(?:[-*+]\s+|\*\*)[A-Z][\w ./()-]{0,40}(?:\*\*)?:(?:\*\*)?\s")
"""An item of a form that a ticket was written in: `- OS: Debian 12`, `**CNI**: flannel`."""
_CODE = re.compile(r"[`*]+([^`*]+)[`*]+")


def find_leftovers(
    name: str, lines: Sequence[DocumentLine], sources: Iterable[Source]
) -> Iterator[Gap]:
    """Yield a gap for each run of lines that stand in no source and that no person wrote."""
    taken = {
        number
        for source in sources
        for number in range(source.first_line, source.first_line + len(source.lines))
    }
    run: list[DocumentLine] = []
    for line in lines:
        if run and line.number != run[-1].number + 1:
            yield _make_gap(name, run)
            run = []
        if line.number not in taken and not says_nothing(line.text):
            run.append(line)
    if run:
        yield _make_gap(name, run)


def says_nothing(text: str) -> bool:
    """Tell whether a line between outputs states nothing of a node: prose, a heading, a label, a
    command, a file's name, or signs.
    """
    if not text.strip() or is_fence(text) or is_heading(text) or reads_as_prose(text):
        return True
    bare = strip_markup(_REMARK.sub("", text.strip(), count=1)).strip(" |")
    if not bare or _SIGNS.fullmatch(bare) is not None or _LINK.fullmatch(bare) is not None:
        return True
    if match_shape(text) is not None:
        return False
    return reads_as_words(bare) or _ITEM.match(text) is not None or _is_typed(text, bare)


def _is_typed(text: str, bare: str) -> bool:
    """Tell whether a line is a command that somebody named: what it printed is not in it."""
    marked = _CODE.fullmatch(text.strip())
    command = marked[1] if marked is not None else bare
    typed = re.sub(r"^[$#%>]\s+", "", command.strip())
    return is_program(typed) and reads_as_command(typed)


def _make_gap(name: str, run: Sequence[DocumentLine]) -> Gap:
    first = run[0].number
    source = Source(name=name, lines=tuple(line.text for line in run), first_line=first)
    return Gap(Span(source, first, first + len(run) - 1), OUTSIDE)

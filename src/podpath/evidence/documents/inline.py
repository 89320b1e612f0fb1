"""Commands with their answers within a sentence: `` `iptables -S | wc -l` returns `99423` ``.

Prose is no evidence, but a sentence that quotes a command and what it printed, word by word, is an
output like any other. One that says what a command should print, would print elsewhere or printed
at another time is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.evidence.documents.programs import is_program
from podpath.evidence.documents.regions import DocumentLine
from podpath.net.provenance import Source

_ANSWERED = re.compile(
    r"(?<!`)`(?P<command>[^`\n]{4,120})`\s*"
    r"(?:(?:now|still|just|only|simply|always)\s+)?"
    r"(?:returns?|gives?|prints?|shows?|says?|outputs?|answers?|yields?|reports?|is|:|=>?|->|→)"
    r"(?:\s+(?:me|us|just|only|now|still|simply))*\s*:?\s*"
    r"`(?P<answer>[^`\n]{1,200})`"
)
_SUPPOSED = re.compile(
    r"\b(?:if|when(?:ever)?|unless|until|till|before|after|once|should|must|shall|would|could|may|"
    r"might|expect\w*|normally|usually|otherwise|elsewhere|other|another|good|healthy|working|"
    r"fixed|fine|example|e\.g|instead|was|were|had|used|make sure|ensure|check|verify|instance|"
    r"not|never|no longer|wenn|falls|soll\w*|muss)\b",
    re.IGNORECASE,
)
"""Words of a sentence that say of what is quoted that it holds elsewhere, at times, or should."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(])")


def find_answered(name: str, lines: Sequence[DocumentLine]) -> tuple[Source, ...]:
    """Return a source for each command that a sentence quotes with its answer; the lines are those
    of prose.
    """
    return tuple(source for line in lines for source in _list_answered(name, line))


def is_inline(source: Source, lines: Sequence[str]) -> bool:
    """Tell whether a source is an answer within a sentence: the rest of its line is prose."""
    if source.command is None or len(source.lines) != 1 or not 0 < source.first_line <= len(lines):
        return False
    line = lines[source.first_line - 1]
    return f"`{source.command}`" in line and f"`{source.lines[0]}`" in line


def _list_answered(name: str, line: DocumentLine) -> Iterator[Source]:
    if "`" not in line.text:
        return
    for sentence in _SENTENCE.split(line.text):
        found = _ANSWERED.search(sentence)
        if found is None or not is_program(found["command"].removeprefix("sudo ")):
            continue
        around = sentence[: found.start()] + sentence[found.end() :]
        if _SUPPOSED.search(around) is None:
            yield Source(
                name=name,
                lines=(found["answer"].strip(),),
                first_line=line.number,
                command=found["command"].strip(),
            )

"""The sentences of a ticket's prose, each with the lines that it stands on.

What an output took, or stands in a fence, is pasted and no prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.evidence.documents.glosses import gloss
from podpath.evidence.documents.regions import is_fence
from podpath.net.provenance import Source

WIDTH = 1000
"""Characters of a sentence that are looked at."""
_SENTENCE_END = re.compile(
    r"(?<=[a-z0-9)`'\"][.!?;])\s+(?=[A-Z`\"'(])|(?<=[A-Z]{2}[.!?;])\s+(?=[A-Z])|(?<=[\u3002\uff01\uff1f])\s*"
)
_TIMEOUT_OPTION = re.compile(r"(?<![\w-])--?[\w-]*time-?out[\w-]*(?:=\S+)?", re.IGNORECASE)
"""An option by whose name nothing timed out."""
_MARKUP = re.compile(r"`+|\*\*|^\s*(?:[-*+]|\d+[.)])\s+")


def list_taken(sources: Iterable[Source]) -> set[int]:
    """Return the numbers of the lines that outputs take."""
    taken: set[int] = set()
    for source in sources:
        taken.update(range(source.first_line, source.first_line + len(source.lines)))
    return taken


def list_sentences(lines: Sequence[str], taken: set[int]) -> Iterator[tuple[str, int, int]]:
    """Yield the sentences of the lines that no output took, each with the numbers of its first and
    last line.

    What stands in a fence is pasted, whether a reader knows it or not.
    """
    paragraph: list[tuple[int, str]] = []
    fenced = False
    for number, line in enumerate(lines, 1):
        text = _TIMEOUT_OPTION.sub("", _MARKUP.sub("", line)).strip()
        fence = is_fence(line)
        fenced ^= fence
        if fence or fenced or number in taken or not text or text.startswith("|"):
            yield from _split(paragraph)
            paragraph = []
        elif text.startswith("#"):
            yield from _split(paragraph)
            yield from _split([(number, text.lstrip("# "))])
            paragraph = []
        else:
            paragraph.append((number, text))
    yield from _split(paragraph)


def _split(paragraph: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int, int]]:
    """Split a paragraph where a sentence ends, keeping the lines that each stands on."""
    words: list[str] = []
    first = 0
    for number, text in paragraph:
        for place, part in enumerate(_SENTENCE_END.split(text)):
            if place and words:
                yield " ".join(words)[:WIDTH], first, number
                words = []
            if not words:
                first = number
            words.append(gloss(part))
    if words:
        yield " ".join(words)[:WIDTH], first, paragraph[-1][0]

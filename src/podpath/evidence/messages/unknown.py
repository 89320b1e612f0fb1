"""Lines in which a program says by their level that something failed, and which no row of the table
knows.

What they mean is not known; that they were said is shown, so that nobody takes a log for silent
that is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from podpath.evidence.records import MessageRecord
from podpath.net.messages import MessageKind
from podpath.net.provenance import Source, Span

MOST = 12
"""Lines that are kept of a source: the first ones."""
WIDTH = 1000
"""Characters of a line in which its level stands."""
TEXT = 160
"""Characters of the words that are kept."""

_SIGNS = (
    "err",
    "ERR",
    "Err",
    "atal",
    "FATAL",
    "anic",
    "PANIC",
    "CRIT",
    "crit",
    "emerg",
    "alert",
    "E0",
    "E1",
    "F0",
    "F1",
    "failed",
)
_LEVEL = re.compile(
    r"(?P<logfmt>\blevel=\"?(?:error|fatal|panic|critical)\b)|"
    r"(?P<json>\"(?:level|severity|lvl|levelname|log\.level)\": ?\"(?:error|fatal|panic|critical|"
    r"crit|alert|emerg)\")|(?P<klog>(?:^|(?<=[\s|>]))[EF](?:0[1-9]|1[0-2])[0-3]\d "
    r"\d\d:\d\d:\d\d\.\d+ +\d+ )|(?P<bracket>\[(?:ERROR|ERR|FATAL|CRITICAL|error|crit|alert|emerg|"
    r"fatal)\])|(?P<angle><(?:error|err|critical|fatal)>)|"
    r"(?P<pipe>\|(?:ERR|EMER)\|)|"
    r"(?P<word>(?:^|\d[Z\s,]\S* ?|\s{2,}|\| )(?:ERROR|FATAL|CRITICAL|PANIC)\b[\s:\]])|"
    r"(?P<panic>^\s*(?:panic|fatal error): )|"
    r"(?P<daemon>[A-Za-z][\w./@-]*\[\d+\]: (?:[\w.-]+: )?(?:[Ee]rror|ERROR|[Ff]atal|[Ff]ailed to|"
    r"[Uu]nable to|[Cc]ould not|[Cc]annot)\b)"
)
_TEXT = re.compile(
    r"\bmsg=\"(?P<logfmt>(?:[^\"\\]|\\.)+)\"|\"(?:msg|message|error|err|log)\": ?\""
    r"(?P<json>(?:[^\"\\]|\\.)+)\"|\S+\.(?:go|cc|cpp|py|rs|c):\d+\]:? ?(?P<source>.+)|"
    r"\]: (?P<daemon>.+)"
)
_PROGRAM = re.compile(r"(?P<program>[A-Za-z][\w./@-]*)\[\d+\]: ")


def find_unknown(source: Source, known: Collection[int]) -> Iterator[MessageRecord]:
    """Yield the lines of an error's level that are none of the known ones, by their numbers."""
    found = 0
    said: set[str] = set()
    for number, line in enumerate(source.lines, source.first_line):
        if number in known or not any(sign in line for sign in _SIGNS):
            continue
        level = _LEVEL.search(line[:WIDTH])
        if level is None:
            continue
        text = _read_text(line, level)
        shape = re.sub(r"\d+|0x[0-9a-f]+", "#", text)
        if shape in said:
            continue
        said.add(shape)
        yield MessageRecord(
            span=Span(source, number, number),
            kind=MessageKind.UNKNOWN_ERROR,
            values=_make_values(line, text),
        )
        found += 1
        if found == MOST:
            return


def _read_text(line: str, level: re.Match[str]) -> str:
    """Return the words of a line, without what stands before them."""
    named = _TEXT.search(line)
    words = next((word for word in named.groups() if word), "") if named is not None else ""
    return (words or line[level.end() :] or line).strip()[:TEXT]


def _make_values(line: str, text: str) -> dict[str, str]:
    program = _PROGRAM.search(line)
    return {"text": text} if program is None else {"program": program["program"], "text": text}

"""Who speaks on a line of a chat log: the time and the name before what was said or pasted.

They stand before every line, those of an output included, and hide the prompts and the shape of
what was pasted. They are taken off only where they stand throughout: one line that begins so may be
the line of a log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from podpath.evidence.documents.regions import DocumentLine

_TIME = (
    r"(?:\d{4}-\d\d-\d\d[T ]|\d{1,2}[./]\d{1,2}[./]\d{2,4},? )?\d{1,2}[:.]\d\d(?:[:.]\d\d)?"
    r"(?: ?[AaPp][Mm])?"
)
_SPEAKER = re.compile(
    # [10:02:11] <maria> hi
    rf"\s?(?:(?:\[{_TIME}\]|{_TIME}) +)?<[@+ ]?[\w.+-][\w .+'|`^-]{{0,30}}>(?: |$)|"
    rf"\s?\[{_TIME}\] +[\w.+-][\w .+'-]{{0,30}}:(?: |$)"  # [10:02:11] Maria: hi
)
_FIRST = frozenset("[<0123456789")
"""How such a line begins: a look at one character spares the rest on long logs."""
LEAST, SHARE = 3, 0.5
"""Lines of a chat, and their part of all that are not blank: what was pasted at once goes on
without a name.
"""


def strip_speakers(lines: Sequence[DocumentLine]) -> Sequence[DocumentLine]:
    """Take time and name off the lines of a chat log; other documents stay as they are."""
    found = [
        _SPEAKER.match(line.text) if line.text[:2].strip()[:1] in _FIRST else None for line in lines
    ]
    count = sum(match is not None for match in found)
    if count < LEAST or count < SHARE * sum(bool(line.text.strip()) for line in lines):
        return lines
    return [
        line if match is None else line._replace(text=line.text[match.end() :])
        for line, match in zip(lines, found, strict=True)
    ]

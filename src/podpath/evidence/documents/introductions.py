"""A command that a line of prose names as the one whose output stands below: "Output of `ip
rule`:", a heading, a bold line.
"""

from __future__ import annotations

import re

from podpath.evidence.documents.programs import is_command, reads_as_command
from podpath.evidence.documents.prose import strip_markup

_CODE = re.compile(
    r"(?P<ticks>`{1,2})(?P<ticked>[^`]+)(?P=ticks)|<code>(?P<tagged>[^<]+)</code>|"
    r"\*\*(?P<bold>[^*]+)\*\*"
)
_AFTER = re.compile(
    r"\s*(?:(?:on|in|from|inside|within|at) (?:the |a |our |my )?[\w./ -]{1,40})?\s*"
    r"(?:shows?|says?|prints?|gives?|returns?|reports?|outputs?|looks? like(?: this)?|is)?(?: this|"
    r" the following)?\s*[:.]?\s*"
)
"""What may stand between the command and its output: where it ran, and a verb."""
_BEFORE = re.compile(
    (
        r"(?:the )?(?:full |complete |here is (?:the )?|this is (?:the )?)?(?:outputs?|results?)"
        r"(?: (?:of|from))?:?\s+"
    ),
    re.IGNORECASE,
)


def introduced_command(line: str) -> str | None:
    """Return the command that a line of prose says to have printed what comes next; None where it
    names none at its end.
    """
    spans = list(_CODE.finditer(line))
    if spans and _AFTER.fullmatch(line, spans[-1].end()):
        marked = spans[-1]["ticked"] or spans[-1]["tagged"] or spans[-1]["bold"]
        command = _without_prompt(marked)
        return command if reads_as_command(command) else None
    plain = _BEFORE.sub("", strip_markup(line), count=1).removesuffix(":").strip()
    command = _without_prompt(plain)
    return command if is_command(command) else None


def _without_prompt(text: str) -> str:
    return re.sub(r"^[$#%>]\s+", "", text.strip())

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
_SAYS = re.compile(
    r"\s+(?:(?:on|in|from|inside|at) (?:the |a |our |my )?[\w./-]{1,30}(?: [\w./-]{1,20})?\s+)?"
    r"(?:(?:now|then|only|just|still|also)\s+)?"
    r"(?:shows?|showed|says?|said|prints?|printed|gives?|gave|returns?|returned|reports?|reported|"
    r"lists?|listed|has|had|contains?|displays?|looks? like|outputs?)"
    r"(?:\s+(?:only|just|this|these|the following|now|then|me|us|no more than|nothing but|"
    r"that|as follows|two|three|one|lines?|rules?|routes?|entries))*\s*:$"
)
"""What a sentence says behind a command that stands in it without any sign: `ip rule shows only:`.
"""

_TABLE = re.compile(
    r"(?:(?:and|in|then|now|here is|this is)\s+)?(?:(?:the|its|my|our|this)\s+)?"
    r"(?:(?P<rules>nat|filter|mangle|raw)[ -]table|(?:(?:ip|routing|route)\s+)?table\s+"
    r"(?P<routes>\d{1,10}|main|local|default))"
    r"(?:\s+(?:of|on|in|at)\s+(?:the |a |our |my )?[\w./-]{1,30}(?:\s[\w./-]{1,20})?)?"
    r"(?:\s+(?:only|just|now|then|itself))?"
    r"(?:\s+(?:has|holds?|shows?|lists?|says?|contains?|is|looks? like)"
    r"(?:\s+(?:only|just|this|these|the following|rules|routes))*)?\s*:",
    re.IGNORECASE,
)
"""A sentence that names the table whose rules or routes stand below it: `The nat table has:`."""


def introduced_command(line: str) -> str | None:
    """Return the command that a line of prose says to have printed what comes next; None where it
    names none at its end.
    """
    spans = list(_CODE.finditer(line))
    if spans and _AFTER.fullmatch(line, spans[-1].end()):
        marked = spans[-1]["ticked"] or spans[-1]["tagged"] or spans[-1]["bold"]
        command = _without_prompt(marked)
        return command if reads_as_command(command) else None
    plain = _BEFORE.sub("", strip_markup(line), count=1)
    table = _TABLE.fullmatch(plain)
    if table is not None:
        return _command_of_table(table)
    told = _SAYS.search(plain)
    command = _without_prompt(plain[: told.start()] if told else plain.removesuffix(":").strip())
    return command if is_command(command) else None


def _command_of_table(found: re.Match[str]) -> str:
    """Return the command that shows a table; of a packet filter's table without its action, since
    the words do not tell how much of it was listed.
    """
    if found["rules"]:
        return f"iptables -t {found['rules'].lower()}"
    return f"ip route show table {found['routes'].lower()}"


def _without_prompt(text: str) -> str:
    return re.sub(r"^[$#%>]\s+", "", text.strip())

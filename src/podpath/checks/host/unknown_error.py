"""unknown-error: a program reports an error that podpath does not know.

What it is
    A log line has the level of an error, but names neither a fault that podpath knows nor a
    connection that failed.

Why it breaks
    It may have nothing to do with the failure, but a program that reports an error is the first
    thing to look at.

How to confirm
    journalctl -u UNIT, or the container's log, around that time

How to fix
    Look up what the program means by it.

References
    The manual of the program
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import QUOTED, find_said
from podpath.net.messages import MessageKind
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (Category.OTHER,)
NAME = "unknown-error"


def check(case: Case) -> Iterator[Finding]:
    """Report the errors that no other check reads."""
    said = find_said(case, MessageKind.UNKNOWN_ERROR)
    if not said:
        return
    first = said[0]
    program = first.values.get("program", "a program")
    text = first.values["text"]
    ask = FollowUp(
        fact=f"what {program} says around its error `{text}`",
        command="journalctl -b --no-pager | grep -B20 -A5 ERROR, or kubectl logs POD --previous",
        decides="the lines before it name what it waited for or could not do",
    )
    yield Finding(
        check=NAME,
        severity=Severity.NOTE,
        claim=f"{len(said)} errors that podpath does not know, the first from {program}: {text}",
        evidence=list_spans(said)[:QUOTED],
        breaks=("unknown",),
        certainty=0.2,
        asks=(ask,),
    )

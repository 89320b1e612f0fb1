"""program-killed: a program of the network was killed for lack of memory.

What it is
    The kernel's log names the process that it killed.

Why it breaks
    Until it is back, what it serves fails; with a limit that is too small it is killed again and again.

How to confirm
    dmesg -T | grep -i 'killed process'; kubectl describe pod POD (OOMKilled)

How to fix
    Raise the memory limit, or find what makes it grow (many services, endpoints, names).

References
    mm/oom_kill.c; Kubernetes, Assign Memory Resources
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.RESOURCE_LIMIT,)
NAME = "program-killed"
KINDS = (MessageKind.PROCESS_KILLED,)
ASK = Ask(
    "whether the program is killed at the times of the failures",
    "kubectl get pods -A (restarts); kubectl describe pod POD | grep -A5 'Last State'",
    "OOMKilled at those times: it is the cause",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    program = get_value(said, "program", default="a program")
    meaning = Meaning(
        claim=f"The kernel killed {program} for lack of memory.",
        breaks="what that program serves, until it is back",
        cure="raise its memory limit",
        certainty=0.5,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)

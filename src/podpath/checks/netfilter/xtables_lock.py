"""xtables-lock-held: another program holds the lock of iptables, so rules are not written.

What it is
    `Another app is currently holding the xtables lock`, and the command gave up (`Perhaps you want
    to use the -w option?`, `Stopped waiting after 5s`, exit status 4), or waits on.

Why it breaks
    One iptables at a time may change the tables: each takes a lock on /run/xtables.lock. If another
    program holds it, an old iptables without -w gives up at once, one with -w N after N seconds,
    and the rule is missing; others wait forever. This happens once if two services start together,
    or all the time if a program never lets go: it hangs in the kernel, or writes a very large
    ruleset.

How to confirm
    fuser -v /run/xtables.lock; lslocks | grep xtables
    ps -eo pid,ppid,stat,etime,args | grep ptables

How to fix
    Add -w (wait) to every iptables call in scripts and units, start units that write rules one
    after the other, and rerun what gave up. If one holder stays, find out what started it and why
    it does not end; in containers mount /run/xtables.lock from the host, so that all use one lock.

References
    iptables(8), -w; iptables/xshared.c, xtables_lock
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp
from podpath.checks.needs import Need
from podpath.checks.said import Meaning, find_said, is_of_proxy, tell
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.RULESET_FAILURE,)
NAME = "xtables-lock-held"
GAVE_UP, WAITS = 0.7, 0.5
"""The certainty where nothing says who has the lock: of a command that gave up, and of one that
still waits.
"""
_FAILED = re.compile(r"\bexit(?:ed)?(?: with)?(?: status| code)?[ =:]+4\b|\bstatus=4\b")
_DONE = re.compile(r"\bexit(?:ed)?(?: with)?(?: status| code)?[ =:]+0\b")
NEAR = 2
"""Lines below a message in which the end of its command stands."""
ASK = FollowUp(
    "who holds the lock, and whether the rule was written afterwards",
    "fuser -v /run/xtables.lock; lslocks | grep xtables; iptables-save",
    "a program that stays: stop it; nobody, and the rule is missing: it gave up, use -w",
)


def check(case: Case) -> Iterator[Finding]:
    """Report commands that gave up or wait for the lock, and who has it; kube-proxy tries again."""
    given_up = find_said(case, MessageKind.XTABLES_LOCKED)
    waiting = find_said(case, MessageKind.XTABLES_LOCK_AWAITED)
    holder = next(iter(find_said(case, MessageKind.XTABLES_LOCK_HELD)), None)
    said = [*given_up, *(one for one in waiting if not any(_list_near(one, _DONE)))]
    if not said:
        return
    once = [one for one in given_up if not is_of_proxy(one.span)]
    ends = [span for one in once for span in _list_near(one, _FAILED)]
    known = GAVE_UP if given_up else WAITS
    sure = holder is not None or bool(ends)
    found = tell(NAME, said, _explain(holder, given_up=bool(given_up)))
    quoted = (*((holder.span,) if holder is not None else ()), *found.evidence, *ends[:1])
    yield replace(
        found,
        certainty=1.0 if sure else known,
        asks=() if sure else (ASK,),
        evidence=tuple(dict.fromkeys(quoted)),
        needed_for=frozenset({Need.RULES, Need.SERVICES}) if given_up else frozenset(),
    )


def _explain(holder: Message | None, *, given_up: bool) -> Meaning:
    program = "another program"
    if holder is not None:
        program = f"{holder.values['program']} (process {holder.values['pid']})"
    effect = "the command gave up and its rules are missing" if given_up else "others wait for it"
    return Meaning(
        claim=f"The lock of iptables is held by {program}, so {effect}.",
        breaks="what the rules were for",
        cure="let the command wait for the lock (-w) and run it again"
        if holder is None
        else "find out why that program does not end, and run again what gave up",
        commands=() if holder is None else (f"ps -fp {holder.values['pid']}",),
        prevention="Give every iptables of scripts and units -w, and order those units.",
    )


def _list_near(message: Message, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Yield the line at a message or below it that says how the command of its speaker ended."""
    source, first = message.span.source, message.span.line
    last = min(first + NEAR, source.first_line + len(source.lines) - 1)
    for number in range(first, last + 1):
        span = Span(source, number, number)
        if message.speaker in span.text and pattern.search(span.text) is not None:
            yield span

"""What the evidence prints already is not asked for again: a question loses the commands whose
outputs are there, and one that is left without any is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from podpath.diagnosis.diagnosis import Question
from podpath.evidence.commands.command import Command, asked_object, parse_command
from podpath.evidence.kubernetes.picked import KINDS, split_options

_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_-]*")
"""A word that the reader puts in, such as NAME."""
_STEPS = "; "
_DETAILS = frozenset({"-d", "-details", "-s", "-statistics"})
"""Options of bridge(8) that print more."""
_IPTABLES = re.compile(r"(?P<family>ip6?tables)(?:-nft|-legacy)?(?P<saved>-save)?")
_LONG = {"--list": "L", "--list-rules": "S", "--verbose": "v"}
_CHANGES = frozenset("ADIRFXNPZ")
_SAME = {"podman": "docker", "nerdctl": "docker"}
"""Programs that print what another one prints."""
_AGAIN = frozenset({
    "ip",
    "tcpdump", "ping", "curl", "nc", "dig", "nslookup", "traceroute", "tracepath", "mtr", "arping",
    "conntrack", "nstat", "dmesg", "journalctl", "date",
})  # fmt: skip
"""Programs of which another run, at another time or in another place, tells more."""
_EVERYWHERE = frozenset({"-A", "--all-namespaces"})


class _Topic(NamedTuple):
    """What a command prints, as far as two commands are compared by it."""

    subject: tuple[str, ...]
    details: frozenset[str] = frozenset()
    """Options without which less is printed."""
    picks: tuple[str, ...] = ()
    """What it is about: words that select a part."""
    namespace: str = ""
    """Of Kubernetes; empty where the command names none, `*` for all of them."""

    def is_answered_by(self, other: _Topic) -> bool:
        """Tell whether what the other prints holds all that this one asks for."""
        alike = self.subject == other.subject and self.details <= other.details
        there = other.namespace == "*" or self.namespace in {"", other.namespace}
        filled = self.subject[0] == "kubectl"
        return alike and there and _agree(self.picks, other.picks, filled=filled)


def leave_out_printed(
    questions: Iterable[Question], printed: Sequence[str]
) -> tuple[Question, ...]:
    """Return the questions without what these commands have printed; all where nothing else is
    left to ask.
    """
    asked = tuple(questions)
    shown = [_read(parse_command(command)) for command in printed]
    left = []
    for question in asked:
        steps = question.ask.split(_STEPS)
        missing = [step for step in steps if not _is_shown(step, shown)]
        if missing == steps:
            left.append(question)
        elif missing:
            left.append(replace(question, ask=_STEPS.join(missing)))
    return tuple(left) or asked


def _is_shown(step: str, shown: Iterable[_Topic]) -> bool:
    command = parse_command(step)
    topic = _read(command)
    return command.program not in _AGAIN and any(topic.is_answered_by(other) for other in shown)


def _read(command: Command) -> _Topic:
    found = asked_object(command)
    if found is not None:
        subject, selectors = found
        details = _DETAILS.intersection(command.arguments)
        return _Topic((command.program, subject), details, selectors)
    if command.program in {"kubectl", "oc", "k"} and len(command.arguments) > 1:
        return _read_kubectl(command.arguments)
    rules = _IPTABLES.fullmatch(command.program)
    if rules is not None:
        listed = _read_iptables(rules["family"], command.arguments, saved=bool(rules["saved"]))
    else:
        listed = None
    return listed or _Topic((_SAME.get(command.program, command.program), *command.arguments))


def _read_kubectl(arguments: tuple[str, ...]) -> _Topic:
    """Read `get svc web -n shop -o yaml`: its verb, its kind, its format and its names."""
    plain, namespace = split_options(arguments)
    given = dict(pairwise(arguments))
    joined = (word[2:].lstrip("=") for word in arguments if word.startswith("-o") and word[2:])
    form = given.get("-o") or given.get("--output") or next(joined, "")
    labels = given.get("-l") or given.get("--selector") or ""
    verb, kind, *names = (*plain, "", "")
    kind, _, name = kind.partition("/")
    picks = tuple(each for each in (labels, name, *names) if each)
    everywhere = not _EVERYWHERE.isdisjoint(arguments)
    kind = KINDS.get(kind.lower(), kind.lower().removesuffix("s"))
    return _Topic(
        ("kubectl", verb, kind, form), frozenset(), picks, "*" if everywhere else namespace
    )


def _read_iptables(family: str, arguments: tuple[str, ...], *, saved: bool) -> _Topic | None:
    """Read `iptables -t nat -nvL POSTROUTING` or what iptables-save is asked for: a table and a
    chain, with devices and counters; None for what lists nothing.
    """
    table, chain, flags = "" if saved else "filter", "", "c" if "-c" in arguments else ""
    rest = iter(arguments)
    for word in rest:
        if word in {"-t", "--table"}:
            table = next(rest, "")
        elif not word.startswith("-"):
            chain = word
        else:
            flags += _LONG.get(word, word).removeprefix("-")
    lists = not set(flags) & _CHANGES and (saved or bool(set(flags) & {"L", "S"}))
    devices = {"devices"} if saved or set(flags) & {"S", "v"} else set()
    counters = {"counters"} if set(flags) & {"c", "v"} else set()
    picks = tuple(each for each in (table, chain) if each)
    if lists:
        return _Topic((family,), frozenset(devices | counters), picks)
    return None


def _agree(asked: Sequence[str], printed: Sequence[str], *, filled: bool) -> bool:
    """Tell whether what was picked, if anything, is what is asked for, or what a placeholder stands
    for where any object will do.
    """
    if len(printed) > len(asked):
        return False
    for one, other in zip(asked, printed, strict=False):
        stands_for_any = filled and _PLACEHOLDER.fullmatch(one) is not None
        if one != other and not stands_for_any:
            return False
    return True

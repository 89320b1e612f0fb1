"""Programs that end by themselves: who said a fatal word, and whether he stays down.

A fatal line alone may be of last week. It counts as the end of a workload where the same ticket
shows, or says, that this workload does not stay up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import see
from podpath.checks.said import QUOTED, find_said
from podpath.checks.told import list_failing
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

CRASHED = frozenset({
    "CrashLoopBackOff", "Error", "RunContainerError", "StartError", "ContainerCannotRun",
    "Init:CrashLoopBackOff", "Init:Error",
})  # fmt: skip
"""What kubectl says of a pod whose container ends."""
_DIGIT = re.compile(r"\d")
_LOGS = re.compile(r"\b(?:logs|logs?-f|tail)\b(?P<rest>.*)")
_NAME = re.compile(r"(?<![\w=/-])(?:pods?/|deploy(?:ment)?/|ds/|sts/)?([a-z0-9][a-z0-9.-]{2,})")
_UNIT = re.compile(r"\bjournalctl\b.*?(?:-\w*u|--unit)[ =]?(?P<unit>[\w@.-]+)")
_OPTION = re.compile(r"(?:^|\s)(?:-n|-c|--namespace|--container|--tail|--since)(?:[ =]\S+)")


class LastWord(NamedTuple):
    """A program's fatal line, whose it is, and what shows that the program is down."""

    message: Message
    program: str
    """Its workload, unit or program; empty where nothing tells."""
    down: Span | None
    """A line that shows it down; None where only the ticket's words do."""
    certain: bool
    """True where this program is said or shown to stay down."""


def find_last_words(case: Case) -> Iterator[LastWord]:
    """Yield the fatal lines, each with its program, first those of programs that stay down."""
    pods = see(case, "Pod")
    down = {pod.name: pod.span for pod in pods if pod.text_at("status", "phase") in CRASHED}
    for said in find_said(case, MessageKind.CONTAINER_CRASHES):
        if "pod" in said.values:
            down.setdefault(said.values["pod"], said.span)
    up = [pod.name for pod in pods if pod.name not in down]
    found = [
        _place(case, message, down, up) for message in find_said(case, MessageKind.PROGRAM_FATAL)
    ]
    yield from sorted(found, key=lambda word: not word.certain)


def _place(case: Case, message: Message, down: Mapping[str, Span], up: Sequence[str]) -> LastWord:
    named = _find_program(message)
    workloads = {_base(pod) for pod in down}
    if not named and len(workloads) == 1:
        named = next(iter(workloads))
    rows = [span for pod, span in down.items() if _is_same(pod, named)]
    unit = _find_failed_unit(case, message, named)
    span = unit or next(iter(rows), None)
    other = bool(down) or any(_is_same(pod, named) for pod in up)
    certain = span is not None or (not other and _is_said_to_crash(case))
    return LastWord(message, named, span, certain=certain)


def _is_said_to_crash(case: Case) -> bool:
    """Tell whether people say, or an event tells, that something does not stay up."""
    said = any(Technology.CRASH_LOOP in one.mentions for one in list_failing(case))
    return said or bool(find_said(case, MessageKind.CONTAINER_CRASHES))


def _find_program(message: Message) -> str:
    """Return whose log a line stands in, as the command says that printed it, or the line."""
    command = message.span.source.command or ""
    unit = _UNIT.search(command)
    if unit is not None:
        return unit["unit"].removesuffix(".service")
    logs = _LOGS.search(command)
    names = _NAME.findall(_OPTION.sub(" ", logs["rest"])) if logs is not None else []
    if names:
        return str(names[0])
    return message.speaker.partition("[")[0] or message.values.get("program", "")


def _is_same(pod: str, named: str) -> bool:
    """Tell whether a pod is of the workload that a name names."""
    if not named:
        return False
    return pod == named or pod.startswith(f"{named}-") or named.startswith(f"{_base(pod)}-")


def _base(pod: str) -> str:
    """Return a pod's name without what its controller put behind it."""
    parts = pod.split("-")
    short = [part for part in parts[1:] if not _DIGIT.search(part)]
    if short and short[-1] == parts[-1] and len(parts[-1]) == GENERATED:
        short = short[:-1]
    return "-".join((parts[0], *short))


GENERATED = 5
"""Letters that a controller puts behind the name of a pod."""


def _find_failed_unit(case: Case, message: Message, named: str) -> Span | None:
    """Return the line by which systemd says that a program's unit failed."""
    for end in find_said(case, MessageKind.PROGRAM_ENDED):
        unit = end.values.get("unit", "")
        same = end.span.source.name == message.span.source.name
        if unit and same and named and (unit.startswith(named) or named.startswith(unit)):
            return end.span
    return None


AGENTS = re.compile(
    r"(?:calico|cilium|(?:kube-)?flanneld?|weave|antrea|kube-router|kube-ovn|ovn|ovs|multus|canal|"
    r"aws-node|azure-cni|kindnet|romana|contiv|tigera|felix|bird|kilo|netd)(?![a-z])"
)
"""Names of network plugins' own programs."""


def is_agent(program: str) -> bool:
    """Tell whether a program is a network plugin's own."""
    return AGENTS.match(program) is not None


SERVED: Mapping[str, frozenset[int]] = MappingProxyType({
    "kube-apiserver": frozenset({443, 6443, 8080}), "k3s": frozenset({6443}),
    "etcd": frozenset({2379, 2380}), "haproxy": frozenset({80, 443, 6443, 8443}),
    "nginx": frozenset({80, 443, 8080, 8443}), "apache2": frozenset({80, 443}),
    "httpd": frozenset({80, 443}), "caddy": frozenset({80, 443}), "traefik": frozenset({80, 443}),
    "envoy": frozenset({80, 443}), "sshd": frozenset({22}), "named": frozenset({53}),
    "dnsmasq": frozenset({53}), "unbound": frozenset({53}), "coredns": frozenset({53}),
    "redis": frozenset({6379}), "postgres": frozenset({5432}), "mysqld": frozenset({3306}),
})  # fmt: skip
"""The ports on which programs are commonly asked."""


def is_refused(case: Case, word: LastWord) -> bool:
    """Tell whether people are refused where a program should listen: they name it, or its port."""
    program = _base(word.program)
    ports = SERVED.get(program, frozenset())
    tried = {one.probe.dport for one in case.attempts if one.result == FailureKind.REFUSED}
    tried |= {one.dport for one in case.unplaced if one.result == FailureKind.REFUSED}
    told = [one for one in list_failing(case) if one.failure is FailureKind.REFUSED]
    tried.update(port for one in told for port in one.ports)
    spoken = {name for one in told for name in one.spoken | one.words}
    return bool(program) and (bool(ports & tried) or program in spoken)


def report_end(name: str, words: Sequence[LastWord], breaks: str) -> Finding:
    """Return the finding of a program that ends by itself, from its fatal lines."""
    first = words[0]
    program = _base(first.program) or "A program"
    values = first.message.values
    text = values.get("text") or values.get("err") or "its own error"
    about = f" ({values['flag']})" if "flag" in values else ""
    own = [word.message.span for word in words if word.program == first.program]
    shown = () if first.down is None else (first.down,)
    ask = FollowUp(
        fact=f"whether {program} restarts after that line",
        command="kubectl get pods -A -o wide; kubectl logs POD --previous; systemctl status UNIT",
        decides="it exits with this line every time: this is the cause",
    )
    return Finding(
        check=name,
        severity=Severity.FAULT,
        claim=f"{program} exits with its own error: {text}{about}.",
        evidence=tuple(dict.fromkeys((*own[:QUOTED], *shown))),
        reasoning=(
            "The line has a level at which a program gives up, and blames the program itself.",
        ),
        breaks=(breaks,),
        repairs=(Repair(title=f"fix what {program} says it cannot accept", commands=()),),
        prevention="Test a configuration before you roll it out.",
        certainty=1.0 if first.certain else 0.6,
        asks=() if first.certain else (ask,),
    )

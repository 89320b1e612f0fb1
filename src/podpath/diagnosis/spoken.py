"""What people say beside the lines of a fault and leaves it open: they speak of another program, of
another family, of a rescue system, or of what would be printed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from podpath.checks.category import Category
from podpath.checks.dying import AGENTS
from podpath.checks.finding import Finding
from podpath.checks.registry import find_check
from podpath.checks.told import WORKLOADS, find_told, list_failing
from podpath.diagnosis.beside import list_quoted
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.failures import FailureKind
from podpath.net.introductions import is_supposed
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case

SHORTEST = 3
"""Letters of a word that may name a program."""
_LOG_OF = re.compile(
    r"\b(?:kubectl|oc|k|docker|podman|crictl|nerdctl)\b.*?\blogs?\b"
    r"(?:\s+-\S+(?:[ =](?!\S*/)\S+)?)*?\s+(?P<name>(?!-)\S+)"
)
"""Commands that print one program's log."""
_GENERAL = frozenset({
    "pod", "pods", "app", "server", "service", "services", "agent", "controller", "manager",
    "node", "cluster", "client", "system", "default", "the", "and", "all", "not",
})  # fmt: skip
"""Words that name no program."""
_SERVES_ALL = re.compile(
    r"kube|k3s|etcd|dns|ingress|istio|envoy|linkerd|proxy|traefik|nginx|haproxy|gateway|webhook|"
    r"cert|registry|controller"
)
"""Names of programs on which others rest that people speak of."""
_SERVICES = frozenset({EndKind.SERVICE, EndKind.NODE_PORT, EndKind.LOAD_BALANCER})


def find_other_program(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted lines, where all are out of the logs of programs that people do not mention,
    while they say of others that they fail.
    """
    quoted = list_quoted(case, finding)
    check = find_check(finding.check)
    ours = check is not None and Category.NAME_OR_CERTIFICATE in check.categories
    failing = list(list_failing(case))
    told = {word for one in failing for word in (*one.words, *one.names, *one.spoken)}
    words = {word.partition(".")[0].casefold() for word in told}
    if not quoted or not ours or not failing:
        return
    for message in quoted:
        asked = _LOG_OF.search(message.span.source.command or "")
        if asked is None or _is_meant(asked["name"], words):
            return
        if any(str(address) in message.span.text for one in failing for address in one.addresses):
            return
    yield quoted[0].span


def find_by_hand(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentence that says that the same works later."""
    told = find_told(case, Circumstance.BY_HAND)
    if told is not None:
        yield told


def _is_meant(program: str, words: Collection[str]) -> bool:
    """Tell whether one of the words is part of a program's or pod's name, or others rest on it."""
    name = program.casefold().rpartition("/")[2]
    if AGENTS.search(name) or _SERVES_ALL.search(name):
        return True
    parts = {part for part in re.split(r"[^a-z]+", name) if len(part) >= SHORTEST} - _GENERAL
    told = {word for word in words if len(word) >= SHORTEST} - _GENERAL
    return any(one.startswith(other) or other.startswith(one) for one in parts for other in told)


def find_no_service(case: Case, _: Finding) -> Iterator[Span]:
    """Yield what fails instead, where no sentence says that a service does from elsewhere than a
    pod.
    """
    failing = list(list_failing(case))
    if not any(one.target in _SERVICES and one.source not in WORKLOADS for one in failing):
        yield from (one.span for one in failing)


def find_other_family(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the quoted line about a link-local address of IPv6, or about one of IPv6 where what
    fails has an address of IPv4, unless a sentence speaks of IPv6 or of an address that is missing.
    """
    failing = list(list_failing(case))
    ends = {address.family for one in failing for address in one.addresses}
    spoken = any(Technology.IPV6 in one.mentions for one in failing)
    missing = any(one.failure is FailureKind.NO_ADDRESS for one in failing)
    if not failing or 6 in ends or spoken or missing:
        return
    quoted = list_quoted(case, finding)
    local = all(one.values.get("address", "").startswith("fe80:") for one in quoted)
    if quoted and (local or 4 in ends):
        yield quoted[0].span


def find_supposed(_: Case, finding: Finding) -> Iterator[Span]:
    """Yield the first quoted line, where the prose above each of them says that it would be, or
    should be, printed.
    """
    if finding.evidence and all(is_supposed(one.source.label or "") for one in finding.evidence):
        yield finding.evidence[0]


def find_past(case: Case, finding: Finding) -> Iterator[Span]:
    """Yield the sentence below the quoted lines, and nothing but blank ones between, that says that
    they are of another time or host, or over.
    """
    quoted = list_quoted(case, finding)
    if not quoted or len(quoted) != len(finding.evidence):
        return
    last = max((one.span for one in quoted), key=lambda span: span.last_line)
    for told in case.told:
        lines = told.span.source.lines
        between = lines[last.last_line : told.span.line - 1]
        below = last.source.name == told.span.source.name and told.span.line > last.last_line
        if told.circumstance is Circumstance.PAST and below and not any(map(_SAYS, between)):
            yield told.span


_SAYS = re.compile(r"[^\s`~]").search
"""Anything but blanks and fences."""


def find_rescue(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentence that says that what runs is a rescue system: its kernel and devices are
    not the host's own.
    """
    told = find_told(case, Circumstance.RESCUE)
    yield from () if told is None else (told,)


def find_agent_down(case: Case, _: Finding) -> Iterator[Span]:
    """Yield the sentence that says that the network plugin's own pods do not run."""
    told = find_told(case, Circumstance.AGENT_DOWN)
    yield from () if told is None else (told,)

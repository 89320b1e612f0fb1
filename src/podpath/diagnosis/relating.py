"""Whether a line of a log has to do with what people say fails: any busy host logs errors of other
programs, of scans from outside, and of yesterday.

A line is kept as a possible cause, and convicts nobody, where packets are said to be lost and

- people name an end of the connection, and neither the line nor its neighbors mention one, or
- its sort of fault answers packets, or refuses names or requests, and so loses none; or where a
  port is said to refuse, and the line is about another port.

What a full table or a hanging card does, it does to every connection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.dying import is_agent
from podpath.checks.finding import WEIGHTY, Finding, Severity
from podpath.checks.ground import Ground
from podpath.checks.host import module_forbidden
from podpath.checks.links import address_conflict
from podpath.checks.registry import MESSAGES, find_check
from podpath.checks.said import find_said, is_of_proxy
from podpath.checks.told import SERVICES, find_told, list_failing
from podpath.diagnosis.beside import list_quoted
from podpath.diagnosis.sharing import ComplainedEnds, shares_ends
from podpath.net.addresses import read_address
from podpath.net.complaints import Circumstance
from podpath.net.failures import FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

POSSIBLE, WANTED = 0.6, 0.3
_SHUTTING = frozenset({
    "port-not-accepted", "shadowed-accept", "drop-counter", "policy-drop", "catch-all",
    "dropped-by-rule", "forwarded-port-dropped", "forward-not-accepted", "peer-not-accepted",
    "protocol-not-accepted", "logged-drop", "ufw-not-admitted", "uplink-down", "firewall-zone",
})  # fmt: skip
"""Faults by which packets do not get in: rules of a firewall, or a link that is down."""
NEAR = 3
"""Lines before and behind a quoted one that may belong to the same entry of a log."""
_TOLD = frozenset({
    *(check.name for check in MESSAGES), address_conflict.NAME, module_forbidden.NAME,
})  # fmt: skip
_LOST = frozenset({
    FailureKind.TIMEOUT, FailureKind.UNREACHABLE, FailureKind.NO_ROUTE_TO_HOST,
    FailureKind.NETWORK_UNREACHABLE,
})  # fmt: skip
"""Failures of packets that nobody answers."""
_OF_ALL = frozenset({
    Category.CONNTRACK_FULL, Category.NEIGHBOUR_TABLE_FULL, Category.NIC_DRIVER, Category.BONDING,
})  # fmt: skip
"""Sorts of fault that concern whatever passes the host, so that no line of them names an end."""
_ANSWERED = frozenset({
    Category.NAME_OR_CERTIFICATE, Category.APPLICATION, Category.WRONG_PORT, Category.DNS_SERVER,
    Category.DNS_CONFIGURATION, Category.DNS_UPSTREAM, Category.MESH_POLICY,
    Category.MESH_REDIRECT, Category.OTHER, Category.RESOURCE_LIMIT, Category.NO_LISTENER,
    Category.LOAD_BALANCER,
})  # fmt: skip
"""Sorts of fault of which none loses packets on their way."""


_KERNEL_LIMIT = frozenset({Category.RESOURCE_LIMIT, Category.SYSCTL})
_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT})
_OF_NAMES = frozenset({Category.DNS_SERVER, Category.DNS_CONFIGURATION, Category.DNS_UPSTREAM})

_JOINS = re.compile(r"\bkubeadm (?:init|join)\b|\bkubelet\b|\bnot ?ready\b", re.IGNORECASE)
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(?:[.,]\d+)?")
_CARRIES = re.compile(
    r"kube|k3s|etcd|dns|resolve|cni|ingress|istio|envoy|linkerd|proxy|nginx|docker|containerd|crio|"
    r"podman|systemd|networkd|NetworkManager|firewall|dhc"
)
"""Names of programs that make a node's network, or through which packets of others go."""


def relate(
    case: Case, finding: Finding, ends: ComplainedEnds, kinds: frozenset[FailureKind]
) -> Finding:
    """Return a fault that lines of logs alone tell, possible only where they are about something
    else than what people say fails.
    """
    if finding.check in _SHUTTING and find_told(case, Circumstance.WANTED_CLOSED) is not None:
        reason = "The ticket wants these packets dropped: what it misses is that they are."
        reasons = (*finding.reasoning, reason)
        return replace(finding, severity=Severity.RISK, certainty=WANTED, reasoning=reasons)
    sure = finding.certainty == 1 and finding.severity in WEIGHTY
    said = {message.span for message in case.messages}
    if any(ground in finding.reasoning for ground in (Ground.SAME_PORT, Ground.WHOLE_TTL)):
        return finding
    if not sure or finding.check not in _TOLD or not said.issuperset(finding.evidence):
        return finding
    told = frozenset(one.failure for one in list_failing(case) if one.failure is not None)
    if not _is_beside(case, finding, ends, told or kinds):
        return finding
    reason = (
        "Nothing in these lines mentions what is reported to fail, and hosts log errors of other "
        "programs all the time."
    )
    return replace(finding, certainty=POSSIBLE, reasoning=(*finding.reasoning, reason))


def _is_beside(
    case: Case, finding: Finding, ends: ComplainedEnds, kinds: frozenset[FailureKind]
) -> bool:
    check = find_check(finding.check)
    sorts = frozenset(check.categories if check is not None else ())
    quoted = list_quoted(case, finding)
    if FailureKind.REFUSED in kinds:
        told = {message.values.get("port", "") for message in quoted} - {""}
        return bool(told and ends.ports) and told.isdisjoint(map(str, ends.ports))
    if _is_needed(case, sorts, quoted):
        return False
    tried = all((span.source.command or "").startswith("modprobe") for span in finding.evidence)
    if kinds and kinds <= _LOST and (sorts <= _ANSWERED or tried):
        return not shares_ends(_widen(finding), ends._replace(names=frozenset()))
    if kinds and kinds <= _NAMES:
        return sorts <= _ANSWERED - _OF_NAMES and not any(map(_is_of_names, finding.evidence))
    general = sorts & _OF_ALL and not any("src" in message.values for message in quoted)
    if _is_of_other_family(case, quoted) or _is_limit_of_other(case, sorts, quoted):
        return True
    if not ends.is_known or not kinds <= _LOST or general:
        return False
    return not shares_ends(_widen(finding), ends)


def _is_needed(case: Case, sorts: frozenset[Category], quoted: Sequence[Message]) -> bool:
    """Tell whether what fails cannot work without the program of a line: services without
    kube-proxy, a node that is to join without its kubelet.
    """
    if Category.KUBE_PROXY in sorts and any(is_of_proxy(message.span) for message in quoted):
        services = any(one.target in SERVICES for one in list_failing(case))
        return services or bool(find_said(case, MessageKind.API_SERVER_UNREACHABLE))
    joins = any(_JOINS.search(one.span.text) for one in list_failing(case))
    return joins and any("kubelet" in message.span.text for message in quoted)


def _is_of_names(span: Span) -> bool:
    return "dns" in f"{span.source.command} {span.text}".casefold()


def _widen(finding: Finding) -> Finding:
    """Return a finding that quotes the lines round its own, too: an entry of a log may take
    several.
    """
    return replace(finding, evidence=tuple(map(_with_near, finding.evidence)))


def _with_near(span: Span) -> Span:
    """Return a span with the lines round it that are of no other time of day."""
    first, last = span.line, span.last_line
    end = span.source.first_line + len(span.source.lines) - 1
    while first > max(span.source.first_line, span.line - NEAR) and _is_entry(span, first - 1):
        first -= 1
    while last < min(end, span.line + NEAR) and _is_entry(span, last + 1):
        last += 1
    return Span(span.source, first, last)


def _is_entry(span: Span, number: int) -> bool:
    """Tell whether a line may belong to the entry of a span: it has no time, or the same."""
    own = _CLOCK.search(span.text)
    other = _CLOCK.search(span.source.lines[number - span.source.first_line])
    return own is None or other is None or own[0] == other[0]


def _is_of_other_family(case: Case, quoted: Sequence[Message]) -> bool:
    """Tell whether addresses of one family stand in the lines, and people name only ones of the
    other.
    """
    failing = tuple(list_failing(case))
    told = {address.family for one in failing for address in one.addresses}
    told.update(prefix.family for one in failing for prefix in one.prefixes)
    found = (read_address(message.values.get("address", "")) for message in quoted)
    families = {address.family if address is not None else None for address in found}
    return len(told) == 1 and len(families) == 1 and families.isdisjoint({*told, None})


def _is_limit_of_other(case: Case, sorts: frozenset[Category], quoted: Sequence[Message]) -> bool:
    """Tell whether a limit of the kernel stops one program alone, through which no packet goes and
    of which nobody speaks.
    """
    if not sorts >= _KERNEL_LIMIT or not any(True for _ in list_failing(case)):
        return False
    said = {word for one in list_failing(case) for word in (*one.words, *one.spoken)}
    programs = {message.speaker.partition("[")[0].rpartition("/")[2] for message in quoted}
    return bool(programs) and not any(
        not program or _CARRIES.search(program) or is_agent(program) or program in said
        for program in programs
    )

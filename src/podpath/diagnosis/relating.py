"""Whether a line of a log has to do with what people say fails: any busy host logs errors of other
programs, of scans from outside, and of yesterday.

A line is kept as a possible cause, and convicts nobody, where packets are said to be lost and

- people name an end of the connection, and neither the line nor its neighbors mention one, or
- its sort of fault answers packets, or refuses names or requests, and so loses none; or where a
  port is said to refuse, and the line is about another port.

What a full table or a hanging card does, it does to every connection.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import WEIGHTY, Finding
from podpath.checks.ground import Ground
from podpath.checks.links import address_conflict
from podpath.checks.registry import MESSAGES, find_check
from podpath.checks.told import list_failing
from podpath.diagnosis.beside import list_quoted
from podpath.diagnosis.sharing import ComplainedEnds, shares_ends
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case

POSSIBLE = 0.6
NEAR = 3
"""Lines before and behind a quoted one that may belong to the same entry of a log."""
_TOLD = frozenset({*(check.name for check in MESSAGES), address_conflict.NAME})
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


_NAMES = frozenset({FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT})
_OF_NAMES = frozenset({Category.DNS_SERVER, Category.DNS_CONFIGURATION, Category.DNS_UPSTREAM})


def relate(
    case: Case, finding: Finding, ends: ComplainedEnds, kinds: frozenset[FailureKind]
) -> Finding:
    """Return a fault that lines of logs alone tell, possible only where they are about something
    else than what people say fails.
    """
    sure = finding.certainty == 1 and finding.severity in WEIGHTY
    said = {message.span for message in case.messages}
    if Ground.SAME_PORT in finding.reasoning:
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
    tried = all((span.source.command or "").startswith("modprobe") for span in finding.evidence)
    if kinds and kinds <= _LOST and (sorts <= _ANSWERED or tried):
        return not shares_ends(_widen(finding), ends._replace(names=frozenset()))
    if kinds and kinds <= _NAMES:
        return sorts <= _ANSWERED - _OF_NAMES and not any(map(_is_of_names, finding.evidence))
    general = sorts & _OF_ALL and not any("src" in message.values for message in quoted)
    if not ends.is_known or not kinds <= _LOST or general:
        return False
    return not shares_ends(_widen(finding), ends)


def _is_of_names(span: Span) -> bool:
    return "dns" in f"{span.source.command} {span.text}".casefold()


def _widen(finding: Finding) -> Finding:
    """Return a finding that quotes the lines round its own, too: an entry of a log may take
    several.
    """
    return replace(finding, evidence=tuple(map(_with_near, finding.evidence)))


def _with_near(span: Span) -> Span:
    last = span.source.first_line + len(span.source.lines) - 1
    first = max(span.source.first_line, span.line - NEAR)
    return Span(span.source, first, min(last, span.line + NEAR))

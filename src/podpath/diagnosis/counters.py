"""What the kernel counted: for some faults it keeps a counter of its own, which supports or
contradicts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.captures import path_mtu
from podpath.checks.finding import Finding, Severity
from podpath.checks.routing import ip_forward, no_route, routing_loop, rp_filter
from podpath.checks.tunnels import packet_size, vxlan_mtu
from podpath.datapath.vocabulary import StageName
from podpath.net.provenance import Known
from podpath.node.node import HOST, Node

TELLTALES: dict[str, tuple[str, ...]] = {
    rp_filter.NAME: ("TcpExtIPReversePathFilter",),
    ip_forward.NAME: ("IpInAddrErrors",),
    no_route.NAME: ("IpExtInNoRoutes", "IpOutNoRoutes"),
    routing_loop.NAME: ("IpInHdrErrors",),
    packet_size.NAME: ("IpFragFails",),
    path_mtu.NAME: ("IpFragFails",),
    vxlan_mtu.NAME: ("IpFragFails",),
}
"""By fault, the counters of IPv4 that grow with each packet it takes.

fib_validate_source's errors in ip_rcv_finish_core (net/ipv4/ip_input.c v6.12), ip_error
(net/ipv4/route.c v6.12), ip_fragment (net/ipv4/ip_output.c v6.12), ip_forward
(net/ipv4/ip_forward.c v6.12).
"""
Counted = Sequence[tuple[str, Known[int]]]
"""Counters by their names."""
FOR, AGAINST = 3.0, 0.3
"""How much likelier a possibility is whose counter has grown, and one whose counter is 0."""


def add_counters(findings: Sequence[Finding], node: Node) -> tuple[Finding, ...]:
    """Add to causes what was counted of them, and weigh possible causes by it."""
    counted = [tuple(_counted(finding, node)) for finding in findings]
    share = _share(findings, counted)
    told = [_tell(finding, found, share) for finding, found in zip(findings, counted, strict=True)]
    possible = iter(sorted(filter(_is_possible, told), key=lambda each: -each.certainty))
    return tuple(next(possible) if _is_possible(each) else each for each in told)


def _share(findings: Sequence[Finding], counted: Sequence[Counted]) -> float:
    """Return by what weighted certainties are multiplied, so that possible causes share the same
    certainty as before.
    """
    before = after = 0.0
    for finding, found in zip(findings, counted, strict=True):
        if _is_possible(finding):
            before += finding.certainty
            after += finding.certainty * _weight(found)
    return before / (after or 1.0)


def _counted(finding: Finding, node: Node) -> Iterator[tuple[str, Known[int]]]:
    """Yield the counters of a cause that the evidence shows, of the namespace in which it ended the
    packet.
    """
    if finding.severity not in ("cause", "fault"):
        return
    netns = HOST
    if finding.shown_by is not None and finding.shown_by.traces:
        last = finding.shown_by.traces[-1]
        if last.packet.family != 4 or last.deciding.stage is StageName.NEIGHBOUR:
            # IPv6 has counters of its own, and an ARP request that is refused is not counted
            return
        netns = last.deciding.netns
    counters = node.namespaces[netns].counters if netns in node.namespaces else {}
    for name in TELLTALES.get(finding.check, ()):
        known = counters.get(name)
        if known is not None:
            yield name, known


def _tell(finding: Finding, counted: Counted, share: float) -> Finding:
    grown = [(name, known) for name, known in counted if known.value]
    against = not grown and finding.severity == Severity.CAUSE
    certainty = finding.certainty
    if _is_possible(finding):
        certainty = round(finding.certainty * _weight(counted) * share, 3)
    quoted = counted if against else grown
    spans = (known.span for _, known in quoted if known.span is not None)
    return replace(
        finding,
        reasoning=(*finding.reasoning, *_say(quoted, against=against)),
        evidence=tuple(dict.fromkeys((*finding.evidence, *spans))),
        marks=(*finding.marks, *(name for name, _ in grown)),
        certainty=certainty,
    )


def _say(counted: Counted, *, against: bool) -> Iterator[str]:
    """Say what was counted, or that nothing was."""
    if not against:
        for name, known in counted:
            yield f"The kernel counts it: {name} is {known.value}."
    elif counted:
        names = " and ".join(name for name, _ in counted)
        yield f"Counting against it: {names} {'is' if len(counted) == 1 else 'are'} 0."


def _weight(counted: Counted) -> float:
    if not counted:
        return 1.0
    return FOR if any(known.value for _, known in counted) else AGAINST


def _is_possible(finding: Finding) -> bool:
    return finding.severity == Severity.CAUSE and finding.certainty < 1

"""reset-storm: many connections are reset at once.

What it is
    A capture shows many TCP resets from one address and port within a second.

Why it breaks
    Resets in answer to SYNs mean that nothing listens there any longer while clients keep trying (a
    service that still sends to a pod that is gone, a server that restarts). Resets in answer to
    data mean that the receiver does not know the connection: it restarted, or the packets now reach
    a different machine (a service's endpoint changed under open connections, a conntrack entry with
    its NAT was lost).

How to confirm
    tcpdump -nni any 'tcp[tcpflags] & tcp-rst != 0' | cut -d' ' -f3- | sort | uniq -c | sort -n
    nstat -az TcpOutRsts TcpExtTCPAbortOnData; ss -ltn
    conntrack -L -d ADDRESS

How to fix
    Start the program that should listen, or remove the address from the service. For connections
    that lost their translation: net.netfilter.nf_conntrack_tcp_be_liberal = 1 keeps late packets
    from becoming INVALID.

References
    tcp_v4_send_reset (net/ipv4/tcp_ipv4.c); RFC 9293, 3.5.2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedFlow, Endpoint
from podpath.checks.captured import CapturedTraffic, order_of, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.APPLICATION,)
NAME = "reset-storm"
MANY = 10
"""Connections that are reset within `WITHIN`."""
WITHIN = 1.0
"""Seconds."""


class _Reset(NamedTuple):
    """One connection that was reset."""

    flow: CapturedFlow[Sighting]
    reset: Sighting


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each end that resets many connections within a second."""
    _ = case
    resets: dict[tuple[object, Endpoint], list[_Reset]] = defaultdict(list)
    for flow in traffic.flows:
        if flow.protocol == protocols.TCP and flow.resets:
            reset = flow.resets[0]
            if closes(flow, reset):
                continue
            by = (reset.packet.src, reset.packet.sport if reset.packet.src == flow.server[0] else 0)
            resets[flow.point, by].append(_Reset(flow, reset))
    told: set[Endpoint] = set()
    for (_, by), found in resets.items():
        burst = _densest(sorted(found, key=lambda one: order_of(one.reset)))
        if len(burst) >= MANY and by not in told:
            told.add(by)
            yield _report(by, found, burst)


def closes(flow: CapturedFlow[Sighting], reset: Sighting) -> bool:
    """Tell whether a reset only ends what is done: after a FIN of either side, or by a client that
    has its answer, or opened the connection to see whether it opens.
    """
    before = [seen for seen in flow.frames if order_of(seen) < order_of(reset)]
    if any(seen.packet.flags & protocols.FIN for seen in before):
        return True
    if reset.packet.src != flow.client[0] or not (flow.syns and flow.syn_acks):
        return False
    sent = [seen for seen in before if seen.packet.payload]
    return not sent or sent[-1].packet.src == flow.server[0]


def _densest(found: Sequence[_Reset]) -> Sequence[_Reset]:
    """Return the most resets that fall within one second."""
    best: Sequence[_Reset] = ()
    start = 0
    for end, one in enumerate(found):
        while (one.reset.time or 0.0) - (found[start].reset.time or 0.0) > WITHIN:
            start += 1
        if end + 1 - start > len(best):
            best = found[start : end + 1]
    return best


def _report(by: Endpoint, found: Sequence[_Reset], burst: Sequence[_Reset]) -> Finding:
    refused = sum(not one.flow.syn_acks and bool(one.flow.syns) for one in found)
    unknown = sum(not one.flow.opened for one in found)
    who = endpoint(*by) if by[1] else str(by[0])
    kinds = [f"{refused} in answer to a SYN: nothing listens"] if refused else []
    kinds += [f"{unknown} for connections whose start is not seen here"] if unknown else []
    kinds += (
        [f"{len(found) - refused - unknown} of established connections"]
        if len(found) > refused + unknown
        else []
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{who} resets {len(burst)} connections within a second, {len(found)} in all.",
        evidence=quote([one.reset for one in burst]),
        reasoning=(f"Resets: {', '.join(kinds)}.",),
        breaks=tuple(
            dict.fromkeys(f"connections to {endpoint(*one.flow.server)}" for one in found)
        )[:4],
        marks=(str(by[0]),),
    )

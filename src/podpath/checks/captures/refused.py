"""connections-refused: connections to an address and port are refused by a reset.

What it is
    A capture shows SYNs that are answered by a reset instead of a SYN-ACK. Connections to one
    address and port are counted together.

Why it breaks
    Nothing listens on that port at the address that the SYN arrives at: the program is not running,
    listens on another address or port, or a service still sends to a pod that is gone. A firewall
    may reset as well (REJECT --reject-with tcp-reset).

How to confirm
    ss -ltn                                      # on the host or in the pod that resets
    kubectl get endpointslices -o wide           # where the service sends
    iptables-save | grep tcp-reset; nft list ruleset | grep 'tcp reset'

How to fix
    Start the program, have it listen on the address that clients use, or correct the service's
    targetPort or selector.

References
    tcp_v4_send_reset (net/ipv4/tcp_ipv4.c); RFC 9293, 3.5.2
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedConnection, Endpoint
from podpath.checks.captured import CapturedTraffic, count, list_scanners, order_of, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.node.case import Case, FailureTally, Sighting

CATEGORIES = (Category.NO_LISTENER, Category.STALE_DNAT, Category.HOST_FIREWALL)
NAME = "connections-refused"


class _Tries(NamedTuple):
    """The connections to one end."""

    refused: list[CapturedConnection[Sighting]]
    opened: list[CapturedConnection[Sighting]]


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each end that refuses connections, once, with how many of how many."""
    scanners = list_scanners(traffic)
    tries: dict[Endpoint, _Tries] = defaultdict(lambda: _Tries([], []))
    for connection in traffic.connections:
        start = connection.start
        if start.protocol != protocols.TCP or not start.syns or start.client[0] in scanners:
            continue
        states = {flow.state for flow in connection.flows}
        if any(flow.syn_acks for flow in connection.flows):
            tries[start.server].opened.append(connection)
        elif "REJ" in states:
            tries[start.server].refused.append(connection)
    for server, found in sorted(tries.items(), key=lambda item: -len(item[1].refused)):
        if found.refused:
            yield _report(server, found, case.tallies.get((protocols.TCP, *server)))


def _report(server: Endpoint, tries: _Tries, tally: FailureTally | None) -> Finding:
    refused, opened = tries
    resets = [_find_reset(connection) for connection in refused]
    last = max(order_of(reset) for reset in resets)
    later = [one for one in opened if order_of(one.start.syns[0]) > last]
    clients = {connection.start.client[0] for connection in refused}
    counted = tally or FailureTally(len(refused), len(refused) + len(opened))
    failed, total = counted.failed, counted.asked
    many = f"{failed} of {total} connections" if total > 1 else "The connection"
    verb = "is" if failed == 1 else "are"
    reasons = [
        (
            f"{resets[0].packet.src} answers the SYN with a reset: nothing listens there, or a "
            "rule rejects it."
        )
    ]
    if len(clients) > 1:
        reasons.append(f"They come from {count(len(clients), 'client')}.")
    if later:
        reasons.append("Later connections are accepted.")
    return Finding(
        check=NAME,
        severity=Severity.NOTE if later else Severity.FAULT,
        claim=f"{many} to {endpoint(*server)} {verb} refused.",
        evidence=quote(resets, [one.start.syns[0] for one in refused]),
        reasoning=tuple(reasons),
        breaks=() if later else tuple(one.start.words for one in refused[:3]),
        marks=(f"{server[0]}.{server[1]}",),
    )


def _find_reset(connection: CapturedConnection[Sighting]) -> Sighting:
    resets: Sequence[Sighting] = ()
    for flow in connection.flows:
        resets = resets or [seen for seen in flow.resets if seen.packet.src == flow.server[0]]
    return resets[0] if resets else connection.start.syns[0]

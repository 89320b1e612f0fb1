"""ipvs-servers: an IPVS virtual service has no real server, or only servers with weight 0.

What it is
    `ipvsadm -Ln` shows a virtual service with nothing under it, or only with servers of weight 0.

Why it breaks
    IPVS has no server to choose. It answers the packet with ICMP port unreachable (the client reads
    "Connection refused"), or leaves it to the host (net.ipv4.vs.cache_bypass). Kube-proxy sets
    weight 0 to let connections of a terminating pod end; a service without ready endpoints has no
    servers.

How to confirm
    ipvsadm -Ln -t ADDRESS:PORT; kubectl get endpointslices -A | grep SERVICE

How to fix
    Get one of the service's pods ready; if endpoints exist and IPVS does not have them, restart
    kube-proxy on the node.

References
    ip_vs_schedule, ip_vs_leave (net/netfilter/ipvs/ip_vs_core.c); kubernetes pkg/proxy/ipvs
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.failures import FailureKind, is_failure
from podpath.net.firewall import VirtualServer
from podpath.net.packet import endpoint
from podpath.net.provenance import Span
from podpath.net.statements import RouteAnswer
from podpath.node.case import Case

CATEGORIES = (Category.IPVS, Category.NO_ENDPOINTS)
NAME = "ipvs-servers"
FEW = 3


def check(case: Case) -> Iterator[Finding]:
    """Report each virtual service without a server that takes new connections; sure for what
    somebody tried.
    """
    found = [
        (one, stated.span) for one, stated in statements_of(case, VirtualServer) if not one.weight
    ]
    tried = {
        (attempt.probe.dst, attempt.probe.dport)
        for attempt in case.attempts
        if is_failure(attempt.result)
    }
    looked_up = {answer.dst for answer, _ in statements_of(case, RouteAnswer)}
    lost = any(one.failure in {None, FailureKind.REFUSED, *LOSSES} for one in list_failing(case))
    for one, span in found:
        meant = (one.address, one.port) in tried or (lost and one.address in looked_up)
        if meant or len(found) <= FEW:
            yield _report(one, span, sure=meant)


def _report(one: VirtualServer, span: Span, *, sure: bool) -> Finding:
    name = f"{one.protocol} {endpoint(one.address, one.port)}"
    why = (
        "has no real server"
        if not one.servers
        else f"has {one.servers} real servers, all with weight 0"
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"IPVS {why} behind {name}."
        if not one.servers
        else f"The IPVS virtual service {name} {why}.",
        evidence=(span,),
        reasoning=("A new connection goes to a server with a weight above 0, and there is none.",),
        breaks=(f"new connections to {name}",),
        prevention="Alert on services whose endpoints go to zero.",
        certainty=1.0 if sure else 0.7,
        asks=()
        if sure
        else (
            FollowUp(
                fact=f"whether the failing connection is to {name}",
                command=f"ipvsadm -Ln --stats | grep -A3 {one.address}",
                decides="it is: no server is behind the address",
            ),
        ),
    )

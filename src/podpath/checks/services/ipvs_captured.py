"""ipvs-captured: a capture shows packets to a virtual service or server that IPVS does not serve.

What it is
    `ipvsadm -Ln` and a capture of the same host: connections are opened to a real server whose
    weight is 0, to an address of a virtual service at a port that has none, or to a virtual service
    that only leads to servers that never answer.

Why it breaks
    Weight 0 takes a server out for new connections, but a connection whose source port an old entry
    still has goes to the old server (net.ipv4.vs.conn_reuse_mode=0, expire_nodest_conn): to a pod
    that is terminating or gone. Packets to a port without a virtual service, which IPVS does not
    know, go to the host itself or are refused.

How to confirm
    ipvsadm -Lnc | grep ADDRESS          # the old entries
    sysctl net.ipv4.vs.conn_reuse_mode net.ipv4.vs.expire_nodest_conn

How to fix
    Use kernel 5.9 or later with conn_reuse_mode=1, or set expire_nodest_conn=1; for a missing
    service, see kube-proxy's log.

References
    ip_vs_in_hook (net/netfilter/ipvs/ip_vs_core.c); Documentation/networking/ipvs-sysctl.rst;
    kubernetes/kubernetes issue 81775
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.net.addresses import Address
from podpath.net.firewall import RealServer, VirtualServer
from podpath.net.packet import endpoint
from podpath.net.protocols import ACK, SYN, TCP
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.IPVS, Category.STALE_DNAT, Category.NO_ENDPOINTS)
NAME = "ipvs-captured"
End = tuple[Address, int]


def check(case: Case) -> Iterator[Finding]:
    """Report connections that a capture shows, and that IPVS leads to a server that takes none or
    to nobody.
    """
    opened: dict[End, list[Sighting]] = {}
    for one in case.sightings:
        if _opens(one):
            opened.setdefault((one.packet.dst, one.packet.dport), []).append(one)
    if not opened:
        return
    servers: dict[End, list[tuple[RealServer, Span]]] = {}
    for server, stated in statements_of(case, RealServer):
        servers.setdefault((server.address, server.port), []).append((server, stated.span))
    services = [(service, stated.span) for service, stated in statements_of(case, VirtualServer)]
    for end, seen in opened.items():
        real = servers.get(end, [])
        if real and all(server.weight == 0 for server, _ in real):
            yield _report_weight(real[0][0], real[0][1], seen)
        elif _is_silent(case, seen):
            yield from _check_service(end, seen, services)


def _opens(seen: Sighting) -> bool:
    return (
        seen.packet.protocol == TCP
        and bool(seen.packet.flags & SYN)
        and not seen.packet.flags & ACK
    )


def _is_silent(case: Case, opened: Sequence[Sighting]) -> bool:
    """Tell whether none of the connections is answered as the client expects it."""
    ways = {(one.packet.dst, one.packet.dport, one.packet.src, one.packet.sport) for one in opened}
    return not any(
        (one.packet.src, one.packet.sport, one.packet.dst, one.packet.dport) in ways
        for one in case.sightings
    )


def _check_service(
    end: End, seen: list[Sighting], services: list[tuple[VirtualServer, Span]]
) -> Iterator[Finding]:
    address, port = end
    near = [
        (one, span) for one, span in services if one.address == address and one.protocol == "tcp"
    ]
    meant = [(one, span) for one, span in near if one.port in (port, 0)]
    if near and not meant:
        yield _report_port(end, near, seen)
    for one, span in meant:
        if not one.weight:
            yield _report_empty(one, span, seen)


def _report_weight(one: RealServer, span: Span, seen: list[Sighting]) -> Finding:
    server, service = endpoint(one.address, one.port), endpoint(one.service, one.service_port)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Connections still go to {server}, a server of {service} whose IPVS weight is 0: "
            "IPVS schedules no new ones to it."
        ),
        evidence=(span, *list_spans(seen[:2])),
        reasoning=(
            (
                "Weight 0 keeps new connections away, but an old entry with the same source port "
                "still leads a new connection to the old server."
            ),
        ),
        breaks=(f"some of the new connections to {service}",),
        repairs=(
            Repair(
                title="stop reusing entries of servers that are gone",
                commands=(
                    "sysctl -w net.ipv4.vs.conn_reuse_mode=1",
                    "sysctl -w net.ipv4.vs.expire_nodest_conn=1",
                ),
            ),
        ),
        prevention=(
            "Run kernel 5.9 or later, which reschedules a reused port without a one-second delay."
        ),
        marks=(str(one.address),),
    )


def _report_port(end: End, near: list[tuple[VirtualServer, Span]], seen: list[Sighting]) -> Finding:
    ports = ", ".join(str(one.port) for one, _ in near)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Connections go to {endpoint(*end)}, but IPVS has virtual services of that address at "
            f"port {ports} only."
        ),
        evidence=(near[0][1], *list_spans(seen[:2])),
        reasoning=("Packets that no virtual service matches go to the host itself.",),
        breaks=(f"connections to {endpoint(*end)}",),
        prevention="Add the port to the service, or let clients use one that it has.",
        certainty=0.8,
        asks=(
            FollowUp(
                fact=f"whether a virtual service for {endpoint(*end)} exists",
                command=f"ipvsadm -Ln | grep -A3 {end[0]}",
                decides="there is none: kube-proxy has not written it, or the port is wrong",
            ),
        ),
    )


def _report_empty(one: VirtualServer, span: Span, seen: list[Sighting]) -> Finding:
    service = endpoint(one.address, one.port)
    why = "no server" if not one.servers else "only servers of weight 0"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Connections to {service} get no answer: IPVS has {why} behind it.",
        evidence=(span, *list_spans(seen[:2])),
        reasoning=("A new connection goes to a server with a weight above 0, and there is none.",),
        breaks=(f"connections to {service}",),
        prevention="Alert on services whose endpoints go to zero.",
        marks=(str(one.address),),
    )

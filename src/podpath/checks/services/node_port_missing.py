"""node-port-missing: a client connects to a node port for which the node has no rule.

What it is
    A packet for one of the node's addresses and a node port passed the node's rules untranslated,
    so it came to the node itself instead of an endpoint. Either a service in the evidence has that
    port and kube-proxy has not written its rule on this node, or no service has it.

Why it breaks
    Rules serve a node port, not a program. A connection to the node itself is refused, or accepted
    by the socket with which kube-proxy before 1.24 reserves the port, and never answered.

How to confirm
    kubectl get svc -A | grep PORT
    iptables-save -t nat | grep -- '--dport PORT'
    nft list map ip kube-proxy service-nodeports     # in kube-proxy's nftables mode
    curl -s localhost:10256/healthz                  # on the node: lastUpdated
    ss -tlnp sport = :PORT

How to fix
    Use the port that the service has. If it has this one, get kube-proxy running again on the node
    and find out what stopped it, or which addresses --nodeport-addresses allows for node ports.

References
    kubernetes pkg/proxy/iptables/proxier.go (KUBE-NODEPORTS; openLocalPort until 1.23);
    kube-proxy --nodeport-addresses
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import NODE_PORTS, see
from podpath.checks.services import no_listener
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered
from podpath.net.packet import Packet
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import NetnsRole, Node, Service, ServicePort

CATEGORIES = (Category.SERVICE_RULES_MISSING, Category.WRONG_PORT)
NAME = "node-port-missing"
"""Seen by walks alone: by one that comes to the node itself at a node port."""
POSSIBLE = 0.8
PREVENTION = "Alert on kubeproxy_sync_proxy_rules_last_timestamp_seconds of each node."
_BY_SOCKET = (
    "A socket on the node takes the connection: kube-proxy before 1.24 reserves node ports with "
    "such sockets and never answers on them."
)
_RESTART = Repair(
    title="restart kube-proxy so that it rewrites its rules",
    commands=("systemctl restart kube-proxy",),
)


def tell_node_port(case: Case, finding: Finding) -> Finding:
    """Return a finding that nobody listens as what it is where a node port was asked."""
    branch = finding.shown_by
    packet = _come_to_node(case.node, branch) if branch is not None else None
    if finding.check != no_listener.NAME or packet is None:
        return finding
    found = _find_service(case.node, packet)
    place = f"{packet.dst}:{packet.dport}"
    if found is not None:
        service, _ = found
        line = _line_of(case, service, packet)
        return replace(
            finding,
            check=NAME,
            claim=_say_unwritten(service, packet),
            evidence=(*line, *finding.evidence),
            repairs=(_RESTART,),
            marks=(str(packet.dport),),
            prevention=PREVENTION,
        )
    shown = [service for service in case.node.services if service.span is not None]
    if packet.dport not in NODE_PORTS or not shown:
        return finding
    return replace(
        finding,
        check=NAME,
        claim=(
            f"None of the {len(shown)} services shown has node port {packet.dport}, no rule on "
            f"this node matches {place}, and nothing listens there."
        ),
        prevention="Give clients the port that `kubectl get svc` shows, or pin it in the service.",
    )


def find_node_ports(case: Case, conversations: Iterable[Conversation]) -> Iterator[Finding]:
    """Yield the connections that end at a socket of the node where a service's node port is."""
    for conversation in conversations:
        for branch in conversation.branches:
            packet = _come_to_node(case.node, branch) if branch.works else None
            found = _find_service(case.node, packet) if packet is not None else None
            if packet is None or found is None:
                continue
            service, _ = found
            yield Finding(
                check=NAME,
                severity=Severity.CAUSE,
                claim=_say_unwritten(service, packet),
                evidence=(*_line_of(case, service, packet), *_list_sockets(case.node, packet)),
                reasoning=(_BY_SOCKET,),
                repairs=(_RESTART,),
                certainty=POSSIBLE,
                shown_by=branch,
                marks=(str(packet.dport),),
                prevention=PREVENTION,
                asks=(
                    FollowUp(
                        fact=f"which program listens on port {packet.dport}",
                        command=f"ss -tulnp | grep -w {packet.dport}",
                        decides=(
                            "kube-proxy's: its rules are missing; another program's: it answers "
                            "instead of the service"
                        ),
                    ),
                ),
            )
            break


def _say_unwritten(service: Service, packet: Packet) -> str:
    return (
        f"Port {packet.dport} is the node port of {service.namespace}/{service.name}, but no rule "
        f"on this node matches packets to {packet.dst}:{packet.dport}: they go to the node itself."
    )


def _line_of(case: Case, service: Service, packet: Packet) -> tuple[Span, ...]:
    """Return the line that gives a service its node port, else the service's own."""
    for one in see(case, "Service"):
        if (one.namespace, one.name) == (service.namespace, service.name):
            for port in one.items_at("spec", "ports"):
                outer = port.at("nodePort")
                if outer is not None and outer.text == str(packet.dport):
                    return (outer.line,)
    return (service.span,) if service.span is not None else ()


def _list_sockets(node: Node, packet: Packet) -> Iterator[Span]:
    """Yield the lines of the sockets that listen on a packet's port."""
    for socket in node.host.sockets.items:
        if (socket.protocol, socket.port) == (packet.protocol, packet.dport) and socket.span:
            yield socket.span


def _come_to_node(node: Node, branch: Branch) -> Packet | None:
    """Return the first packet of a connection where it came, untranslated, to the node at hand."""
    first = branch.traces[0] if branch.traces else None
    outcome = first.outcome if first is not None else None
    if first is None or not isinstance(outcome, Delivered):
        return None
    netns = node.namespaces.get(outcome.netns)
    if netns is None or netns.node or netns.role != NetnsRole.HOST:
        return None
    packet, came = first.packet, outcome.packet
    same = (packet.dst, packet.dport) == (came.dst, came.dport)
    return came if same and netns.holds(came.dst) else None


def _find_service(node: Node, packet: Packet) -> tuple[Service, ServicePort] | None:
    """Return the service that has a packet's port for its node port."""
    for service in node.services:
        for port in service.ports:
            if (port.node_port, port.protocol) == (packet.dport, packet.protocol):
                return service, port
    return None

"""node-port-confused: a client uses the wrong one of a service's ports.

What it is
    A NodePort service has three ports: `port` on its cluster IP, `targetPort` on the pods,
    `nodePort` on the nodes. Here a client used one of the first two on a node, or the nodePort on
    the cluster IP.

Why it breaks
    Nothing listens on that port of that address, so the connection is refused or times out, while
    the right one works.

How to confirm
    kubectl get service NAME: PORT(S) reads port:nodePort

How to fix
    Use NODE:nodePort from outside, SERVICE:port from inside the cluster.

References
    the documentation's page "Service", section NodePort
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.node_ranges import list_addresses
from podpath.checks.objects import FailedConnection, ObjectSightings, failures, see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.WRONG_PORT,)
NAME = "node-port-confused"


def check(case: Case) -> Iterator[Finding]:
    """Report tries at a node's address with the service's port, and at the service's address with
    the node's.
    """
    hosts = list_addresses(see(case, "Node"))
    hosts |= {str(item.address) for item in case.node.host.addresses.items}
    services = see(case, "Service")
    open_ports: set[str] = set()
    for service in services:
        open_ports.update(port.text_at("nodePort") for port in service.items_at("spec", "ports"))
    failed = tuple(failures(case))
    for service in services:
        own = service.text_at("spec", "clusterIP")
        for port in service.items_at("spec", "ports"):
            outer, inner = port.at("nodePort"), port.text_at("port")
            if outer is None or not outer.text:
                continue
            inside = {inner, port.text_at("targetPort")} - open_ports
            for failure in failed:
                asked = str(failure.dport)
                at_node = str(failure.dst) in hosts and asked in inside
                at_service = str(failure.dst) == own and asked == outer.text and asked != inner
                if at_node or at_service:
                    yield _report(service, outer, failure, outer.text if at_node else inner)


def _report(
    service: ObjectSightings, outer: Tree, failure: FailedConnection, right: str
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"A client connects to {failure.dst} on port {failure.dport}, but there the service "
            f"{service.title} has port {right}."
        ),
        evidence=(failure.span, outer.line),
        reasoning=("A node serves the nodePort, the cluster IP the port.",),
        breaks=("clients that use the wrong port",),
        prevention="Give clients the address and its port from one place.",
        certainty=0.7,
        marks=(str(failure.dport), right),
    )

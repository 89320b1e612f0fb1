"""local-traffic-policy: a service accepts traffic only on nodes that run one of its pods.

What it is
    externalTrafficPolicy: Local keeps the client's address and sends traffic that reaches a node
    only to pods on that node; internalTrafficPolicy: Local does so for clients within the cluster.

Why it breaks
    A node without such a pod drops packets for the service. A load balancer whose health check does
    not follow the healthCheckNodePort, or somebody who tries a NodePort by hand, reaches exactly
    these nodes: it works on one node and times out on the others.

How to confirm
    kubectl get service NAME -o yaml | grep -i trafficPolicy; kubectl get pods -o wide
    curl http://NODE:HEALTHCHECKNODEPORT/healthz

How to fix
    Use Cluster, run a pod on every node that receives traffic (a DaemonSet), or let the balancer
    check the healthCheckNodePort.

References
    the documentation's page "Virtual IPs and Service Proxies", section on traffic policies
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import (
    FailedConnection,
    ObjectSightings,
    PodView,
    chosen,
    failures,
    is_of_namespace,
    names_of_service,
    pods,
    see,
)
from podpath.checks.told import list_lost
from podpath.net.complaints import Circumstance, Complaint
from podpath.net.provenance import list_spans
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.TRAFFIC_POLICY_LOCAL,)
NAME = "local-traffic-policy"
POLICIES = ("externalTrafficPolicy", "internalTrafficPolicy")


def check(case: Case) -> Iterator[Finding]:
    """Report Local services whose pods are not on every node that is shown."""
    nodes = see(case, "Node")
    for service in see(case, "Service"):
        for name in POLICIES:
            policy = service.at("spec", name)
            if policy is None or policy.text != "Local":
                continue
            own = chosen(case, service) or _list_by_name(case, service)
            found = [pod for pod in own if pod.seen.text_at("spec", "nodeName")]
            having = {pod.seen.text_at("spec", "nodeName") for pod in found}
            lacking = [node for node in nodes if node.name not in having] if found else []
            apart = name == POLICIES[0] and (bool(lacking) or not nodes)
            told = list(_list_partly(case, service, policy, own)) if apart else []
            if told or lacking or not _is_of_source(case):
                yield _report(case, service, policy, found, lacking, told)


def _is_of_source(case: Case) -> bool:
    """Tell whether people complain of the source that requests have, and of nothing that gets no
    answer: the policy is what keeps it.
    """
    lost = list_lost(case)
    changed = any(Technology.SOURCE_LOST in one.mentions for one in lost)
    return changed and not any(one.failure for one in lost)


def _list_by_name(case: Case, service: ObjectSightings) -> tuple[PodView, ...]:
    """Return the pods that are named after a service whose selector is not shown."""
    if service.at("spec", "selector") is not None or not service.name:
        return ()
    return tuple(
        pod
        for pod in pods(case)
        if pod.seen.kind == "Pod" and pod.seen.name.startswith(f"{service.name}-")
    )


def _list_told(
    case: Case, service: ObjectSightings, addresses: Collection[str]
) -> Iterator[Complaint]:
    """Yield the sentences by which a NodePort of the service gets no answer at one of some nodes'
    addresses.
    """
    for one in _list_of_port(case, service):
        if {str(address) for address in one.addresses} & set(addresses):
            yield one


def _list_of_port(case: Case, service: ObjectSightings) -> Iterator[Complaint]:
    """Yield the sentences by which a NodePort of the service gets no answer."""
    found = {service.text_at("spec", "nodePort")}
    found |= {port.text_at("nodePort") for port in service.items_at("spec", "ports")}
    return (one for one in list_lost(case) if found & set(map(str, one.ports)))


def _list_partly(
    case: Case, service: ObjectSightings, policy: Tree, own: Sequence[PodView]
) -> Iterator[Complaint]:
    """Yield the sentences by which only some nodes answer a NodePort of the service, where all of
    its pods are listed, and each has a node.
    """
    whole = own and all(
        pod.seen.text_at("spec", "nodeName") and is_of_namespace(pod.seen.span, selected=True)
        for pod in own
    )
    if whole and "|" not in (policy.span.source.command or ""):
        for one in _list_of_port(case, service):
            if Circumstance.SOME_NODES in one.circumstances:
                yield one


def _report(
    case: Case,
    service: ObjectSightings,
    policy: Tree,
    found: list[PodView],
    lacking: list[ObjectSightings],
    told: Sequence[Complaint],
) -> Finding:
    ports = {
        port.text_at(field)
        for port in service.items_at("spec", "ports")
        for field in ("nodePort", "port")
    }
    addresses = {
        item.text_at("address") for node in lacking for item in node.items_at("status", "addresses")
    }
    tried: list[FailedConnection | Complaint] = [
        failure
        for failure in failures(case)
        if str(failure.dport) in ports and str(failure.dst) in addresses
    ]
    tried += (*_list_told(case, service, addresses), *told)
    certainty = 0.6 if lacking else 0.3
    where = f"; {', '.join(node.name for node in lacking[:3])} has none of them" if lacking else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT if tried else Severity.CAUSE,
        claim=(
            f"The service {service.title} has traffic policy Local: only nodes that run one of "
            f"its pods accept its traffic{where}."
        ),
        evidence=(
            policy.line,
            *list_spans(tried[:2]),
            *(pod.seen.span for pod in found[:2]),
        ),
        reasoning=("A node without a pod of the service drops traffic to it.",),
        breaks=("connections to the service through a node without one of its pods",),
        prevention="Let load balancers check the healthCheckNodePort.",
        certainty=1.0 if tried else certainty,
        marks=("Local",),
        about=frozenset() if tried else names_of_service(service),
    )

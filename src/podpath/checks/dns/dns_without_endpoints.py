"""dns-without-endpoints: the cluster's DNS service has no ready endpoint.

What it is
    Pods resolve names through one service's address (kube-dns in kube-system, whatever serves it).
    Its pods are not ready, were scaled to zero, or have labels that the service does not select.

Why it breaks
    No pod can resolve names, so connections to services fail even though every path works:
    "Temporary failure in name resolution", "no such host", "bad address".

How to confirm
    kubectl -n kube-system get endpoints kube-dns
    kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide; kubectl -n kube-system describe pod

How to fix
    Bring its pods back: find out why they are not ready (a forwarding loop, no node that accepts
    them, an image), or scale the Deployment up again.

References
    kubernetes.io "Debugging DNS Resolution"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.endpoints import PortBackends, backends_of
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "dns-without-endpoints"
_SPACE, _LABEL = "kube-system", "kube-dns"
_NAMES = frozenset({"kube-dns", "coredns", "rke2-coredns-rke2-coredns"})
_PORT = "53"


def check(case: Case) -> Iterator[Finding]:
    """Report the DNS service of which the whole list of endpoints is shown, and none is ready."""
    for service in see(case, "Service"):
        if not is_cluster_dns(service):
            continue
        ports = [one for one in backends_of(case, service) if one.port.text_at("port") == _PORT]
        if ports and all(one.whole and not one.ready for one in ports):
            yield _report(service, ports[0])


def is_cluster_dns(service: ObjectSightings) -> bool:
    """Tell whether a service is the one that pods ask for names."""
    named = service.name in _NAMES
    labeled = service.text_at("metadata", "labels", "k8s-app") == _LABEL
    asked = any(port.text_at("port") == _PORT for port in service.items_at("spec", "ports"))
    headless = service.text_at("spec", "clusterIP") in {"", "None"}
    return service.namespace == _SPACE and asked and (named or labeled) and not headless


def _report(service: ObjectSightings, port: PortBackends) -> Finding:
    address = service.text_at("spec", "clusterIP")
    unready = [one for one in port.backends.values() if not one.ready]
    clause = f" ({len(unready)} not ready)" if unready else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The cluster's DNS service {service.title} has no ready endpoint{clause}.",
        evidence=(unready[0].span if unready else _line(port), service.span),
        reasoning=(
            (
                f"Pods ask {address} for names; a connection by name fails before any of its "
                "packets is sent."
            ),
        ),
        breaks=("every name that pods look up",),
        repairs=(
            Repair(
                title=f"bring the pods of {service.title} back: find out why they are not ready, "
                "or scale them up",
                commands=(),
            ),
        ),
        prevention="Alert on the DNS service's endpoints, and run more than one of its pods.",
        marks=(address,),
    )


def _line(port: PortBackends) -> Span:
    tree = port.sources[0].at("subsets") or port.sources[0].at("metadata", "name")
    return tree.line if tree is not None else port.sources[0].span

"""dns-without-endpoints: the cluster's DNS service has no endpoint that is ready.

What it is
    Pods ask the address of one service for names (kube-dns in kube-system, whoever serves it). Its
    pods are not ready, were scaled to none, or have other labels than the service selects.

Why it breaks
    Names do not resolve in any pod, so connections to services fail though every path is in order:
    "Temporary failure in name resolution", "no such host", "bad address".

How to confirm
    kubectl -n kube-system get endpoints kube-dns
    kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide; kubectl -n kube-system describe pod

How to fix
    Bring its pods back: see why they are not ready (a loop of forwards, no node that takes them,
    an image), or scale the Deployment up again.

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
        claim=f"The cluster's DNS service {service.title} has no endpoint that is ready{clause}.",
        evidence=(unready[0].span if unready else _line(port), service.span),
        reasoning=(
            (
                f"Pods ask {address} for names; a connection that begins with a name fails before "
                "a packet of it is sent."
            ),
        ),
        breaks=("every name that pods look up",),
        repairs=(
            Repair(
                title=f"bring the pods of {service.title} back: see why they are not ready, or "
                "scale them up",
                commands=(),
            ),
        ),
        prevention="Alert on the endpoints of the DNS service, and run more than one of its pods.",
        marks=(address,),
    )


def _line(port: PortBackends) -> Span:
    tree = port.sources[0].at("subsets") or port.sources[0].at("metadata", "name")
    return tree.line if tree is not None else port.sources[0].span

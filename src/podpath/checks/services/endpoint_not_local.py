"""endpoint-not-local: kube-proxy treats no endpoint as local, although a pod of the service runs on
this node.

What it is
    A node's rules contain `has no local endpoints` for a service with traffic policy Local,
    although a ready pod of that service runs there, as an object or the ticket says.

Why it breaks
    Kube-proxy treats an endpoint as local if its node name is kube-proxy's own. If kube-proxy runs
    under another name (a host name with or without its domain, a cloud's private name), no endpoint
    is local anywhere, and every node drops traffic to such services.

How to confirm
    kubectl get nodes; ps -ef | grep -o 'kube-proxy.*hostname-override[= ][^ ]*'; hostname
    kubectl get endpointslices -o yaml | grep nodeName

How to fix
    Run kube-proxy with --hostname-override (hostnameOverride in its configuration) set to the
    node's name in the API.

References
    kubernetes pkg/proxy/topology.go; kube-proxy(8), --hostname-override
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.services.no_local_endpoints import list_refusing
from podpath.checks.told import find_told, list_failing
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.KUBE_PROXY, Category.TRAFFIC_POLICY_LOCAL)
NAME = "endpoint-not-local"


def check(case: Case) -> Iterator[Finding]:
    """Report such rules of a service whose pod is said to run on this node."""
    here = find_told(case, Circumstance.RUNS_HERE)
    if here is None or not any(True for _ in list_failing(case)):
        return
    refusing = list(list_refusing(case))
    named = any(one.names or one.addresses for one in list_failing(case))
    alone = len({service for _, service in refusing}) == 1 and not named
    for rule, service in refusing[:1]:
        yield _report(rule.span, service, here, about=frozenset() if alone else _names(service))


def _report(rule: Span, service: str, here: Span, about: frozenset[str]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Kube-proxy finds no local endpoint of {service or 'a service'} on this node, "
            "although one of its pods runs here: kube-proxy's name for the node differs from the "
            "node's own."
        ),
        evidence=(rule, here),
        reasoning=("An endpoint is local if its node name equals kube-proxy's own.",),
        breaks=(f"connections to {service or 'the service'} from outside, through any node",),
        prevention="Set kube-proxy's --hostname-override to the node's name in the API.",
        marks=("has no local endpoints",),
        about=about,
    )


def _names(service: str) -> frozenset[str]:
    """Return the name that people have for `NAMESPACE/NAME:PORT`."""
    name = service.rpartition("/")[2].partition(":")[0].casefold()
    return frozenset({name} if name else ())

"""no-endpoints: a service has no endpoints.

What it is
    No ready pod matches the service's selector, so nothing is behind its address.

Why it breaks
    Kube-proxy writes a REJECT rule for the service's address ("has no endpoints"): clients get
    "connection refused" immediately. With other proxies, or before the rule is written, the packets
    leave by the default route and time out.

How to confirm
    kubectl get endpointslices -n NAMESPACE -l kubernetes.io/service-name=SERVICE
    kubectl get pods -n NAMESPACE -l SELECTOR          # are there any, and are they ready?

How to fix
    Make the selector match the pods' labels, and find out why pods are not ready (kubectl describe
    pod: readiness probe).

References
    kubernetes pkg/proxy/iptables/proxier.go; the documentation's page "Debug Services"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import DNS_PORT, ObjectSightings, names_of_service, see
from podpath.net.failures import is_failure
from podpath.net.provenance import list_spans
from podpath.node.case import Case
from podpath.node.node import Service, ServicePort

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "no-endpoints"


def check(case: Case) -> Iterator[Finding]:
    """Report each port of a described service that is known to have no endpoint, and services whose
    Endpoints list none.
    """
    for service in case.node.services:
        for port in service.ports:
            if (
                service.addresses
                and service.span is not None
                and port.complete
                and not port.endpoints
            ):
                yield _report(case, service, port)
    services = {(one.namespace, one.name): one for one in see(case, "Service")}
    for found in see(case, "Endpoints"):
        owner = services.get((found.namespace, found.name))
        if (
            owner is not None
            and owner.items_at("spec", "ports")
            and _selects(owner)
            and _is_empty(found)
        ):
            yield _report_object(owner, found)


def _selects(service: ObjectSightings) -> bool:
    """Tell whether a selector is to find the endpoints: without one somebody writes them by
    hand.
    """
    selector = service.at("spec", "selector")
    return selector is not None and bool(selector.fields)


def _is_empty(endpoints: ObjectSightings) -> bool:
    """Tell whether an Endpoints object is shown whole and has no address that is ready."""
    whole = endpoints.name and not any(sight.partial for sight in endpoints.sights)
    return bool(whole) and not any(
        subset.items_at("addresses") for subset in endpoints.items_at("subsets")
    )


def _report_object(service: ObjectSightings, endpoints: ObjectSightings) -> Finding:
    unready = [
        item
        for subset in endpoints.items_at("subsets")
        for item in subset.items_at("notReadyAddresses")
    ]
    subsets = endpoints.at("subsets")
    line = endpoints.span if subsets is None else subsets.line
    if unready:
        line = unready[0].line
    clause = f": {len(unready)} are not ready" if unready else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The service {service.title} has no endpoints{clause}.",
        evidence=(line, service.span),
        reasoning=(
            (
                "No ready pod matches its selector, so there is nothing that its address could be "
                "rewritten to."
            ),
        ),
        breaks=(f"every connection to {service.text_at('spec', 'clusterIP') or service.title}",),
        prevention="Alert on services whose endpoints go to zero.",
        marks=("subsets",),
        about=names_of_service(service),
    )


def _report(case: Case, service: Service, port: ServicePort) -> Finding:
    tried = [
        attempt
        for attempt in case.attempts
        if attempt.probe.dst in service.addresses and is_failure(attempt.result)
    ]
    name = f"{service.namespace}/{service.name}" if service.namespace else service.name
    return Finding(
        check=NAME,
        severity=Severity.CAUSE if tried else Severity.FAULT,
        claim=f"The service {name} has no endpoints for port {port.port}.",
        evidence=(
            *((service.span,) if service.span is not None else ()),
            *list_spans(tried[:2]),
        ),
        reasoning=(
            (
                "No ready pod matches its selector, so there is nothing that its address could be "
                "rewritten to."
            ),
        ),
        breaks=(f"every connection to {', '.join(map(str, service.addresses))} port {port.port}",),
        prevention="Alert on services whose endpoints go to zero.",
        marks=("Endpoints", "<none>"),
        about=_names(service),
    )


def _names(service: Service) -> frozenset[str]:
    """Return the name and the addresses of a service that `kubectl describe` shows; nothing for
    one that answers for names.
    """
    if any(port.port == int(DNS_PORT) for port in service.ports):
        return frozenset()
    return frozenset({service.name.casefold(), *map(str, service.addresses)})

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
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import DNS_PORT, ObjectSightings, names_of_service, see
from podpath.checks.told import list_failing
from podpath.net.failures import is_failure
from podpath.net.provenance import list_spans
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.node import Service, ServicePort

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "no-endpoints"
SERVICE_LABEL = "kubernetes.io/service-name"
_LOCK = "control-plane.alpha.kubernetes.io/leader"
"""The annotation of Endpoints that are a lock of a leader's election, and belong to no service."""
_LOCKS = frozenset({"kube-scheduler", "kube-controller-manager"})
"""What of them a table shows, which has no annotations."""
_UNCLAIMED = 0.6
"""The certainty for what is listed without a service that people say fails."""
_WHY = (
    "No ready pod matches its selector, so there is nothing that its address could be rewritten to."
)
_PREVENTION = "Alert on services whose endpoints go to zero."
_ASK = FollowUp(
    "whether the service has any endpoint",
    f"kubectl get endpointslices -A -l {SERVICE_LABEL}=SERVICE -o wide",
    "none, or none that is ready: nothing is behind its address",
)
_OWN_NAMES = frozenset({"kubernetes", "kube-dns", "coredns"})
"""Services on which all others rest: each may break whatever people say fails."""


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
        elif owner is None and _is_empty(found) and not _is_lock(found):
            yield from _report_alone(case, found, found.name, sure=found.at("subsets") is not None)
    for name, slices in _group_slices(case):
        if all(map(_is_empty_slice, slices)):
            asked = SERVICE_LABEL in (slices[0].span.source.command or "")
            yield from _report_alone(case, slices[0], name, sure=asked)


def _is_lock(found: ObjectSightings) -> bool:
    return found.name in _LOCKS or found.at("metadata", "annotations", _LOCK) is not None


def _group_slices(case: Case) -> Iterator[tuple[str, list[ObjectSightings]]]:
    """Yield the slices of each service that no Endpoints show."""
    grouped: dict[tuple[str, str], list[ObjectSightings]] = {}
    for found in see(case, "EndpointSlice"):
        labels = found.at("metadata", "labels")
        name = "" if labels is None else labels.text_at(SERVICE_LABEL)
        if name:
            grouped.setdefault((found.namespace, name), []).append(found)
    shown = {(one.namespace, one.name) for one in see(case, "Endpoints")}
    return (
        (name, slices) for (space, name), slices in grouped.items() if (space, name) not in shown
    )


def _is_empty_slice(found: ObjectSightings) -> bool:
    """Tell whether a slice is shown whole and holds no address that is ready."""
    held = found.at("endpoints")
    if held is None or any(sight.partial for sight in found.sights):
        return False
    return held.is_empty or (bool(held.items) and all(_is_unready(one) for one in held.items))


def _is_unready(endpoint: Tree) -> bool:
    return endpoint.text_at("conditions", "ready") == "false" or (
        endpoint.at("addresses") is not None and endpoint.items_at("addresses") == ()
    )


def _report_alone(
    case: Case, found: ObjectSightings, name: str, *, sure: bool
) -> Iterator[Finding]:
    """Report endpoints that are shown without their service, where that is what people say fails,
    or what somebody asked for.
    """
    failing = list(list_failing(case))
    told = {word for one in failing for word in (*one.spoken, *one.words, *one.names)}
    named = name.casefold() in {word.partition(".")[0].casefold() for word in told}
    alone = len(see(case, "Endpoints", "EndpointSlice")) == 1
    if not named and not alone:
        return
    held = found.at("subsets") or found.at("endpoints")
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The service {name} has no endpoints.",
        evidence=(found.span if held is None else held.line,),
        reasoning=(_WHY,),
        breaks=(f"every connection to the service {name}",),
        prevention=_PREVENTION,
        certainty=1.0 if sure else _UNCLAIMED,
        asks=() if sure else (_ASK,),
        about=frozenset() if name in _OWN_NAMES else frozenset({name.casefold()}),
    )


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
        reasoning=(_WHY,),
        breaks=(f"every connection to {service.text_at('spec', 'clusterIP') or service.title}",),
        prevention=_PREVENTION,
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
        reasoning=(_WHY,),
        breaks=(f"every connection to {', '.join(map(str, service.addresses))} port {port.port}",),
        prevention=_PREVENTION,
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

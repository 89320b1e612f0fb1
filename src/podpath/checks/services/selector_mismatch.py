"""selector-mismatch: no pod has the labels that a service selects.

What it is
    A service chooses its pods by labels. The pods in its namespace that the evidence shows have
    different ones: a typo, a label that was renamed only in the Deployment, a selector that a
    chart writes differently.

Why it breaks
    The service has no endpoints, so its address leads nowhere: connections to it are refused, or
    time out.

How to confirm
    kubectl get service NAME -o wide; kubectl get pods --show-labels
    kubectl get endpointslices -l kubernetes.io/service-name=NAME

How to fix
    Put the pods' labels into the service's selector, or the selector's labels into the pod
    template.

References
    the documentation's page "Debug Services"; kubernetes pkg/controller/endpointslice
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import (
    ObjectSightings,
    PodView,
    chosen,
    endpoints,
    is_near,
    is_without_endpoints,
    names_of_service,
    pods,
    see,
)
from podpath.node.case import Case

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "selector-mismatch"


def check(case: Case) -> Iterator[Finding]:
    """Report each service whose selector none of the pods of its namespace has, though one of them
    nearly does.
    """
    for service in see(case, "Service"):
        selector = service.at("spec", "selector")
        wanted = {} if selector is None else selector.texts
        if selector is None or not wanted or chosen(case, service):
            continue
        labeled = [
            pod
            for pod in pods(case)
            if pod.labels is not None and is_near(pod.seen.namespace, service.namespace)
        ]
        near = [pod for pod in labeled if _is_akin(service, wanted, pod)]
        if near:
            yield _report(case, service, wanted, near[0])


def _is_akin(service: ObjectSightings, wanted: Mapping[str, str], pod: PodView) -> bool:
    """Tell whether a pod is meant: it has one of the labels, a label of the same name, or the
    service's name in its own.
    """
    labels = pod.labels or {}
    return bool(labels.keys() & wanted.keys()) or (
        bool(service.name) and pod.seen.name.startswith(service.name)
    )


def _report(
    case: Case, service: ObjectSightings, wanted: Mapping[str, str], pod: PodView
) -> Finding:
    labels = pod.labels or {}
    name = next(name for name in wanted if labels.get(name) != wanted[name])
    found = endpoints(service, case)
    empty = is_without_endpoints(found)
    selector = service.at("spec", "selector", name) or service.at("spec", "selector")
    shown = (
        pod.metadata.at("labels", name) or pod.metadata.at("labels")
        if pod.metadata is not None
        else None
    )
    has = f"{name}={labels[name]}" if name in labels else f"no label {name}"
    spans = [tree.line for tree in (selector, shown) if tree is not None]
    if found is not None and empty:
        spans.append(found.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT if empty else Severity.CAUSE,
        claim=(
            f"The service {service.title} selects {name}={wanted[name]}, but {pod.seen.kind} "
            f"{pod.seen.name} has {has}."
        ),
        evidence=tuple(spans),
        reasoning=(
            (
                "None of the pods shown has all labels of the selector, so the service has no "
                "endpoints."
            ),
        ),
        breaks=(f"every connection to the service {service.title}",),
        prevention="Render a service's selector and its pods' labels from one template.",
        certainty=1.0 if empty else 0.6,
        marks=(wanted[name],),
        about=names_of_service(service),
    )

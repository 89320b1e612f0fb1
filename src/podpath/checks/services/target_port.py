"""target-port: a service points to a port that its pods do not have.

What it is
    A service's targetPort is the port of the container. Here it names a port that no container of
    the chosen pods has, or a number that none of them declares or on which nothing listens.

Why it breaks
    An unknown name keeps the pod out of the endpoints. A wrong number is worse: the endpoints look
    right, and the pod itself refuses each connection, since no process listens on that port.

How to confirm
    kubectl get service NAME -o jsonpath='{.spec.ports}'; kubectl exec POD -- ss -ltn
    kubectl get pods -o jsonpath='{.items[*].spec.containers[*].ports}'

How to fix
    Set targetPort to the port that the process listens on; `port` is the one that clients use and
    may differ.

References
    kubernetes api/core/v1 ServicePort; the documentation's page "Debug Services"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import (
    ObjectSightings,
    PodView,
    chosen,
    failures,
    names_of_service,
    see,
)
from podpath.checks.told import list_failing
from podpath.net import protocols
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.provenance import list_spans
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.node import Socket

CATEGORIES = (Category.WRONG_PORT, Category.NO_ENDPOINTS)
NAME = "target-port"


def check(case: Case) -> Iterator[Finding]:
    """Report each target that the chosen pods declare nothing like."""
    refused = {failure.dport for failure in failures(case) if failure.result == "refused"}
    yield from _list_unheard(case)
    for service in see(case, "Service"):
        chosen_pods = [pod for pod in chosen(case, service) if pod.ports]
        for port in _ports(service):
            target = port.at("targetPort") or port.at("port")
            if target is not None and chosen_pods and not _is_declared(target.text, chosen_pods):
                tried = bool(refused & {_number(target.text), _number(port.text_at("port"))})
                tried = tried or _find_refused(case, service) is not None
                yield _report(service, target, chosen_pods[0], tried=tried)


def _list_unheard(case: Case) -> Iterator[Finding]:
    """Report each service that people say refuses and whose target no socket of its pod takes."""
    for service in see(case, "Service"):
        told = _find_refused(case, service)
        listening = _list_listeners(case, service)
        if told is None or not listening:
            continue
        for port in _ports(service):
            target = port.at("targetPort")
            number = _number(target.text) if target is not None else 0
            if target is not None and number and number not in {one.port for one in listening}:
                yield _report_unheard(service, target, listening, told)


def _find_refused(case: Case, service: ObjectSightings) -> Complaint | None:
    """Return the sentence that says that a service refuses, by its name."""
    refused = (one for one in list_failing(case) if one.failure is FailureKind.REFUSED)
    return next((one for one in refused if service.name.casefold() in one.spoken), None)


def _list_listeners(case: Case, service: ObjectSightings) -> list[Socket]:
    """Return the sockets that listen in the one pod of a service whose sockets are all shown."""
    own = [
        netns
        for netns in case.node.namespaces.values()
        if netns.name.rpartition("/")[2].startswith(f"{service.name}-") and service.name
        if netns.shows_sockets(protocols.TCP)
    ]
    return [one for netns in own for one in netns.sockets.items if one.state == "LISTEN"]


def _report_unheard(
    service: ObjectSightings, target: Tree, listening: list[Socket], told: Complaint
) -> Finding:
    heard = dict.fromkeys(one.port for one in listening)
    ports = ", ".join(map(str, heard))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The service {service.title} leads to port {target.text}, but its pod listens only "
            f"on {ports}."
        ),
        evidence=(target.line, *list_spans(listening[:2]), told.span),
        reasoning=("The pod's kernel refuses connections to a port that nothing listens on.",),
        breaks=(f"connections to the service {service.title}",),
        prevention="Name the container's port and use the name as targetPort.",
        marks=(target.text,),
        about=names_of_service(service),
    )


def _ports(service: ObjectSightings) -> tuple[Tree, ...]:
    """Return the ports of the sight that tells their targets."""
    for sight in service.sights:
        ports = sight.tree.items_at("spec", "ports")
        if any(port.at("targetPort") is not None for port in ports):
            return ports
    whole = (sight.tree for sight in service.sights if sight.tree.at("kind") is not None)
    first = next(whole, None)
    return first.items_at("spec", "ports") if first is not None else ()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _is_declared(target: str, chosen_pods: list[PodView]) -> bool:
    """Tell whether a pod has the port, by its number or name; a description does not tell names."""
    ports = [port for pod in chosen_pods for port in pod.ports]
    if not _number(target) and not any(port.at("name") is not None for port in ports):
        return any(
            sight.tree.at("kind") is None for pod in chosen_pods for sight in pod.seen.sights
        )
    return any(target in {port.text_at("containerPort"), port.text_at("name")} for port in ports)


def _report(service: ObjectSightings, target: Tree, pod: PodView, *, tried: bool) -> Finding:
    named = not _number(target.text)
    declared = ", ".join(
        port.text_at("name") if named else port.text_at("containerPort") for port in pod.ports
    )
    sure = named or tried
    first = pod.ports[0]
    shown = first.at("name") if named else first.at("containerPort")
    who = f"{pod.seen.kind} {pod.seen.name}" if pod.seen.name else "its pod"
    has = f"only {declared}" if declared.strip(", ") else "none of that name"
    return Finding(
        check=NAME,
        severity=Severity.FAULT if sure else Severity.CAUSE,
        claim=(
            f"The service {service.title} leads to port {target.text}, but {who} declares {has}."
        ),
        evidence=(target.line, (shown or first).line),
        reasoning=(
            "A targetPort name that no container has keeps the pod out of the endpoints."
            if named
            else (
                "Declared ports are informational only; what the process listens on decides: "
                "kubectl exec POD -- ss -ltn."
            ),
        ),
        breaks=(f"connections to the service {service.title}",),
        prevention="Name the container's port and use the name as targetPort.",
        certainty=1.0 if sure else 0.6,
        marks=(target.text,),
        about=names_of_service(service),
    )

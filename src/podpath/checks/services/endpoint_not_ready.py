"""endpoint-not-ready: none of a service's pods is ready.

What it is
    Pods that the service selects exist, but the API lists none of them as ready. The pod's status
    says why: a container that is waiting or crashes (CrashLoopBackOff, ImagePullBackOff), a
    readiness probe that fails, no node that accepts the pod, a pod that is being deleted.

Why it breaks
    Only ready pods become endpoints. Without any, kube-proxy rejects connections to the service
    ("has no endpoints") on every node.

How to confirm
    kubectl describe pod POD                        # Conditions, State, Last State, Events
    kubectl logs POD --previous
    kubectl get endpoints SERVICE

How to fix
    Fix what the pod's status names. If its readiness probe fails although the program answers,
    check whether the kubelet's path to the pod is blocked: `podpath why node/NODE pod/POD`.

References
    the documentation's pages "Pod Lifecycle" and "Debug Services"; kubernetes pkg/api/v1/pod
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.endpoints import PortBackends, backends_of
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, chosen, names_of_service, see
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "endpoint-not-ready"
_PROBE_WAYS = ("httpGet", "tcpSocket", "grpc", "exec")


class NotReady(NamedTuple):
    """Why a pod is not ready, as its status says it."""

    why: str
    spans: tuple[Span, ...]


def check(case: Case) -> Iterator[Finding]:
    """Report each service whose pods are all not ready, with the reason that the first one has."""
    for service in see(case, "Service"):
        ports = list(backends_of(case, service))
        if not ports or any(one.ready for one in ports) or not any(one.whole for one in ports):
            continue
        for pod in chosen(case, service):
            found = explain_pod(pod.seen) if pod.seen.kind == "Pod" else None
            if found is not None:
                yield _report(service, ports[0], pod.seen, found)
                break


def explain_pod(pod: ObjectSightings) -> NotReady | None:
    """Say why a pod is not ready; None where it is, or where its status does not say."""
    deleted = pod.at("metadata", "deletionTimestamp")
    if deleted is not None:
        return NotReady("it is being deleted", (deleted.line,))
    conditions = {item.text_at("type"): item for item in pod.items_at("status", "conditions")}
    ready = conditions.get("Ready")
    if ready is not None and ready.text_at("status") == "True":
        return None
    scheduled = conditions.get("PodScheduled")
    if scheduled is not None and scheduled.text_at("status") == "False":
        return NotReady(_words(scheduled, "no node accepts it"), (_line(scheduled, "reason"),))
    for status in pod.items_at("status", "containerStatuses"):
        if status.text_at("ready") == "false":
            return _explain_container(pod, status, ready)
    for gate in pod.items_at("spec", "readinessGates"):
        kind = gate.text_at("conditionType")
        if kind not in conditions or conditions[kind].text_at("status") != "True":
            return NotReady(f"its readiness gate {kind} is not true", (gate.line,))
    return None if ready is None else NotReady(_words(ready, "Ready is False"), (ready.line,))


def _explain_container(pod: ObjectSightings, status: Tree, ready: Tree | None) -> NotReady:
    name = status.text_at("name")
    state, last = status.at("state"), status.at("lastState", "terminated")
    waiting = state.at("waiting") if state is not None else None
    ended = state.at("terminated") if state is not None else None
    if waiting is not None:
        why = f"the container {name} is waiting ({_words(waiting, 'no reason given')})"
        return NotReady(f"{why}{_say_end(last)}", _spans(waiting, last))
    if ended is not None:
        return NotReady(f"the container {name} has ended{_say_end(ended)}", _spans(ended, None))
    probe = next(
        (
            found
            for container in pod.items_at("spec", "containers")
            if container.text_at("name") == name
            and (found := container.at("readinessProbe")) is not None
        ),
        None,
    )
    line = _line(status, "ready")
    if probe is None:
        return NotReady(f"the container {name} is not ready", (line,))
    why = f"the container {name} runs and its readiness probe{_say_probe(probe)} does not succeed"
    return NotReady(why, (line, probe.line, *((ready.line,) if ready is not None else ())))


def _say_end(ended: Tree | None) -> str:
    if ended is None:
        return ""
    reason, code = ended.text_at("reason"), ended.text_at("exitCode")
    words = [word for word in (reason, f"exit code {code}" if code else "") if word]
    return f"; it ended before: {', '.join(words)}" if words else ""


def _say_probe(probe: Tree) -> str:
    for way in _PROBE_WAYS:
        found = probe.at(way)
        if found is not None:
            port, path = found.text_at("port"), found.text_at("path")
            return f" ({way}{f' {path}' if path else ''}{f' at port {port}' if port else ''})"
    return ""


def _words(tree: Tree, otherwise: str) -> str:
    return tree.text_at("message") or tree.text_at("reason") or otherwise


def _line(tree: Tree, field: str) -> Span:
    return (tree.at(field) or tree).line


def _spans(tree: Tree, last: Tree | None) -> tuple[Span, ...]:
    spans = [_line(tree, "reason"), *([_line(last, "exitCode")] if last is not None else [])]
    return tuple(dict.fromkeys(spans))


def _report(
    service: ObjectSightings, port: PortBackends, pod: ObjectSightings, found: NotReady
) -> Finding:
    address = service.at("spec", "clusterIP")
    text = address.text if address is not None else ""
    lines = [one.span for one in port.backends.values()]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The service {service.title} has no ready endpoint: for its pod {pod.title}, "
            f"{found.why}."
        ),
        evidence=tuple(
            dict.fromkeys(
                (
                    *found.spans,
                    *lines[:1],
                    address.line if address is not None else service.span,
                )
            )
        ),
        reasoning=("Only ready pods become endpoints; the API lists none for this service.",),
        breaks=(f"every connection to {text or service.title}",),
        repairs=(Repair(title=f"make {pod.title} ready: {found.why}", commands=()),),
        prevention="Alert on services whose endpoints go to zero.",
        marks=tuple(mark for mark in (text,) if mark),
        about=names_of_service(service),
        asks=(
            FollowUp(
                fact="what the pod's events say",
                command=f"kubectl -n {pod.namespace} describe pod {pod.name}",
                decides="its events name the cause",
            ),
        ),
    )

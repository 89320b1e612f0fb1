"""pod-without-address: a pod that is asked about has no address, or none any more.

What it is
    The API says that the pod is Pending and lists no address for it, or that it has ended
    (Succeeded, Failed). It is reported only for a pod that a question is about.

Why it breaks
    A pod gets its address when its sandbox is created. Before that there is no network namespace
    that could send or receive, and after the pod ends its address may belong to another pod.

How to confirm
    kubectl get pod POD -o wide                     # STATUS and IP
    kubectl describe pod POD                        # Conditions, State, Events

How to fix
    Fix what the pod's status and events name: no node that accepts it, an image, a volume, a
    plugin that fails to create its sandbox. Then ask again.

References
    the documentation's page "Pod Lifecycle" (phases); kubernetes pkg/kubelet/kubelet_pods.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.services.endpoint_not_ready import NotReady, explain_pod
from podpath.net.end_names import EndName
from podpath.node.case import Case

CATEGORIES = (Category.NO_ENDPOINTS,)
NAME = "pod-without-address"
_ENDED = frozenset({"Succeeded", "Failed"})
_PENDING = "Pending"


def find_unplaced(case: Case, asked: Iterable[EndName]) -> Iterator[Finding]:
    """Report each of the pods that a question is about and that cannot be an end of a connection by
    what the API says.
    """
    pods = {(pod.namespace, pod.name): pod for pod in see(case, "Pod")}
    for end in dict.fromkeys(asked):
        pod = pods.get((end.namespace, end.name))
        if pod is not None:
            yield from _judge(pod)


def _judge(pod: ObjectSightings) -> Iterator[Finding]:
    phase = pod.at("status", "phase")
    if phase is None:
        return
    name = f"pod/{pod.title}"
    if phase.text in _ENDED:
        claim = f"{name} has ended ({phase.text}): nothing connects from it or to it any more."
        yield _report(pod, claim, NotReady("", (phase.line,)))
    elif phase.text == _PENDING and not pod.text_at("status", "podIP"):
        found = explain_pod(pod) or NotReady("", ())
        why = f": {found.why}" if found.why else ""
        claim = f"{name} has no address: it is {phase.text}{why.removesuffix('.')}."
        yield _report(pod, claim, NotReady(found.why, (phase.line, *found.spans)))


def _report(pod: ObjectSightings, claim: str, found: NotReady) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=claim,
        evidence=tuple(dict.fromkeys(found.spans)),
        reasoning=("A pod has an address only while its sandbox exists.",),
        breaks=(f"every connection from and to pod/{pod.title}",),
        repairs=(
            Repair(title="fix what the pod's status and events name, then ask again", commands=()),
        ),
    )

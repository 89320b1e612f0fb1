"""mesh-mtls: one side of a mesh requires mutual TLS and the other does not use it.

What it is
    A PeerAuthentication with mode STRICT makes sidecars reject plain text. A DestinationRule with
    tls mode DISABLE (or SIMPLE) makes clients send something else to the same host, as do clients
    without a sidecar. The reverse, ISTIO_MUTUAL to pods without a sidecar, fails as well.

Why it breaks
    The server's sidecar resets anything that is not mutual TLS (503 with UC or UF, "connection
    reset by peer", "upstream connect error"); a server without a sidecar answers TLS with plain
    text ("WRONG_VERSION_NUMBER").

How to confirm
    istioctl x describe pod POD; kubectl get peerauthentication,destinationrule -A -o yaml
    istioctl proxy-config endpoints POD
    kubectl get pod POD -o jsonpath='{.spec.containers[*].name}'

How to fix
    Set the DestinationRule to ISTIO_MUTUAL (or leave tls out and let Istio choose), give the client
    a sidecar, or set the mode to PERMISSIVE, per port if only one port is affected.

References
    Istio's pages "PeerAuthentication" and "Understanding TLS Configuration"
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import ObjectSightings, PodView, failures, is_near, pods, see
from podpath.net.failures import FailureKind
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.MESH_POLICY,)
NAME = "mesh-mtls"
LIKELY = 0.9
"""Whether whom the pod asked has a sidecar is not shown."""
PLAIN = frozenset({"DISABLE", "SIMPLE"})


def check(case: Case) -> Iterator[Finding]:
    """Report STRICT beside a rule for plain text or a pod without a sidecar, and mutual TLS toward
    such a pod.
    """
    strict = [
        (seen, mode)
        for seen in see(case, "PeerAuthentication")
        if (mode := seen.at("spec", "mtls", "mode")) and mode.text == "STRICT"
    ]
    rules = [
        (seen, mode)
        for seen in see(case, "DestinationRule")
        if (mode := seen.at("spec", "trafficPolicy", "tls", "mode")) is not None
    ]
    bare = _without_sidecar(case)
    for seen, mode in strict:
        for rule, tls in rules:
            if tls.text in PLAIN and (_is_of_mesh(seen) or seen.namespace in _host_space(rule)):
                yield _report_rule(seen, mode, rule, tls)
        if bare is not None and not rules:
            yield _report_client(case, seen, mode, bare)
    if bare is not None:
        for rule, tls in rules:
            if tls.text == "ISTIO_MUTUAL" and _is_for(rule, bare):
                yield _report_server(rule, tls, bare)


def _is_of_mesh(seen: ObjectSightings) -> bool:
    return seen.namespace in {"istio-system", ""}


def _host_space(rule: ObjectSightings) -> str:
    return f"{rule.namespace} {rule.text_at('spec', 'host')}"


def _is_for(rule: ObjectSightings, pod: ObjectSightings) -> bool:
    """Tell whether a rule's host is a service whose name a pod's name begins with."""
    host = rule.text_at("spec", "host").partition(".")[0]
    return (
        bool(host)
        and host != "*"
        and pod.name.startswith(host)
        and is_near(rule.namespace, pod.namespace)
    )


def _without_sidecar(case: Case) -> ObjectSightings | None:
    """Return a pod whose containers are all shown and no proxy among them; None where each may have
    one.
    """
    for pod in pods(case):
        names = [container.text_at("name") for container in pod.containers]
        lone = pod.seen.text_at("status", "containers") == "1" and not names
        if (
            pod.seen.kind == "Pod"
            and ((names and "istio-proxy" not in names) or lone)
            and "istio" not in pod.seen.title
        ):
            return pod.seen
    return None


def _rate_client(case: Case, pod: ObjectSightings) -> float:
    """Tell how sure it is that STRICT turns a pod away: the pod's own connection was reset, as
    sidecars do with plain text, and another pod is shown that has room for a sidecar.
    """
    place = f"pod/{pod.namespace}/{pod.name}"
    failed = [(one.span, one.result) for one in case.unplaced]
    failed += [(one.span, one.result) for one in case.attempts]
    reset = any(
        span.source.netns == place and result is FailureKind.RESET for span, result in failed
    )
    if reset and any(_may_have_sidecar(one) for one in pods(case)):
        return LIKELY
    return 0.6 if any(True for _ in failures(case)) else 0.5


def _may_have_sidecar(pod: PodView) -> bool:
    """Tell whether a listing shows a pod with several containers, or one that is a proxy."""
    number = pod.seen.text_at("status", "containers")
    names = {container.text_at("name") for container in pod.containers}
    return "istio-proxy" in names or (number.isdecimal() and int(number) > 1)


def _report_rule(seen: ObjectSightings, mode: Tree, rule: ObjectSightings, tls: Tree) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"DestinationRule {rule.title} uses tls mode {tls.text}, but PeerAuthentication "
            f"{seen.title} is STRICT."
        ),
        evidence=(tls.line, mode.line),
        reasoning=(
            (
                "The server's sidecar accepts only mutual TLS and resets what the client's sidecar "
                "sends instead."
            ),
        ),
        breaks=(f"connections to {rule.text_at('spec', 'host')}",),
        prevention=(
            "Leave tls out of DestinationRules within the mesh: Istio chooses mutual TLS if both "
            "sides support it."
        ),
        certainty=1.0
        if tls.text == "DISABLE"
        and "." not in rule.text_at("spec", "host").replace(".svc.cluster.local", "")
        else 0.7,
        marks=(tls.text, "STRICT"),
    )


def _report_client(case: Case, seen: ObjectSightings, mode: Tree, pod: ObjectSightings) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"PeerAuthentication {seen.title} is STRICT, but the pod {pod.title} has no sidecar "
            "for mutual TLS."
        ),
        evidence=(mode.line, pod.span),
        reasoning=("A pod without a sidecar sends plain text, which STRICT rejects.",),
        breaks=(f"connections from {pod.title} to pods in the mesh",),
        prevention="Use PERMISSIVE until every client has its sidecar.",
        certainty=_rate_client(case, pod),
        marks=("STRICT",),
    )


def _report_server(rule: ObjectSightings, tls: Tree, pod: ObjectSightings) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"DestinationRule {rule.title} asks for ISTIO_MUTUAL, but the pod {pod.title} has no "
            "sidecar."
        ),
        evidence=(tls.line, pod.span),
        reasoning=("Nothing on the server's side can answer mutual TLS.",),
        breaks=(f"connections to {rule.text_at('spec', 'host')} from pods with a sidecar",),
        prevention="Leave tls out of the rule: Istio chooses mutual TLS if both sides support it.",
        certainty=0.8,
        marks=("ISTIO_MUTUAL",),
    )

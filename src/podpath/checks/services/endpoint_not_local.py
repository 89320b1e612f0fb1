"""endpoint-not-local: kube-proxy treats no endpoint as local, although a pod of the service runs on
this node.

What it is
    A node's rules contain `has no local endpoints` for a service with traffic policy Local,
    although a ready pod of that service runs there, as an object or the ticket says.

Why it breaks
    Kube-proxy treats an endpoint as local if its node name is kube-proxy's own. If kube-proxy runs
    under another name (a host name with or without its domain, a cloud's private name), no endpoint
    is local anywhere, and every node drops traffic to such services. If it has stopped, its rules
    are those of the time before the pod came; and a pod that is not ready does not count.

How to confirm
    kubectl -n kube-system get pods -o wide -l k8s-app=kube-proxy; kubectl get pods -o wide
    kubectl get nodes; ps -ef | grep -o 'kube-proxy.*hostname-override[= ][^ ]*'; hostname
    kubectl get endpointslices -o yaml | grep nodeName

How to fix
    Let kube-proxy run where it has stopped. Otherwise run it with --hostname-override
    (hostnameOverride in its configuration) set to the node's name in the API.

References
    kubernetes pkg/proxy/topology.go; kube-proxy(8), --hostname-override
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import is_made_of, is_near, is_ready, see
from podpath.checks.services.no_local_endpoints import list_refusing
from podpath.checks.stated import is_typed_on
from podpath.checks.told import find_told, list_failing
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.KUBE_PROXY, Category.TRAFFIC_POLICY_LOCAL)
NAME = "endpoint-not-local"
BY_NAME = 0.9
"""The certainty where only the pod's name tells whose it is, and nothing why the rule is there."""


def check(case: Case) -> Iterator[Finding]:
    """Report such rules of a service whose pod is said to run on this node."""
    refusing = list(list_refusing(case))
    if not refusing or not any(True for _ in list_failing(case)):
        return
    named = any(one.names or one.addresses for one in list_failing(case))
    alone = len({service for _, service in refusing}) == 1 and not named
    for rule, service in refusing[:1]:
        told = find_told(case, Circumstance.RUNS_HERE)
        here = told or _find_row(case, rule.span, service)
        about = frozenset[str]() if alone else _names(service)
        if here is not None:
            stopped = _find_stopped(case, rule.span)
            found = _report(rule.span, service, here, stopped, about)
            yield _doubt(found, service) if told is None and stopped is None else found


def _find_row(case: Case, rule: Span, service: str) -> Span | None:
    """Return the row of a ready pod with the service's name on the node that the rule is of."""
    namespace, _, port = service.rpartition("/")
    name = port.partition(":")[0]
    for pod in see(case, "Pod"):
        ours = is_near(pod.namespace, namespace) and is_made_of(pod.name, name)
        if ours and is_ready(pod) and _is_of(case, rule, pod.text_at("spec", "nodeName")):
            return pod.span
    return None


def _find_stopped(case: Case, rule: Span) -> Span | None:
    """Return the row of a kube-proxy of the rule's node that does not run."""
    for pod in see(case, "Pod"):
        proxy = pod.name.startswith("kube-proxy") and not is_ready(pod)
        if proxy and _is_of(case, rule, pod.text_at("spec", "nodeName")):
            return pod.span
    return None


def _is_of(case: Case, rule: Span, node: str) -> bool:
    """Tell whether an output is of a node, by its prompt or by the words above it."""
    spoken = re.search(rf"(?<![\w.-]){re.escape(node)}(?![\w-])", rule.source.label or "")
    return bool(node) and (is_typed_on(case, rule, node) or spoken is not None)


def _report(
    rule: Span, service: str, here: Span, stopped: Span | None, about: frozenset[str]
) -> Finding:
    why = "" if stopped is None else ": kube-proxy does not run here, so its rules are old"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Kube-proxy finds no local endpoint of {service or 'a service'} on this node, "
            f"although one of its pods runs here{why}."
        ),
        evidence=(rule, here) if stopped is None else (rule, here, stopped),
        reasoning=(
            (
                "An endpoint is local if its node name equals kube-proxy's own: kube-proxy has "
                "another name for the node, has stopped, or the pod is not ready."
            ),
        ),
        breaks=(f"connections to {service or 'the service'} from outside, through this node",),
        prevention="Set kube-proxy's --hostname-override to the node's name in the API.",
        marks=("has no local endpoints",),
        about=about,
    )


def _doubt(found: Finding, service: str) -> Finding:
    """Return it as possible: a pod's name alone does not make it one of a service."""
    ask = FollowUp(
        f"whether the pod is one of {service}, and was ready when the rules were listed",
        f"kubectl get endpointslices -A -o wide | grep {service.rpartition('/')[2]}; kubectl get "
        "pods -A -o wide",
        "its address is listed and ready, and the rule is still there: this is the cause",
    )
    return replace(found, certainty=BY_NAME, asks=(ask,))


def _names(service: str) -> frozenset[str]:
    """Return the name that people have for `NAMESPACE/NAME:PORT`."""
    name = service.rpartition("/")[2].partition(":")[0].casefold()
    return frozenset({name} if name else ())

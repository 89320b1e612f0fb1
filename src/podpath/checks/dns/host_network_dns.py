"""host-network-dns: a pod on the host's network asks the node's resolver for the cluster's names.

What it is
    With hostNetwork: true, the dnsPolicy ClusterFirst (the default) falls back to Default: the pod
    gets the node's resolv.conf.

Why it breaks
    The node's resolver does not know the cluster's names (`svc.cluster.local`), so they resolve in
    every pod except this one.

How to confirm
    kubectl exec POD -- cat /etc/resolv.conf
    kubectl get pod POD -o jsonpath='{.spec.hostNetwork} {.spec.dnsPolicy}'

How to fix
    dnsPolicy: ClusterFirstWithHostNet

References
    the documentation's page "DNS for Services and Pods", section on the pod's DNS policy
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import PodView, pods
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "host-network-dns"
CLUSTER_NAME = re.compile(r"\.svc(?:\.|$)|\.cluster\.local\.?$", re.IGNORECASE)
"""A name that the cluster's own DNS service alone knows."""
INFRASTRUCTURE = frozenset(
    {"kube-system", "kube-flannel", "calico-system", "tigera-operator", "cilium"}
)
"""Where pods are on the host's network on purpose and use no names of the cluster."""


def check(case: Case) -> Iterator[Finding]:
    """Report pods on the host's network with the policy that does nothing there."""
    for pod in pods(case):
        host = None if pod.spec is None else pod.spec.at("hostNetwork")
        if (
            pod.spec is None
            or host is None
            or host.text != "true"
            or pod.seen.namespace in INFRASTRUCTURE
        ):
            continue
        policy = pod.spec.at("dnsPolicy")
        if policy is None or policy.text == "ClusterFirst":
            yield _report(pod, host, policy, _find_unknown_name(case, pod))


def _find_unknown_name(case: Case, pod: PodView) -> Span | None:
    """Return the line by which the pod itself was told that a name of the cluster is not known."""
    place = f"pod/{pod.seen.namespace}/{pod.seen.name}"
    for said in find_said(case, MessageKind.NAME_FAILS):
        name = said.values.get("name", "")
        if said.span.source.netns == place and CLUSTER_NAME.search(name):
            return said.span
    return None


def _report(pod: PodView, host: Tree, policy: Tree | None, failed: Span | None) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"{pod.seen.title} is on the host's network with dnsPolicy ClusterFirst, so it "
            "uses the node's resolver."
        ),
        evidence=(
            *((policy.line,) if policy is not None else ()),
            host.line,
            *((failed,) if failed is not None else ()),
        ),
        reasoning=(
            (
                "Such a pod gets the node's resolv.conf from the kubelet, unless the policy is "
                "ClusterFirstWithHostNet."
            ),
        ),
        breaks=("service names in this pod",),
        prevention="Set dnsPolicy: ClusterFirstWithHostNet wherever hostNetwork is true.",
        certainty=0.6 if policy is None or failed is None else 1.0,
        marks=("ClusterFirst", "hostNetwork"),
    )

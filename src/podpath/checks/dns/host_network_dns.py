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

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import PodView, pods
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "host-network-dns"
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
            yield _report(pod, host, policy)


def _report(pod: PodView, host: Tree, policy: Tree | None) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"{pod.seen.title} is on the host's network with dnsPolicy ClusterFirst, so it "
            "uses the node's resolver."
        ),
        evidence=(*((policy.line,) if policy is not None else ()), host.line),
        reasoning=(
            (
                "Such a pod gets the node's resolv.conf from the kubelet, unless the policy is "
                "ClusterFirstWithHostNet."
            ),
        ),
        breaks=("service names in this pod",),
        prevention="Set dnsPolicy: ClusterFirstWithHostNet wherever hostNetwork is true.",
        certainty=0.6,
        marks=("ClusterFirst", "hostNetwork"),
    )

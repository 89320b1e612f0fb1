"""pod-range-missing: the node has no pod range, so its network agent cannot start.

What it is
    The agent waits for Node.spec.podCIDR, and the node has none.

Why it breaks
    The controller manager assigns it: without --allocate-node-cidrs and --cluster-cidr (kubeadm init
    --pod-network-cidr), or with all ranges given out, nodes stay without one; the agent ends or waits and no pod gets
    a network.

How to confirm
    kubectl get nodes -o custom-columns=N:.metadata.name,C:.spec.podCIDR
    grep -E 'cidr' /etc/kubernetes/manifests/kube-controller-manager.yaml

How to fix
    Give the controller manager --allocate-node-cidrs=true and --cluster-cidr, the one that the plugin has; enlarge
    the range or shrink --node-cidr-mask-size where it is used up; kubectl patch node NODE -p
    '{"spec":{"podCIDR":"10.244.1.0/24"}}' helps at once.

References
    flannel, Documentation/troubleshooting.md; kube-controller-manager, --cluster-cidr
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.POD_CIDR,)
NAME = "pod-range-missing"
KINDS = (MessageKind.POD_RANGE_MISSING,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    node = get_value(said, "node")
    meaning = Meaning(
        claim=f"The node {node} has no pod range (spec.podCIDR), so its network agent cannot set up its network.",
        breaks="every pod of the node",
        cure="let the controller manager assign pod ranges",
        commands=("kubectl get nodes -o custom-columns=N:.metadata.name,C:.spec.podCIDR",),
    )
    yield tell(NAME, said, meaning)

"""pod-ranges-overlap: the pod ranges of two nodes overlap.

What it is
    Each node is assigned its own range (podCIDR). Two nodes in the API have ranges that overlap:
    nodes registered with a range by hand (--pod-cidr, a cloud template), two controllers that
    assign ranges, or a controller manager restarted with a different --node-cidr-mask-size.

Why it breaks
    Routes to one node's pods lead to the other node, and two pods can get the same address. Packets
    to these pods all reach one of the two nodes: the one whose route is longest or was written
    last.

How to confirm
    kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.spec.podCIDRs
    ip route show                                      # on a third node: who gets the range?

How to fix
    Delete one of the two Node objects and let the node register again to get its own range (a
    Node's podCIDR cannot be changed); then delete its pods.

References
    kubernetes pkg/controller/nodeipam/ipam/range_allocator.go; kubelet's --pod-cidr
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.node_ranges import NodeRange, follow_ranges, ranges_of
from podpath.checks.objects import see
from podpath.net.addresses import read_address
from podpath.node.case import Case

CATEGORIES = (Category.POD_CIDR, Category.OVERLAPPING_RANGES, Category.DUPLICATE_ADDRESS)
NAME = "pod-ranges-overlap"
PREVENTION = (
    "Give one of the nodes its own range, recreate its pods, and let a single controller assign "
    "ranges to nodes."
)


def check(case: Case) -> Iterator[Finding]:
    """Report each pair of nodes whose ranges overlap."""
    ranges = ranges_of(case)
    followed = bool(follow_ranges(case, ranges)) or _has_pods_within(case, ranges)
    for one, other in combinations(ranges, 2):
        overlap = one.prefix.covers(other.prefix) or other.prefix.covers(one.prefix)
        if overlap and one.node != other.node:
            yield _report(one, other, sure=followed)


def _has_pods_within(case: Case, ranges: tuple[NodeRange, ...]) -> bool:
    """Tell whether every pod that is shown has an address of its node's range, and there is one on
    two nodes at least: then the plugin gives addresses by the ranges.
    """
    placed: set[str] = set()
    for pod in see(case, "Pod"):
        node, address = (
            pod.text_at("spec", "nodeName"),
            read_address(pod.text_at("status", "podIP")),
        )
        if not node or address is None or pod.text_at("spec", "hostNetwork") == "true":
            continue
        own = [one for one in ranges if one.node == node]
        if not any(one.prefix.covers(address) for one in own):
            return False
        placed.add(node)
    return len(placed) > 1


def _report(one: NodeRange, other: NodeRange, *, sure: bool) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The pod ranges of {one.node} ({one.prefix}) and {other.node} ({other.prefix}) "
            "overlap."
        ),
        evidence=(one.span, other.span),
        reasoning=(
            (
                "Only one of two routes to the same range is used, so packets to the pods of both "
                "nodes reach only one of them."
            ),
        ),
        breaks=(f"connections to pods of {one.node} or of {other.node} from other nodes",),
        repairs=(
            Repair(
                title=f"give {other.node} its own range: delete its Node object, restart its "
                "kubelet, and recreate its pods",
                commands=(),
            ),
        ),
        prevention=PREVENTION,
        certainty=1.0 if sure else 0.6,
        marks=(str(one.prefix), str(other.prefix)),
        asks=(
            FollowUp(
                fact="whether the plugin assigns addresses from the nodes' ranges",
                command="kubectl get pods -A -o wide",
                decides="pods have addresses from their node's range: it does, and this is a fault",
            ),
        ),
    )

"""pod-cidr: a node's pods get addresses outside the range that Kubernetes assigned to the node.

What it is
    The controller manager assigns each node a podCIDR out of --cluster-cidr. Flannel, kubenet and
    host-gw use it; Calico and Cilium have their own pools, which should lie within the same range.
    Common cases: a node without a podCIDR (the controller manager runs without
    --allocate-node-cidrs, or the range is used up), a flannel Network that differs from kubeadm's
    podSubnet, a subnet.env from an earlier cluster, pods that started on Docker's bridge before the
    plugin was installed.

Why it breaks
    Routes to the node, masquerading rules and kube-proxy's --cluster-cidr all follow one range
    while the pods are in another: packets to them have no route, or leave with a source that is not
    translated back. Flannel does not start at all without a podCIDR ("pod cidr not assigned").

How to confirm
    kubectl get nodes -o custom-columns=NAME:.metadata.name,CIDR:.spec.podCIDR
    cat /run/flannel/subnet.env; ip addr show cni0; kubectl get ippools -o yaml

How to fix
    Set the plugin and the controller manager to the same range, then recreate the pods that have
    old addresses; after a change, delete cni0 and /var/lib/cni/networks on the node.

References
    kubernetes pkg/controller/nodeipam; flannel's documentation on Kubernetes; Calico's on IP pools
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.node_ranges import list_addresses, ranges_of
from podpath.checks.objects import ObjectSightings, covering, read_prefix, see
from podpath.checks.said import find_said
from podpath.checks.stated import is_typed_on
from podpath.checks.told import LOSSES
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.POD_CIDR, Category.CNI_CONFIGURATION)
NAME = "pod-cidr"
_LOST = LOSSES | {FailureKind.NOT_STARTED}
BRIDGE = "cni0"
"""The bridge that flannel's plugin and others make for a node's range."""
DOCKER = Prefix.parse("172.17.0.0/16")
"""The range of Docker's own bridge, unless somebody chose another."""

_OF_CLUSTER = {
    "--pod-network-cidr": "--pod-network-cidr", "--cluster-cidr": "--cluster-cidr",
}  # fmt: skip
_OF_PLUGIN = {
    "CALICO_IPV4POOL_CIDR": "CALICO_IPV4POOL_CIDR",
    "cluster-pool-ipv4-cidr": "Cilium's cluster-pool-ipv4-cidr",
}
"""Names of flags and settings, and how a claim calls them."""


_FLANNEL = "flannel.alpha.coreos.com/backend-type"


class _Fit(Enum):
    """Whose address a pod has instead of one of its node's."""

    DOCKERS = auto()
    OTHER_NODES = auto()
    """All nodes send to another one what is for it."""
    OUTSIDE = auto()


_CERTAINTIES = {_Fit.DOCKERS: 0.8, _Fit.OTHER_NODES: 1.0, _Fit.OUTSIDE: 0.6}


class _Range(NamedTuple):
    prefix: Prefix
    owner: str
    span: Span


def check(case: Case) -> Iterator[Finding]:
    """Report ranges of pods that do not fit each other, and pods outside them."""
    cluster, pools = tuple(_cluster_ranges(case)), tuple(_plugin_ranges(case))
    for pool in pools:
        alike = [one for one in cluster if one.prefix.family == pool.prefix.family]
        if alike and not any(
            one.prefix.covers(pool.prefix) or pool.prefix.covers(one.prefix) for one in alike
        ):
            yield _report_ranges(pool, alike[0])
    yield from _check_subnet_env(case)
    yield from _check_bridge(case)
    yield from _check_pods(case, (*cluster, *pools))


def _check_bridge(case: Case) -> Iterator[Finding]:
    """Report the bridge of the only node that is shown, where it has an address of another range
    than the node's.
    """
    ranges = [one for one in ranges_of(case) if one.prefix.family == 4]
    if len({one.node for one in ranges}) != 1:
        return
    for item in case.node.host.addresses.items:
        own = item.link == BRIDGE and item.address.family == 4
        outside = own and not any(one.prefix.overlaps(item.prefix) for one in ranges)
        if outside and item.span is not None:
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"{BRIDGE} has the address {item.address}, outside {ranges[0].prefix}, the "
                    f"range of node {ranges[0].node}: it is left from before."
                ),
                evidence=(item.span, ranges[0].span),
                reasoning=("The plugin refuses a bridge that has another address than its own.",),
                breaks=("pods that start on that node",),
                repairs=(
                    Repair(
                        title="delete the bridge, which the plugin makes again",
                        commands=(f"ip link delete {BRIDGE}",),
                    ),
                ),
                prevention="Delete the plugin's devices when a node leaves a cluster.",
                certainty=0.8,
                asks=(
                    FollowUp(
                        f"whether it is the bridge of {ranges[0].node}",
                        f"hostname; ip addr show {BRIDGE}",
                        "it is: delete it",
                    ),
                ),
                proves=_LOST if is_typed_on(case, item.span, ranges[0].node) else frozenset(),
                marks=(str(item.address), str(ranges[0].prefix)),
            )
            return


def _ranges(tree: Tree | None, owner: str) -> Iterator[_Range]:
    for word in () if tree is None else tree.text.split(","):
        prefix = read_prefix(word.strip())
        if tree is not None and prefix is not None and prefix.length > 0:
            yield _Range(prefix, owner, tree.line)


def _cluster_ranges(case: Case) -> Iterator[_Range]:
    """Yield what Kubernetes itself takes for the pods' range."""
    for seen in see(case, "ClusterConfiguration"):
        yield from _ranges(seen.at("networking", "podSubnet"), "kubeadm's podSubnet")
    for seen in see(case, "KubeProxyConfiguration"):
        yield from _ranges(seen.at("clusterCIDR"), "kube-proxy's clusterCIDR")
    yield from _said_ranges(case, _OF_CLUSTER)


def _plugin_ranges(case: Case) -> Iterator[_Range]:
    """Yield the ranges that plugins give addresses from."""
    for seen in see(case, "FlannelNetConf"):
        yield from _ranges(seen.at("Network"), "flannel's Network")
    for seen in see(case, "SubnetEnv"):
        yield from _ranges(seen.at("FLANNEL_NETWORK"), "FLANNEL_NETWORK")
    for seen in see(case, "IPPool"):
        uses = [item.text for item in seen.items_at("spec", "allowedUses")]
        if seen.text_at("spec", "disabled") != "true" and (not uses or "Workload" in uses):
            yield from _ranges(seen.at("spec", "cidr"), f"Calico's pool {seen.name}")
    yield from _said_ranges(case, _OF_PLUGIN)


def _said_ranges(case: Case, names: Mapping[str, str]) -> Iterator[_Range]:
    """Yield the ranges of flags and settings that a line gives."""
    for message in find_said(case, MessageKind.RANGE_WANTED):
        prefix = read_prefix(message.values["prefix"])
        owner = names.get(message.values["what"])
        if owner is not None and prefix is not None and prefix.length > 0:
            yield _Range(prefix, owner, message.span)


def list_pod_ranges(case: Case) -> tuple[Prefix, ...]:
    """Return every range that the evidence gives to pods: the cluster's, the plugins', the
    nodes'.
    """
    stated = (*_cluster_ranges(case), *_plugin_ranges(case))
    return (*(one.prefix for one in stated), *(one.prefix for one in ranges_of(case)))


def _report_ranges(pool: _Range, cluster: _Range) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            f"{pool.owner} is {pool.prefix}, which is not within {cluster.owner} {cluster.prefix}."
        ),
        evidence=(pool.span, cluster.span),
        reasoning=(
            "The plugin assigns addresses that the rest of the cluster does not treat as pods'.",
        ),
        breaks=(
            "routes to pods, masquerading, and whatever kube-proxy decides by its cluster range",
        ),
        prevention="Define the pod range in one place and generate both settings from it.",
        certainty=0.8,
        marks=(str(pool.prefix), str(cluster.prefix)),
    )


def _check_subnet_env(case: Case) -> Iterator[Finding]:
    """Yield a subnet.env whose subnet lies outside its own network, or is no node's podCIDR."""
    cidrs = [
        found
        for node in see(case, "Node")
        for found in _ranges(node.at("spec", "podCIDR"), f"node {node.name}")
    ]
    for seen in see(case, "SubnetEnv"):
        own = next(_ranges(seen.at("FLANNEL_SUBNET"), "FLANNEL_SUBNET"), None)
        network = next(_ranges(seen.at("FLANNEL_NETWORK"), "FLANNEL_NETWORK"), None)
        if own is None:
            continue
        if network is not None and not network.prefix.covers(own.prefix):
            yield _report_ranges(own, network)
        here = [one for one in cidrs if one.owner == f"node {case.node.name}"] or (
            cidrs if len(cidrs) == 1 else []
        )
        if here and not any(one.prefix.covers(own.prefix) for one in here):
            yield Finding(
                check=NAME,
                severity=Severity.CAUSE,
                claim=(
                    f"flannel's subnet.env says {own.prefix}, but {here[0].owner} has the podCIDR "
                    f"{here[0].prefix}."
                ),
                evidence=(own.span, here[0].span),
                reasoning=(
                    (
                        "Other nodes route the podCIDR to this one, but its pods get addresses "
                        "from another range."
                    ),
                ),
                breaks=("connections to this node's pods from other nodes",),
                prevention=(
                    "Remove /run/flannel/subnet.env and cni0 when a node joins another cluster."
                ),
                certainty=0.8,
                marks=(str(own.prefix),),
            )


def _check_pods(case: Case, ranges: tuple[_Range, ...]) -> Iterator[Finding]:
    """Yield pods with an address outside every range that pods have, or of another node's."""
    nodes = {node.name: node for node in see(case, "Node")}
    hosts = list_addresses(nodes.values())
    for pod in see(case, "Pod"):
        address = read_address(pod.text_at("status", "podIP"))
        place = pod.at("status", "podIP")
        if address is None or place is None or str(address) in hosts:
            continue
        if pod.text_at("spec", "hostNetwork") == "true":
            continue
        if _is_dockers(address, ranges):
            yield _report_pod(pod, place, ranges[0], _Fit.DOCKERS)
            continue
        node = nodes.get(pod.text_at("spec", "nodeName"))
        own = [] if node is None else list(_ranges(node.at("spec", "podCIDR"), f"node {node.name}"))
        alike = [one for one in own if one.prefix.family == address.family]
        if alike and not _covers(alike, address) and not _is_pooled(case):
            runs = pod.text_at("status", "phase") == "Running"
            other = runs and _is_of_other(case, nodes.values(), address)
            yield _report_pod(pod, place, alike[0], _Fit.OTHER_NODES if other else _Fit.OUTSIDE)


def _is_dockers(address: Address, ranges: Sequence[_Range]) -> bool:
    """Tell whether an address is of Docker's own bridge, while pods have another range."""
    if not DOCKER.covers(address) or _covers(ranges, address):
        return False
    return any(one.prefix.family == 4 for one in ranges)


def _covers(ranges: Sequence[_Range], address: Address) -> bool:
    return bool(covering([one.prefix for one in ranges], address))


def _is_pooled(case: Case) -> bool:
    """Tell whether a plugin gives addresses of its own pools: those need not follow a node's
    podCIDR.
    """
    return bool(see(case, "IPPool", "CiliumNode", "IPAMBlock")) or case.node.cilium is not None


def _is_of_other(case: Case, nodes: Iterable[ObjectSightings], address: Address) -> bool:
    """Tell whether an address is of another node's range, where flannel has all nodes send it: a
    device of its own, or its annotation on a node, says that it is in use.
    """
    known = list(nodes)
    others = [found for node in known for found in _ranges(node.at("spec", "podCIDR"), node.name)]
    devices = (link for link in case.node.host.links.items if link.span is not None)
    flannel = any(str(link.name).startswith("flannel") for link in devices) or any(
        node.at("metadata", "annotations", _FLANNEL) is not None for node in known
    )
    return flannel and _covers(others, address)


def _report_pod(pod: ObjectSightings, place: Tree, expected: _Range, fit: _Fit) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(f"Pod {pod.title} has {place.text}, outside {expected.prefix} ({expected.owner})."),
        evidence=(place.line, expected.span),
        reasoning=(("A plugin or configuration other than the node's current one attached it."),),
        breaks=(f"connections to and from {pod.title} across nodes",),
        prevention="Recreate every pod after you install or change the network plugin.",
        certainty=_CERTAINTIES[fit],
        marks=(place.text,),
    )

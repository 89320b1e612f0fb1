"""ranges-overlap: the ranges of pods, services and nodes overlap.

What it is
    A range that the cluster is configured with (pod CIDR, service CIDR, the plugin's network)
    contains addresses of the nodes' own network, or of the other range.

Why it breaks
    Packets to a node, router or name server whose address is in the pods' range are sent to the
    pods, and a service's address that is also a pod's or a host's is translated or not by chance. A
    common case is Calico's default of 192.168.0.0/16 in a network 192.168.1.0/24.

How to confirm
    kubectl cluster-info dump | grep -m2 -E 'cluster-cidr|service-cluster-ip-range'
    ip -br addr; ip route

How to fix
    Set the cluster up again with ranges that do not overlap anything: --pod-network-cidr and
    --service-cidr of kubeadm, and the same in the plugin's configuration.

References
    kubernetes.io/docs/concepts/cluster-administration/networking; docs.tigera.io, IP pools
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.ground import Unsettling
from podpath.checks.said import find_said
from podpath.checks.stated import is_inner_bridge, is_tunnel, uplinks
from podpath.net.addresses import Prefix
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (
    Category.OVERLAPPING_RANGES,
    Category.POD_CIDR,
)
NAME = "ranges-overlap"


PODS = (
    "--cluster-cidr",
    "--pod-network-cidr",
    "podSubnet",
    "clusterCIDR",
    "FLANNEL_NETWORK",
    "Network",
)
SERVICES = ("--service-cidr", "--service-cluster-ip-range", "serviceSubnet")


def check(case: Case) -> Iterator[Finding]:
    """Report the first pair of ranges that overlap."""
    wanted = [(message, Prefix.parse(message.values["prefix"], 4)) for message in _readable(case)]
    pods = [(message, prefix) for message, prefix in wanted if message.values["what"] in PODS]
    services = [
        (message, prefix) for message, prefix in wanted if message.values["what"] in SERVICES
    ]
    for message, prefix in pods:
        for other, taken in services:
            if prefix.overlaps(taken):
                yield _report(
                    f"pods ({prefix})",
                    f"services ({taken})",
                    (message.span, other.span),
                    (prefix, taken),
                )
                return
    for message, prefix in (*pods, *services):
        for name, network, span in _own_networks(case):
            if prefix.overlaps(network):
                whose = "pods" if message.values["what"] in PODS else "services"
                yield _report(
                    f"{whose} ({prefix})",
                    f"{name}, which the node reaches others through ({network})",
                    (message.span, span),
                    (prefix, network),
                )
                return


def _readable(case: Case) -> Iterator[Message]:
    for message in find_said(case, MessageKind.RANGE_WANTED):
        try:
            Prefix.parse(message.values["prefix"], 4)
        except ValueError:
            continue
        yield message


def _own_networks(case: Case) -> Iterator[tuple[str, Prefix, Span]]:
    """Yield the networks of the devices that lead to other hosts."""
    host = case.node.host
    for item in host.addresses.items:
        plain = (
            item.link in uplinks(host)
            and not is_inner_bridge(item.link)
            and not is_tunnel(item.link)
        )
        if (
            plain
            and item.span is not None
            and not item.inferred
            and item.address.family == 4
            and item.length < 31
        ):
            yield item.link, item.prefix, item.span


def _report(
    one: str, other: str, spans: tuple[Span, ...], ranges: tuple[Prefix, Prefix]
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The range of the {one} overlaps with that of {other}.",
        evidence=spans,
        reasoning=(
            (
                "An address in both is treated as belonging to one of the two, and is never "
                "reached as the other."
            ),
        ),
        breaks=("traffic to addresses in both ranges",),
        prevention="Plan the ranges of pods, services, nodes and VPNs together.",
        marks=tuple(map(str, ranges)),
        doubted_by=frozenset({Unsettling.OUTSIDE_RANGE}),
    )

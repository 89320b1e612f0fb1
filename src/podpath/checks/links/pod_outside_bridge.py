"""pod-outside-bridge: a pod's address is outside the range of the bridge that the pod is attached
to.

What it is
    The pod's end of the veth pair has an address from one range, and the bridge that holds the
    other end has an address from another.

Why it breaks
    The pod sends ARP requests for its gateway and nobody answers, or the bridge's host has no route
    to the pod. It happens when the range changed while pods kept running, or when two plugins use
    the same bridge name.

How to confirm
    nsenter -t PID -n ip addr; ip addr show BRIDGE
    ls /var/lib/cni/networks

How to fix
    Delete the pod to give it an address from the current range; delete the bridge if the bridge's
    own address is the old one.

References
    the bridge plugin and host-local of containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import bridge_subnets, find_attachments
from podpath.net.addresses import IfName
from podpath.net.provenance import list_spans
from podpath.node.case import Case

CATEGORIES = (
    Category.BRIDGE_CONFIGURATION,
    Category.POD_CIDR,
    Category.IPAM,
)
NAME = "pod-outside-bridge"


def check(case: Case) -> Iterator[Finding]:
    """Report each pod on a bridge with stated addresses of which none holds the pod's."""
    host = case.node.host
    for attachment in find_attachments(case.node):
        bridge = attachment.outer.master
        if bridge is None or attachment.netns.inferred:
            continue
        subnets = bridge_subnets(host, IfName(bridge))
        spans = list_spans(item for item in host.addresses.items if item.link == bridge)
        own = [
            item
            for item in attachment.addresses
            if item.address.family == 4 and item.span is not None and not item.inferred
        ]
        inside = any(subnet.covers(item.address) for item in own for subnet in subnets)
        if not own or not subnets or inside or not spans:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{own[0].address} in netns {attachment.netns.name} is outside {bridge}'s range "
                f"{subnets[0]}."
            ),
            evidence=tuple(dict.fromkeys((*list_spans(own), *spans))),
            reasoning=(
                (
                    f"{attachment.outer.name}, the host's end of the pod's veth pair, belongs to "
                    f"{bridge}."
                ),
            ),
            breaks=(f"everything to and from {own[0].address}",),
            prevention="Recreate a node's pods when its range changes.",
            certainty=0.9,
            marks=(str(own[0].address), str(subnets[0])),
        )

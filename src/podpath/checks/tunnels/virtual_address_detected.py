"""virtual-address-detected: a virtual address on a node's card may be what its agent takes for the
node's own.

What it is
    A node has a second address from keepalived, kube-vip or a similar program on its card (`inet
    .../32`), in the network of the first; Calico autodetects the node's address (by range, by
    device, or the first that fits), and pods on this node and on others do not reach each other.

Why it breaks
    The agent announces what it finds as the end of tunnels and as BGP's next hop. If that is the
    virtual address, it moves to another node with the next failover, and two nodes announce the
    same one; packets from this node have its first address as their source, which the other nodes
    do not expect.

How to confirm
    calicoctl get node -o wide; kubectl get node NODE -o yaml | grep projectcalico.org/IPv4Address
    ip -br addr

How to fix
    Have Calico take the kubelet's address: IP_AUTODETECTION_METHOD=kubernetes-internal-ip, or leave
    the virtual address out: cidr ranges without it, skip-interface.

References
    docs.tigera.io, "Configure IP autodetection"; keepalived.conf(5), virtual_ipaddress
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import uplinks
from podpath.checks.told import list_lost
from podpath.net.complaints import EndKind
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.links import InterfaceAddress
from podpath.node.node import Netns

CATEGORIES = (Category.TUNNEL_ENDPOINT, Category.ROUTE_DISTRIBUTION)
NAME = "virtual-address-detected"
POSSIBLE = 0.5
"""Which address the agent found is not shown."""
_OWN = frozenset({EndKind.POD, EndKind.NODE, EndKind.SERVICE, None})


def check(case: Case) -> Iterator[Finding]:
    """Report the first virtual address on a node that loses its pods' network under Calico."""
    moved = Technology.KEEPALIVED in case.mentions
    lost = [one for one in list_lost(case) if one.source in _OWN and one.target in _OWN]
    if not lost or not moved or Technology.CALICO not in case.mentions:
        return
    for virtual, own in _list_virtual(case.node.host):
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{virtual.link} has the virtual address {virtual.address} beside {own.address}: "
                "Calico may take it for the node's own."
            ),
            evidence=tuple(one.span for one in (virtual, own) if one.span is not None),
            reasoning=("Autodetection by range, device or order may find either of them.",),
            breaks=("traffic between pods of this node and of others",),
            prevention="Set IP_AUTODETECTION_METHOD=kubernetes-internal-ip on such nodes.",
            certainty=POSSIBLE,
            asks=(
                FollowUp(
                    "which address Calico has for the node",
                    "calicoctl get node -o wide; kubectl get nodes -o yaml | grep IPv4Address",
                    f"{virtual.address}: it found the virtual one",
                ),
            ),
            marks=(str(virtual.address),),
        )
        return


def _list_virtual(host: Netns) -> Iterator[tuple[InterfaceAddress, InterfaceAddress]]:
    """Yield the single addresses that lie in the network of another one on the same device."""
    leaving = uplinks(host)
    stated = [
        one
        for one in host.addresses.items
        if one.span is not None and one.address.family == 4 and one.peer is None
    ]
    for virtual in stated:
        for own in stated if virtual.length == 32 else ():
            same = own.link == virtual.link and own.length < 31
            if same and own.prefix.covers(virtual.address) and leaving <= {own.link}:
                yield virtual, own

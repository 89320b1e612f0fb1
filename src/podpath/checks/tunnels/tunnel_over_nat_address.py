"""tunnel-over-nat-address: the overlay uses 10.0.2.15, the address that VirtualBox gives to every
machine behind its NAT.

What it is
    flannel, Calico, the kubelet or a vxlan device took 10.0.2.15 for the node's address: the first
    NIC of a machine created by Vagrant or VirtualBox is behind a NAT of its own, with the same
    address in each machine.

Why it breaks
    Every node is known by the same address, which none can reach: overlay packets end up on the
    sender's own machine. Pods reach each other on one node but not across nodes; kubectl logs and
    exec fail, too.

How to confirm
    kubectl get nodes -o wide; ip -d link show flannel.1 | grep local
    kubectl get node NODE -o yaml | grep public-ip

How to fix
    Name the other interface: --iface=eth1 (flannel), IP_AUTODETECTION_METHOD=interface=eth1
    (Calico), --node-ip=ADDRESS (kubelet), --apiserver-advertise-address (kubeadm).

References
    docs.flannel: troubleshooting, Vagrant; VirtualBox manual, network address translation
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.addresses import Address
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_ENDPOINT,
    Category.TUNNEL_CONFIGURATION,
)
NAME = "tunnel-over-nat-address"


NAT = Address.parse("10.0.2.15")


def check(case: Case) -> Iterator[Finding]:
    """Report it where a component says that it uses the address, or a vxlan device has it as its
    own end.
    """
    devices = [
        link
        for link in case.node.host.links.items
        if link.vxlan is not None and link.vxlan.local == NAT
    ]
    said = find_said(case, MessageKind.NAT_ADDRESS_USED)
    spans: list[Span] = [message.span for message in said] + [
        link.span for link in devices if link.span is not None
    ]
    if not spans:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "The overlay uses 10.0.2.15 as the node's address, which every VirtualBox machine "
            "has on its NAT interface."
        ),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("No other node can reach it, and each takes it for its own.",),
        breaks=("pod traffic between nodes",),
        prevention=(
            "Name the interface of the nodes' own network in the plugin's and the kubelet's "
            "options."
        ),
        marks=(str(NAT),),
    )

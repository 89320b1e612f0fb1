"""tunnel-over-nat-address: the overlay uses 10.0.2.15, the address that VirtualBox gives to every
machine behind its NAT.

What it is
    flannel, Calico, the kubelet or a vxlan device took 10.0.2.15 for the node's address: the first
    NIC of a machine created by Vagrant or VirtualBox is behind a NAT of its own, with the same
    address in each machine. Where the NAT is the machine's second NIC, it is 10.0.3.15, and so on.

Why it breaks
    Every node is known by the same address, which none can reach: overlay packets end up on the
    sender's own machine. Pods reach each other on one node but not across nodes; kubectl logs and
    exec fail, too.

How to confirm
    kubectl get nodes -o wide; ip -d link show type vxlan | grep local
    kubectl get node NODE -o yaml | grep public-ip

How to fix
    Name the other interface: --iface=DEVICE (flannel), IP_AUTODETECTION_METHOD=interface=DEVICE
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
from podpath.node.links import InterfaceAddress

CATEGORIES = (
    Category.TUNNEL_ENDPOINT,
    Category.TUNNEL_CONFIGURATION,
)
NAME = "tunnel-over-nat-address"


NAT = Address.parse("10.0.2.15")
_LATER = frozenset(Address.parse(f"10.0.{number}.15") for number in range(3, 6))
"""The same of the second to fourth NIC: each has a network of its own, 10.0.(NIC + 1).0/24."""
_VIRTUALBOX = "08:00:27:"
"""How the MACs begin that VirtualBox gives."""


def check(case: Case) -> Iterator[Finding]:
    """Report it where a component says that it uses the address, or a vxlan device has it as its
    own end.
    """
    nats = {NAT, *(item.address for item in _list_later(case))}
    devices = [
        link
        for link in case.node.host.links.items
        if link.vxlan is not None and link.vxlan.local in nats
    ]
    said = find_said(case, MessageKind.NAT_ADDRESS_USED)
    used = next((link.vxlan.local for link in devices if link.vxlan is not None), NAT)
    spans: list[Span] = [message.span for message in said] + [
        link.span for link in devices if link.span is not None
    ]
    if not spans:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The overlay uses {used} as the node's address, which every VirtualBox machine "
            "has on its NAT interface."
        ),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=("No other node can reach it, and each treats it as its own.",),
        breaks=("pod traffic between nodes",),
        prevention=(
            "Name the interface of the nodes' own network in the plugin's and the kubelet's "
            "options."
        ),
        marks=(str(used),),
    )


def _list_later(case: Case) -> Iterator[InterfaceAddress]:
    """Yield the addresses of later NICs behind VirtualBox's NAT: on a card that it made, and there
    is another address that nodes can reach each other by.
    """
    host = case.node.host
    cards = {
        link.name
        for link in host.links.items
        if link.mac is not None and str(link.mac).startswith(_VIRTUALBOX)
    }
    own = [item for item in host.addresses.items if item.link in cards and item.address.family == 4]
    if len({item.link for item in own}) > 1:
        yield from (item for item in own if item.address in _LATER)

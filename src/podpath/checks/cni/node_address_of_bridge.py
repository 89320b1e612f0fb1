"""node-address-of-bridge: a plugin or the kubelet uses an internal bridge's address as the node's
address.

What it is
    A BGP peer, a tunnel's outer endpoint or a node's InternalIP is the address of docker0, br-...,
    virbr0, cni0 or a similar bridge, as a listing of a node's devices shows; or the agent's log
    says that it chose such a device.

Why it breaks
    Plugins take the node's address from the first device that fits (Calico's first-found), and that
    may be a bridge for containers or guests. Such addresses exist only within their own host: no
    other node can reach the node there, and tunnels, BGP sessions and connections to the kubelet's
    port fail.

How to confirm
    calicoctl get nodes -o wide; kubectl get nodes -o wide; ip -br addr

How to fix
    Tell the plugin which device or network to use: Calico
    IP_AUTODETECTION_METHOD=kubernetes-internal-ip or interface=NAME, flannel --iface=NAME, kubelet
    --node-ip=ADDRESS; and remove bridges that nothing uses.

References
    Calico, Configuring IP autodetection; kubelet(8)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.files import own_addresses
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.checks.stated import is_inner_bridge
from podpath.net.addresses import read_address
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_ENDPOINT, Category.ROUTE_DISTRIBUTION)
NAME = "node-address-of-bridge"
ANNOTATIONS = (
    "projectcalico.org/IPv4Address", "flannel.alpha.coreos.com/public-ip", "k3s.io/internal-ip",
)  # fmt: skip

ASK = FollowUp(
    "which address the agent announces for its node, and whether other nodes reach it",
    "calicoctl get nodes -o wide; kubectl get nodes -o wide; ip -br addr",
    "the bridge's: no other node can reach the node there",
)


def check(case: Case) -> Iterator[Finding]:
    """Report each address of a node that a listing shows on an inner bridge."""
    own = own_addresses(case)
    seen: set[str] = set()
    for text, span in _claimed(case):
        address = read_address(text.partition("/")[0])
        device, place = own.get(address, ("", None)) if address is not None else ("", None)
        if address is None or str(address) in seen or not is_inner_bridge(device):
            continue
        seen.add(str(address))
        yield _report(str(address), device, (span, *((place,) if place is not None else ())))
    missed = find_said(case, MessageKind.BGP_NOT_ESTABLISHED)
    for chosen in find_said(case, MessageKind.INNER_ADDRESS_CHOSEN):
        taken = chosen.values["address"]
        if taken not in seen:
            seen.add(taken)
            quoted = (chosen.span, *(one.span for one in missed[:1]))
            found = _report(taken, chosen.values["device"], quoted)
            yield found if missed else replace(found, certainty=0.7, asks=(ASK,))


def _report(address: str, device: str, evidence: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{address} is used as a node's address, but it belongs to {device}, a bridge "
            "inside the host."
        ),
        evidence=evidence,
        reasoning=(
            (
                "Such a bridge's address exists only within its own host, and is often the same "
                "on every host."
            ),
        ),
        breaks=("packets from other nodes to this one: BGP, tunnels, the kubelet's port",),
        prevention="Tell the plugin which device or network to use, and do not let it choose.",
        certainty=1.0,
        marks=(address, device),
    )


def _claimed(case: Case) -> Iterator[tuple[str, Span]]:
    """Yield what is taken for nodes' addresses."""
    for message in find_said(case, MessageKind.BGP_NOT_ESTABLISHED):
        for word in message.values.get("peer", "").replace(",", " ").split():
            yield word, message.span
    for node in see(case, "Node"):
        for item in node.items_at("status", "addresses"):
            if item.text_at("type") == "InternalIP":
                yield item.text_at("address"), item.line
        for name in ANNOTATIONS:
            found = node.at("metadata", "annotations", name)
            if found is not None:
                yield found.text, found.line

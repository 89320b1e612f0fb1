"""node-address-of-bridge: the address that a plugin or the kubelet takes for the node's is that of
an inner bridge.

What it is
    A peer of BGP, the outer end of a tunnel or a node's InternalIP is the address of docker0,
    br-..., virbr0, cni0 or the like, as a listing of a node's devices shows.

Why it breaks
    Plugins choose the node's address by the first device that fits (Calico's first-found), and a
    bridge for containers or guests may come first. Every host has such addresses to itself: nobody
    else reaches the node there, and tunnels, BGP sessions and the kubelet's port go nowhere.

How to confirm
    calicoctl get nodes -o wide; kubectl get nodes -o wide; ip -br addr

How to fix
    Tell the plugin which device or network is the node's: Calico
    IP_AUTODETECTION_METHOD=kubernetes-internal-ip or interface=NAME, flannel --iface=NAME, kubelet
    --node-ip=ADDRESS; and remove bridges that nobody uses.

References
    Calico, Configuring IP autodetection; kubelet(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import own_addresses
from podpath.checks.finding import Finding, Severity
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
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{address} is taken for a node's address, but it is that of {device}, a bridge "
                "inside of the host."
            ),
            evidence=(span, *((place,) if place is not None else ())),
            reasoning=(
                (
                    "Such a bridge's address exists in its own host only, and often the same on "
                    "each host."
                ),
            ),
            breaks=("what other nodes send to this one: BGP, tunnels, the kubelet's port",),
            prevention="Tell the plugin the node's device or network, and do not let it choose.",
            certainty=1.0,
            marks=(str(address), device),
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

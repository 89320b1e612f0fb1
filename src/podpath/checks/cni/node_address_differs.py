"""node-address-differs: Calico knows a node by another address than the cluster does, and its BGP
session fails.

What it is
    A node's object has one address for Calico (CalicoNodeIP, spec.bgp.ipv4Address, the annotation
    projectcalico.org/IPv4Address) and another as its InternalIP, and the BGP session to the first
    is not established, or connections from the second are refused as those of an unknown address.

Why it breaks
    Calico takes the first address that it finds unless told otherwise: that of another card, a
    public one, or a virtual one of keepalived. BIRD of the other nodes connects there and gets no
    answer, so routes to that node's pods, and tunnels to it, are missing.

How to confirm
    calicoctl get nodes -o wide; kubectl get nodes -o wide; calicoctl node status; ip -br addr

How to fix
    Tell Calico which address is the node's: IP_AUTODETECTION_METHOD=kubernetes-internal-ip (or
    can-reach=ADDRESS, interface=NAME, skip-interface=NAME) in the DaemonSet calico-node, or
    nodeAddressAutodetectionV4 in the operator's Installation.

References
    Calico, Configuring IP autodetection; Calico, Node resource
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.said import find_said
from podpath.net.addresses import Address, read_address
from podpath.net.messages import Message, MessageKind
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.ROUTE_DISTRIBUTION, Category.TUNNEL_ENDPOINT)
NAME = "node-address-differs"
LIKELY = 0.8
"""The session may fail for another reason: nothing says that the address is not reached."""
ANNOTATION = "projectcalico.org/IPv4Address"
_UNREACHED = ("unreachable", "no route")
"""What BIRD says of an address that it does not reach; silence may be a firewall's, at port 179."""
_UNKNOWN = "unknown address"


def check(case: Case) -> Iterator[Finding]:
    """Report the first node with two addresses of which Calico's has no session."""
    said = find_said(case, MessageKind.BGP_NOT_ESTABLISHED)
    for node in see(case, "Node") if said else ():
        chosen, internal = _find_chosen(node), _find_internal(node)
        if chosen is None or internal is None or _read(chosen) == _read(internal):
            continue
        for message in said:
            peer = read_address(message.values.get("peer", ""))
            foreign = _UNKNOWN in message.span.text and peer == _read(internal)
            if peer is not None and (foreign or peer == _read(chosen)):
                yield _report(
                    node, chosen, internal, message, sure=foreign or _is_unreached(message)
                )
                return


def _is_unreached(message: Message) -> bool:
    error = message.values.get("error", "").casefold()
    return any(word in error for word in _UNREACHED)


def _read(item: Tree) -> Address | None:
    return read_address(item.text.partition("/")[0])


def _find_chosen(node: ObjectSightings) -> Tree | None:
    """Return the address that Calico has for a node."""
    listed = _find_typed(node, "CalicoNodeIP")
    told = node.at("spec", "bgp", "ipv4Address") or node.at("metadata", "annotations", ANNOTATION)
    return listed or told


def _find_internal(node: ObjectSightings) -> Tree | None:
    return _find_typed(node, "InternalIP")


def _find_typed(node: ObjectSightings, sort: str) -> Tree | None:
    """Return the first IPv4 address of a type, of the node's object or of Calico's own."""
    for place in ("spec", "status"):
        for item in node.items_at(place, "addresses"):
            address = item.at("address")
            read = None if address is None else _read(address)
            if item.text_at("type") == sort and read is not None and read.family == 4:
                return address
    return None


def _report(
    node: ObjectSightings, chosen: Tree, internal: Tree, message: Message, *, sure: bool
) -> Finding:
    taken, known = _read(chosen), _read(internal)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Calico knows node {node.title} by {taken}, which is not its InternalIP {known}, and "
            "has no BGP session with it."
        ),
        evidence=(message.span, chosen.line, internal.line),
        reasoning=("Other nodes connect to the address that Calico has for a node.",),
        breaks=(f"pods of {node.title}, from other nodes",),
        prevention="Set IP_AUTODETECTION_METHOD, and do not let Calico take what it finds first.",
        certainty=1.0 if sure else LIKELY,
        marks=(str(taken), str(known)),
        asks=()
        if sure
        else (
            FollowUp(
                f"which address of {node.title} the other nodes reach",
                f"ping -c 2 {taken}; ping -c 2 {known}; nc -zv {taken} 179   # on another node",
                f"{known} alone: Calico took the wrong one; both: look at port 179",
            ),
        ),
    )

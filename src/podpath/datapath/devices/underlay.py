"""What is between nodes: a frame that leaves one of them comes in at another.

The evidence shows nothing of the switches, routers and clouds there. They are taken to do their
part, and every step over them says so.
"""

from __future__ import annotations

from podpath.datapath.devices.frame_length import drop_longer
from podpath.datapath.reasons.devices import CrossedWire
from podpath.datapath.tracing.frames import is_group, with_macs
from podpath.datapath.tracing.paths import RECEIVE, Next
from podpath.datapath.vocabulary import BoundaryName, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.offload import compute_checksums
from podpath.datapath.walk.skb import Skb, forget_connection
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address, Mac
from podpath.net.provenance import Basis, Inferred
from podpath.node.cluster import is_followed
from podpath.node.links import Link
from podpath.node.node import NetnsRole
from podpath.node.wires import Wire, WireEnd

FUNCTION = "net/core/dev.c:dev_hard_start_xmit v6.12"
DELIVERS = Inferred(Basis.BEYOND, "the wire between the nodes is assumed to deliver what is sent")
KNOWS_PODS = Inferred(
    Basis.GUESSED,
    "no node has a route to the pods of another: the network between them is assumed to have them",
    ask="aws ec2 describe-route-tables (gcloud compute routes list, az network route-table list, "
    "or the routers' ip route): does each node's range of pods lead to that node?",
)


def cross(walk: Walk, skb: Skb, link: Link) -> Next:
    """Carry a frame to the node that it is for; None where it is for none of the model's."""
    found = _find_end(walk, skb, link)
    if found is None:
        return None
    wire, end = found
    kind = _unfollowed(walk, end)
    if kind:
        return boundary(walk, skb, BoundaryName.OTHER_NODE, end.node, kind)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.HOP,
        CrossedWire(link.name, end.node, end.link, wire.prefix),
        link=link.name,
        rests_on=KNOWS_PODS if wire.pods else DELIVERS,
    )
    before = skb.packet
    _enter(walk, skb, end)
    port = skb.link
    if wire.prefix is None and port is not None:
        own = walk.engine.namespace(end.netns).mac(port)
        skb.packet = with_macs(before, None, own)
    if port is None or skb.frame_length <= port.mtu:
        return RECEIVE
    rests_on = port.mtu_inferred or _certainty(link, port)
    return drop_longer(walk, skb, port, StageName.DEVICE_RECEIVE, rests_on=rests_on)


def _unfollowed(walk: Walk, end: WireEnd) -> str:
    """Return what decides on another node in the kernel's place; empty where nothing does, and for
    the node at hand.
    """
    netns = walk.engine.node.namespaces[end.netns]
    home = walk.engine.node.home_of(netns)
    if not netns.node or is_followed(home):
        return ""
    if home.cilium is not None:
        return "Cilium"
    return "Open vSwitch"


def others_on(walk: Walk, netns: str, link: str) -> tuple[WireEnd, ...]:
    """Return the ends of other nodes that hear what is sent on a device."""
    subnets = [wire for wire in walk.engine.wires.get((netns, link), ()) if wire.prefix is not None]
    return tuple(end for wire in subnets for end in wire.others(netns))


def _find_end(walk: Walk, skb: Skb, link: Link) -> tuple[Wire, WireEnd] | None:
    """Return where a frame goes: to who has its MAC on the subnet, or, over routers, to who has its
    address.
    """
    wires = walk.engine.wires.get((skb.netns.name, link.name), ())
    dmac = skb.packet.dmac
    ends = [(wire, end) for wire in wires for end in wire.others(skb.netns.name)]
    if dmac is not None and not is_group(dmac):
        for wire, end in ends:
            if wire.prefix is not None and _has_mac(walk, end, dmac):
                return wire, end
    for wire, end in ends:
        if wire.prefix is None and _is_known(walk, wire, end, skb.packet.dst):
            return wire, end
    return None


def _is_known(walk: Walk, wire: Wire, end: WireEnd, address: Address) -> bool:
    """Tell whether the routers of a wire bring what is for an address to an end."""
    if not wire.pods:
        return walk.engine.namespace(end.netns).owns(address)
    namespaces = walk.engine.node.namespaces
    node = namespaces[end.netns].node
    for netns in namespaces.values():
        is_pod = netns.role == NetnsRole.POD and netns.node == node
        if is_pod and walk.engine.namespace(netns.name).owns(address):
            return True
    return False


def _has_mac(walk: Walk, end: WireEnd, mac: Mac) -> bool:
    """Tell whether a frame for a MAC is for an end: its device's, or that of the bridge above
    it.
    """
    namespace = walk.engine.namespace(end.netns)
    link = namespace.link(end.link)
    master = namespace.links.get(link.master) if link.master is not None else None
    return mac == namespace.mac(link) or (master is not None and mac == namespace.mac(master))


def _enter(walk: Walk, skb: Skb, end: WireEnd) -> None:
    """Move the packet to another node: nothing comes with it but its bytes."""
    skb.netns = walk.engine.node.namespaces[end.netns]
    skb.link = walk.engine.namespace(end.netns).link(end.link)
    forget_connection(skb)
    compute_checksums(skb)
    skb.mark, skb.hashed = 0, None
    skb.iif = skb.oif = skb.physin = skb.physout = skb.port = skb.uid = skb.vlan = None
    skb.longest = 0
    skb.prerouted = skb.bridged = skb.looped = skb.by_kernel = False


def _certainty(link: Link, port: Link) -> Inferred:
    """Say how it is known that a device takes no frame above its MTU: a veth drops it, hardware may
    take it.
    """
    if port.kind == link.kind == "veth":
        return DELIVERS
    why = "a device is assumed to receive no frame longer than it may send"
    return Inferred(Basis.GUESSED, why)

"""From a route to the wire: POSTROUTING, the MTU, the next hop's MAC, the device."""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.bridging.solicitation import hold_against_filters
from podpath.datapath.cilium import programs as cilium
from podpath.datapath.icmp import reject
from podpath.datapath.neighbors.neighbour import (
    FUNCTION,
    Resolution,
    resolve,
)
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons.devices import NoDevice
from podpath.datapath.reasons.routes import Fragmented, MtuExceeded
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.frames import BROADCAST, with_macs
from podpath.datapath.tracing.paths import EMIT, Next
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import BoundaryName, DropCause, Hook, StageName, StepDecision
from podpath.datapath.walk.learned import NeighbourKey
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.pieces import send_in_pieces
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk

FRAGMENT = "net/ipv4/ip_output.c:ip_fragment v6.12"


def postrouting(walk: Walk, skb: Skb) -> Next:
    """Run POSTROUTING."""
    ended = pass_hook(walk, skb, Hook.POSTROUTING)
    return None if isinstance(ended, Accept) else ended


def check_mtu(walk: Walk, skb: Skb) -> Next:
    """Refuse what neither fits nor may be fragmented; what was forwarded passed this before
    FORWARD.
    """
    packet, destination = skb.packet, skb.destination
    if destination is None or (skb.frame_length <= destination.mtu and not skb.longest):
        return None
    if skb.ignore_df or not packet.dont_fragment:
        return _fragment(walk, skb, destination)
    reason = MtuExceeded(packet.length, destination.mtu)
    walk.trace.step(
        StageName.FRAGMENTATION,
        skb,
        FRAGMENT,
        packet,
        StepDecision.REJECT,
        reason,
        spans=destination.spans,
        rests_on=destination.mtu_inferred,
    )
    if skb.iif is None:
        return Rejected(
            netns=skb.netns.name,
            reason=drop_reason(DropCause.TOO_BIG, walk.engine.node.kernel),
            answer="EMSGSIZE",
        )
    return reject(walk, skb, DropCause.TOO_BIG, "icmp-frag-needed")


def _fragment(walk: Walk, skb: Skb, destination: Destination) -> Next:
    """Send in fragments what does not fit, or came in such."""
    packet = skb.packet
    if packet.family == 6:
        return boundary(walk, skb, BoundaryName.FRAGMENTS, packet.length, destination.mtu)
    length = skb.frame_length
    send_in_pieces(skb, destination.mtu)
    if not skb.pieces:
        return None
    reason = Fragmented(length, len(skb.pieces), max(skb.pieces))
    walk.trace.step(
        StageName.FRAGMENTATION,
        skb,
        FRAGMENT,
        packet,
        StepDecision.PASS,
        reason,
        spans=destination.spans,
        rests_on=destination.mtu_inferred,
    )
    return None


def find_neighbour(walk: Walk, skb: Skb) -> Next:
    """Find the MAC of the next hop; a packet whose next hop does not answer ends here."""
    link, destination = skb.oif, skb.destination
    if link is None or destination is None:
        walk.trace.step(
            StageName.NEIGHBOUR, skb, FUNCTION, skb.packet, StepDecision.DROP, NoDevice()
        )
        return Dropped(
            netns=skb.netns.name,
            reason=drop_reason(DropCause.OUTPUT_NO_ROUTE, walk.engine.node.kernel),
        )
    if link.name == "lo":
        return None
    namespace = walk.engine.namespace(skb.netns.name)
    before = skb.packet
    if destination.type in {"broadcast", "multicast"}:
        skb.packet = with_macs(before, namespace.mac(link), BROADCAST)
        return None
    nexthop = destination.gateway or before.dst
    asked = NeighbourKey(namespace.name, link.name, nexthop)
    found = resolve(walk, namespace, link, destination, before)
    found = hold_against_filters(walk, namespace, link, nexthop, found)
    if found.unseen is not None:
        return boundary(
            walk,
            skb,
            BoundaryName.UNSEEN_NAMESPACE,
            found.unseen,
            nexthop,
        )
    if found.sharing is not None:
        return boundary(walk, skb, BoundaryName.MACVLAN, found.sharing)
    if found.failed:
        return _unreachable(walk, skb, found, asked)
    walk.learned.neighbours.resolved[asked] = True
    skb.routed_early = False
    skb.packet = with_macs(before, namespace.mac(link), found.mac)
    walk.trace.step(
        StageName.NEIGHBOUR,
        skb,
        FUNCTION,
        before,
        StepDecision.RESOLVE,
        found.reason,
        spans=found.spans,
        link=link.name,
        rests_on=found.rests_on,
    )
    return None


def _unreachable(
    walk: Walk, skb: Skb, found: Resolution, asked: NeighbourKey
) -> Dropped | Rejected:
    walk.trace.step(
        StageName.NEIGHBOUR,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.REJECT,
        found.reason,
        spans=found.spans,
        rests_on=found.rests_on,
    )
    if skb.failed_at == asked:
        # An error about what waited for this neighbor waits for it, too, and is thrown away with
        # the rest of the queue (net/core/neighbour.c:neigh_invalidate v6.12).
        reason = drop_reason(DropCause.NEIGHBOUR_PURGED, walk.engine.node.kernel)
        return Dropped(netns=skb.netns.name, reason=reason)
    skb.failed_at = asked
    ended = reject(walk, skb, DropCause.NEIGHBOUR_FAILED, "icmp-host-unreachable")
    if skb.iif is None and isinstance(ended, Rejected):
        # The error goes to the own host, over lo, and tells the socket
        # (net/ipv4/route.c:ipv4_link_failure v6.12).
        return replace(ended, answer="EHOSTUNREACH")
    return ended


def run_egress_programs(walk: Walk, skb: Skb) -> Next:
    """Run the BPF programs at the device's tc egress: Cilium's masquerade."""
    if walk.engine.cilium is not None:
        return cilium.transmit(walk, skb)
    return None


def choose_device(walk: Walk, skb: Skb) -> Next:
    """Return the frame to the device that the route names."""
    _ = walk
    skb.link = skb.oif
    return EMIT

"""br_netfilter: the IP hooks that a bridged packet runs through, and the routing of one whose
destination they changed.

`net/bridge/br_netfilter_hooks.c v6.12`: br_nf_pre_routing, br_nf_pre_routing_finish (bridged DNAT),
br_nf_forward, br_nf_post_routing. The devices that rules see are the bridge for -i and -o, the
ports for `-m physdev`.
"""

from __future__ import annotations

from podpath.datapath.bridging.solicitation import hold_against_filters
from podpath.datapath.bridging.switches import KEYS, switch
from podpath.datapath.icmp import reject
from podpath.datapath.neighbors.neighbour import resolve
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.nftables import netdev
from podpath.datapath.nftables.registration import FAMILIES as NATIVE
from podpath.datapath.reasons import bridges
from podpath.datapath.routing.input import InputRoute, route_input
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import BoundaryName, DropCause, Hook, StageName, StepDecision
from podpath.datapath.walk import settings
from podpath.datapath.walk.learned import NeighbourKey
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb, input_flow
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Known
from podpath.node.links import Link

PREROUTING = "net/bridge/br_netfilter_hooks.c:br_nf_pre_routing v6.12"
FINISH = "net/bridge/br_netfilter_hooks.c:br_nf_pre_routing_finish v6.12"
_REFUSED = frozenset(
    {
        DropCause.REVERSE_PATH,
        DropCause.LOCAL_SOURCE,
        DropCause.INVALID_SOURCE,
        DropCause.INVALID_DESTINATION,
        DropCause.LOCALNET,
    }
)
"""Causes for which `ip_route_input` fails. For the others it gives a route that answers with the
error: the frame goes up for that, so a translated frame needs forwarding even where it would stay
on its bridge (seen on 6.18).
"""


def prerouting(walk: Walk, skb: Skb) -> Next:
    """Run PREROUTING for a frame that came in on a port, and route it where DNAT sends it
    elsewhere.
    """
    namespace, bridge = walk.engine.namespace(skb.netns.name), skb.link
    if bridge is None or not _has_rules(namespace, skb.packet.family):
        return None
    if not _is_on(walk, skb, namespace, bridge):
        skb.physin, skb.bridged = skb.physin, False
        return None
    skb.bridged, skb.iif, skb.oif = True, bridge, None
    before = skb.packet.dst
    ended = pass_hook(walk, skb, Hook.PREROUTING)
    if not isinstance(ended, Accept):
        return ended
    skb.prerouted = True
    if skb.packet.dst == before:
        return None
    return _redirect(walk, skb, namespace, bridge)


def forward(walk: Walk, skb: Skb) -> Next:
    """Run FORWARD between two ports."""
    if not skb.bridged:
        return None
    skb.physout, skb.iif, skb.oif = skb.port, skb.link, skb.link
    ended = pass_hook(walk, skb, Hook.FORWARD)
    return None if isinstance(ended, Accept) else ended


def postrouting(walk: Walk, skb: Skb) -> Next:
    """Run POSTROUTING on the way out of a port; rules there see no device that it came in on
    (`net/bridge/br_netfilter_hooks.c:br_nf_post_routing v6.12`).
    """
    if not skb.bridged:
        return None
    came_in, skb.iif = skb.iif, None
    ended = pass_hook(walk, skb, Hook.POSTROUTING)
    skb.iif = came_in
    return None if isinstance(ended, Accept) else ended


def sees(walk: Walk, skb: Skb, port: Link) -> bool:
    """Tell whether br_netfilter has what goes out of a port, with rules to run or without."""
    namespace = walk.engine.namespace(skb.netns.name)
    if port.master is None:
        return False
    fact = switch(walk, namespace, namespace.link(port.master), skb.packet.family)
    return bool(settings.integer(walk.choices.resolve(fact)))


def _has_rules(namespace: Namespace, family: int) -> bool:
    """Tell whether there is anything that br_netfilter could run."""
    netfilter = namespace.netns.netfilter.get(4 if family == 4 else 6)
    if any(
        table.family in NATIVE[4 if family == 4 else 6] for table in namespace.netns.nftables.items
    ):
        return True
    return netfilter is not None and (bool(netfilter.tables) or not netfilter.complete)


def _is_on(walk: Walk, skb: Skb, namespace: Namespace, bridge: Link) -> bool:
    fact = switch(walk, namespace, bridge, skb.packet.family)
    if settings.integer(walk.choices.resolve(fact)):
        return True
    note = fact.because if isinstance(fact, Known) else ""
    reason = bridges.HiddenFromNetfilter(bridge.name, KEYS[skb.packet.family], note)
    spans = settings.span_of(fact)
    walk.trace.step(
        StageName.BRIDGE_PREROUTING,
        skb,
        PREROUTING,
        skb.packet,
        StepDecision.BYPASS,
        reason,
        spans=spans,
        link=bridge.name,
    )
    return False


def _redirect(walk: Walk, skb: Skb, namespace: Namespace, bridge: Link) -> Next:
    """Send a frame whose destination was translated to where it belongs now: over the same bridge,
    or up to be routed.
    """
    packet = skb.packet
    decided = route_input(walk.choices, namespace, input_flow(skb, bridge), bridge)
    destination = decided.destination
    if decided.cause is not None and _refuses(decided.cause, packet.family):
        return _refuse(walk, skb, decided, decided.cause)
    if destination is not None and destination.link is bridge and decided.path == "forward":
        found = resolve(walk, namespace, bridge, destination, packet)
        found = hold_against_filters(walk, namespace, bridge, packet.dst, found)
        if found.unseen is not None:
            return boundary(walk, skb, BoundaryName.UNSEEN_NAMESPACE, found.unseen, packet.dst)
        if found.failed or found.mac is None:
            walk.trace.step(
                StageName.NEIGHBOUR,
                skb,
                FINISH,
                packet,
                StepDecision.REJECT,
                found.reason,
                spans=found.spans,
            )
            return reject(walk, skb, DropCause.NEIGHBOUR_FAILED, "icmp-host-unreachable")
        skb.packet = with_macs(packet, packet.smac, found.mac)
        ended = _detour(walk, skb, namespace, bridge)
        if ended is not None:
            return ended
        stays = bridges.StaysOnBridge(packet.dst, bridge.name)
        walk.trace.step(
            StageName.BRIDGE_PREROUTING, skb, FINISH, packet, StepDecision.BRIDGE, stays
        )
        return None
    skb.routed_early = packet.family == 6
    skb.packet = with_macs(packet, packet.smac, namespace.mac(bridge))
    walk.trace.step(
        StageName.BRIDGE_PREROUTING,
        skb,
        FINISH,
        packet,
        StepDecision.ROUTE,
        bridges.RoutedAfterTranslation(packet.dst),
    )
    return None


def _refuses(cause: DropCause, family: int) -> bool:
    """Tell whether routing ends the frame at once. That IPv6 does not forward, it finds out only
    where it would (`net/ipv6/ip6_output.c:ip6_forward v6.12`).
    """
    if family == 4:
        return cause in _REFUSED
    return cause is not DropCause.FORWARDING_OFF


def _detour(walk: Walk, skb: Skb, namespace: Namespace, bridge: Link) -> Next:
    """Let a frame pass the bridge device itself, with what sees it there: the first to a next hop,
    and each to one that is known by hearsay.

    Only a neighbor that was asked itself (NUD_CONNECTED) has an Ethernet header to take from the
    cache. That of hearsay is asked after some seconds, so that what is sent again no longer passes.
    """
    neighbours = walk.learned.neighbours
    key = NeighbourKey(namespace.name, bridge.name, skb.packet.dst)
    if key in neighbours.heard or key not in neighbours.resolved:
        neighbours.resolved[key] = True
        reason = bridges.SentWhileResolving(bridge.name, skb.packet.dst)
        walk.trace.step(
            StageName.DEVICE_TRANSMIT,
            skb,
            FINISH,
            skb.packet,
            StepDecision.BRIDGE,
            reason,
            link=bridge.name,
        )
        ended = netdev.egress(walk, skb, bridge)
        if isinstance(ended, Dropped):
            return boundary(walk, skb, BoundaryName.BRIDGE_DETOUR)
        return ended
    return None


def _refuse(walk: Walk, skb: Skb, decided: InputRoute, cause: DropCause) -> Dropped:
    reason = decided.check.reason if decided.check.reason is not None else decided.reason
    stage = StageName.RP_FILTER if decided.check.cause else StageName.BRIDGE_PREROUTING
    if reason is not None:
        walk.trace.step(
            stage, skb, FINISH, skb.packet, StepDecision.DROP, reason, spans=decided.spans
        )
    if skb.packet.family == 6:  # whatever the cause (br_nf_pre_routing_finish_ipv6)
        cause = DropCause.BRIDGE_HELD
    return Dropped(netns=skb.netns.name, reason=drop_reason(cause, walk.engine.node.kernel))

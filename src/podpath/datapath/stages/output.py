"""Local output: what a process of the node sends, from its socket to the device."""

from __future__ import annotations

from podpath.datapath.cilium import programs as cilium
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.reasons import routes
from podpath.datapath.routing import reroute
from podpath.datapath.routing.output import FUNCTION, OutputRoute, route_output
from podpath.datapath.routing.segment_size import offered_mss
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.frames import with_ttl
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import BoundaryName, Hook, StageName, StepDecision
from podpath.datapath.walk import settings
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import TO_MANY, Skb, output_flow
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import USUAL_TTL, Packet
from podpath.net.provenance import Known
from podpath.node.links import Link

CIRCULAR = "drivers/net/vxlan/vxlan_core.c:vxlan_xmit_one v6.12"
REROUTE = "net/ipv4/netfilter.c:ip_route_me_harder v6.12"


def connect(walk: Walk, skb: Skb) -> Next:
    """Run what sits on the socket itself: Cilium translates services when a process connects."""
    if walk.engine.cilium is not None:
        return cilium.connect(walk, skb)
    return None


def route(walk: Walk, skb: Skb) -> Next:
    """Find the way and, where the sender left it open, the source address."""
    packet = skb.packet
    if packet.family == 6 and packet.dst.is_link_local and skb.inner is None:
        return boundary(walk, skb, BoundaryName.LINK_LOCAL, packet.dst)
    source = None if packet.src.is_unspecified else packet.src
    decided = _look_up(walk, skb, source)
    if decided.destination is None:
        return _fail(walk, skb, decided)
    if skb.tunnel is not None:
        ended = _check_outer(walk, skb, skb.tunnel, decided.destination)
        if ended is not None:
            return ended
    if source is None and decided.source is not None:
        skb.packet = packet._replace(src=decided.source)
    _take(skb, decided)
    if skb.packet.ttl == USUAL_TTL and not skb.own_ttl:
        skb.packet = with_ttl(skb.packet, _first_ttl(skb))
    if skb.packet.may_offer_mss and not skb.packet.mss and skb.inner is None:
        offered = offered_mss(decided.destination, packet.family)
        skb.packet = skb.packet._replace(mss=offered)
    _record(walk, skb, decided, StageName.ROUTE_OUTPUT)
    return None


def _look_up(walk: Walk, skb: Skb, source: Address | None) -> OutputRoute:
    """Ask the routes for the way; no stream may begin to a broadcast or group address."""
    namespace, flow = walk.engine.namespace(skb.netns.name), output_flow(skb, source)
    decided = route_output(walk.choices, namespace, flow, any_source=_has_any_source(skb))
    kind = decided.destination.type if decided.destination is not None else ""
    if kind in TO_MANY and _is_connecting(skb):
        refused = routes.NoStreamToMany(skb.packet.dst, kind)
        return OutputRoute(error="ENETUNREACH", reason=refused, spans=decided.spans)
    return decided


def _check_outer(walk: Walk, skb: Skb, tunnel: Link, destination: Destination) -> Next:
    """End an outer packet whose route leads into its own tunnel, or to the host itself."""
    packet = skb.packet
    if destination.link is tunnel:
        reason, decision = routes.IntoOwnTunnel(packet.dst, tunnel.name), StepDecision.DROP
        walk.trace.step(
            StageName.ROUTE_OUTPUT, skb, CIRCULAR, packet, decision, reason, link=tunnel.name
        )
        return Dropped(netns=skb.netns.name, reason="IP_OUTNOROUTES")
    if tunnel.kind == "vxlan" and destination.type == "local":
        # `encap_bypass_if_local`: the outer packet is never sent
        return boundary(walk, skb, BoundaryName.TUNNEL_TO_SELF, tunnel.name, packet.dst)
    return None


def _is_connecting(skb: Skb) -> bool:
    """Tell whether a socket's `connect` sends this to begin a stream (`tcp_v4_connect`,
    `tcp_v6_connect`).
    """
    begins = skb.packet.flags & (protocols.SYN | protocols.ACK) == protocols.SYN
    own = skb.inner is None and not skb.by_kernel
    return begins and own and skb.packet.protocol == protocols.TCP


def _has_any_source(skb: Skb) -> bool:
    """Tell whether routing takes a source that is none of the host's: of what the kernel or a
    transparent socket sends, but for ICMP (`net/ipv4/icmp.c:icmp_reply v6.12`,
    `net/ipv4/icmp.c:icmp_route_lookup v6.12`).
    """
    packet = skb.packet
    if skb.by_kernel:
        return packet.protocol != protocols.ICMP
    return skb.uid is None or skb.transparent or _is_reset6(packet)


def _is_reset6(packet: Packet) -> bool:
    """Tell whether no socket's `connect` made an IPv6 packet, though a socket owns it."""
    return packet.family == 6 and bool(packet.flags & protocols.RST)


def _first_ttl(skb: Skb) -> int:
    """Return the TTL, or hop limit, that a packet of this host begins with
    (`include/net/route.h:ip4_dst_hoplimit v6.12`, `net/ipv6/output_core.c:ip6_dst_hoplimit v6.12`).
    """
    device = skb.oif.name if skb.oif is not None else settings.ALL
    if skb.packet.family == 4:
        key = "net.ipv4.ip_default_ttl"
    else:
        key = f"net.ipv6.conf.{device}.hop_limit"
    fact = skb.netns.sysctls.get(key)
    if isinstance(fact, Known):
        return settings.integer(fact.value, USUAL_TTL)
    return USUAL_TTL


def _take(skb: Skb, decided: OutputRoute) -> None:
    skb.destination = decided.destination
    skb.oif = decided.destination.link if decided.destination is not None else None


def _record(walk: Walk, skb: Skb, decided: OutputRoute, stage: StageName) -> None:
    destination, found = decided.destination, decided.found
    if destination is None:
        return
    name = destination.link.name if destination.link is not None else None
    near = found.near if found is not None else ()
    rests_on = found.rests_on if found is not None else None
    reason = routes.RoutedOut(skb.packet.dst, name, destination.gateway)
    function = FUNCTION if stage is StageName.ROUTE_OUTPUT else REROUTE
    walk.trace.step(
        stage,
        skb,
        function,
        skb.packet,
        StepDecision.ROUTE,
        reason,
        spans=destination.spans,
        near=near,
        link=name,
        rests_on=rests_on,
    )


def _fail(walk: Walk, skb: Skb, decided: OutputRoute) -> Rejected:
    if decided.reason is not None:
        walk.trace.step(
            StageName.ROUTE_OUTPUT,
            skb,
            FUNCTION,
            skb.packet,
            StepDecision.REJECT,
            decided.reason,
            spans=decided.spans,
        )
    return Rejected(netns=skb.netns.name, reason="IP_OUTNOROUTES", answer=decided.error)


def output_hook(walk: Walk, skb: Skb) -> Next:
    """Run OUTPUT, and route again what it changed."""
    ended = pass_hook(walk, skb, Hook.OUTPUT)
    if not isinstance(ended, Accept):
        return ended
    if not ended.reroute:
        return paths.TRANSMIT
    decided = reroute(walk, skb)
    if decided.destination is None:
        return _fail(walk, skb, decided)
    _take(skb, decided)
    _record(walk, skb, decided, StageName.REROUTE)
    return paths.TRANSMIT


def leave_by_port(_: Walk, skb: Skb) -> Next:
    """Put a reset on the bridge port that its cause came in by, past the bridge and its hooks."""
    skb.link = skb.physin
    return paths.EMIT

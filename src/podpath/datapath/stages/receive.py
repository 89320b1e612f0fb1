"""From the wire to a decision: the device's receive handler, the MAC, PREROUTING and input
routing.
"""

from __future__ import annotations

from podpath.datapath import icmp
from podpath.datapath.cilium import programs as cilium
from podpath.datapath.devices import macvlan, openvswitch
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.nftables import netdev
from podpath.datapath.openflow import switch
from podpath.datapath.reasons import devices, routes
from podpath.datapath.routing.input import FUNCTION, InputRoute, route_input
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.routing.validation import FUNCTION as VALIDATION
from podpath.datapath.routing.validation import SourceCheck
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.frames import BROADCAST, is_group, is_symbolic
from podpath.datapath.tracing.paths import Next
from podpath.datapath.tracing.trace import Dropped, Rejected
from podpath.datapath.vocabulary import (
    BoundaryName,
    DropCause,
    Hook,
    PacketType,
    StageName,
    StepDecision,
)
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.skb import Skb, input_flow
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Mac
from podpath.node.links import Link

DEVICE = "net/core/dev.c:__netif_receive_skb_core v6.12"
IP = "net/ipv4/ip_input.c:ip_rcv_core v6.12"
IP6 = "net/ipv6/ip6_input.c:ip6_rcv_core v6.12"


def receive_device(walk: Walk, skb: Skb) -> Next:
    """Take a frame off a device: its BPF programs and receive handler (bridge, bond, Open vSwitch)
    come before IP.
    """
    link = skb.link
    if link is None:
        return None
    packet = skb.packet
    walk.trace.step(
        StageName.DEVICE_RECEIVE,
        skb,
        DEVICE,
        packet,
        StepDecision.RECEIVE,
        devices.ReceivedOn(link.name),
        link=link.name,
    )
    if skb.looped:
        return None
    namespace = walk.engine.namespace(skb.netns.name)
    if not link.up:
        walk.trace.step(
            StageName.DEVICE_RECEIVE,
            skb,
            DEVICE,
            packet,
            StepDecision.DROP,
            devices.LinkDown(link.name),
            link=link.name,
        )
        return Dropped(
            netns=skb.netns.name, reason=drop_reason(DropCause.DEVICE_DOWN, walk.engine.node.kernel)
        )
    if walk.engine.cilium is not None:
        turned = cilium.receive(walk, skb, link)
        if turned is not None:
            return turned
    turned = netdev.ingress(walk, skb, link)
    if turned is not None:
        return turned
    if macvlan.hand_up(walk, skb, link):
        return receive_device(walk, skb)
    if (
        link.master is not None
        or link.bond_slave_of is not None
        or openvswitch.is_taken(walk.engine.node, link)
    ):
        return _hand_to_master(walk, skb, namespace, link)
    return _classify(walk, skb, namespace, link)


def _hand_to_master(walk: Walk, skb: Skb, namespace: Namespace, link: Link) -> Next:
    """Run the receive handler of an enslaved device (`rx_handler`): its master has the frame before
    IP sees it.
    """
    if (
        openvswitch.bridge_of(walk.engine.node, link) is not None
        or link.master == openvswitch.SYSTEM
    ):
        received = switch.receive if switch.decides(walk, link) else openvswitch.receive
        return received(walk, skb, link)
    if link.master is None:
        return _classify(walk, skb, namespace, link)
    master = namespace.link(link.master)
    if master.kind == "vrf":
        return boundary(walk, skb, BoundaryName.VRF)
    if (
        master.kind == "bridge"
        or (not master.kind and link.port is not None)
        or master.bridge is not None
    ):
        skb.physin = skb.physout = skb.port = None
        return paths.BRIDGE
    reason = devices.HandedToMaster(link.name, master.name)
    walk.trace.step(
        StageName.DEVICE_RECEIVE,
        skb,
        DEVICE,
        skb.packet,
        StepDecision.HAND_ON,
        reason,
        link=master.name,
    )
    skb.link = master
    return _classify(walk, skb, namespace, master)


def _classify(walk: Walk, skb: Skb, namespace: Namespace, link: Link) -> Next:
    """Tell by the destination MAC whether the frame is for this host (`eth_type_trans`), and refuse
    it where it is not.
    """
    skb.iif = link
    skb.oif = None
    dmac = skb.packet.dmac
    if dmac is None or addressed_to(namespace, link, dmac):
        skb.pkt_type = PacketType.HOST
        return None
    if is_group(dmac):
        skb.pkt_type = PacketType.BROADCAST if dmac == BROADCAST else PacketType.MULTICAST
        return None
    skb.pkt_type = PacketType.OTHERHOST
    reason = devices.FrameForOther(dmac, link.name, namespace.mac(link))
    walk.trace.step(
        StageName.IP_RECEIVE, skb, IP, skb.packet, StepDecision.DROP, reason, link=link.name
    )
    return Dropped(
        netns=skb.netns.name, reason=drop_reason(DropCause.OTHER_HOST, walk.engine.node.kernel)
    )


def addressed_to(namespace: Namespace, link: Link, dmac: Mac) -> bool:
    """Tell whether a frame for a MAC is for a device; a real one may be that of a device whose MAC
    is not in evidence.
    """
    return dmac == namespace.mac(link) or (
        link.mac is None and not is_symbolic(dmac) and not is_group(dmac)
    )


def prerouting(walk: Walk, skb: Skb) -> Next:
    """Run PREROUTING, once: after br_netfilter did, `ip_sabotage_in` skips it."""
    skb.given = None  # `skb_orphan` of ip_rcv_core
    refused = _refuse_address(walk, skb) if skb.packet.family == 6 else None
    if refused is not None:
        return refused
    if skb.prerouted:
        skb.prerouted = False
        return None
    before = skb.packet.dst
    ended = pass_hook(walk, skb, Hook.PREROUTING)
    if skb.packet.dst != before:
        skb.looped = False  # the route that it brought over lo is dropped (nf_nat_ipv4_pre_routing)
    return None if isinstance(ended, Accept) else ended


def _refuse_address(walk: Walk, skb: Skb) -> Dropped | None:
    """Refuse addresses that no packet of IPv6 may have on a wire, before any hook
    (`net/ipv6/ip6_input.c:ip6_rcv_core v6.12`).
    """
    link, packet = skb.iif, skb.packet
    if link is None or link.name == "lo":
        return None
    loopback = next((each for each in (packet.src, packet.dst) if each.is_loopback), None)
    if loopback is None and not packet.src.is_multicast:
        return None
    reason: routes.LoopbackFromWire | routes.MartianSource = routes.MartianSource(packet.src)
    if loopback is not None:
        reason = routes.LoopbackFromWire(loopback, link.name)
    walk.trace.step(
        StageName.IP_RECEIVE, skb, IP6, packet, StepDecision.DROP, reason, link=link.name
    )
    kernel = walk.engine.node.kernel
    return Dropped(netns=skb.netns.name, reason=drop_reason(DropCause.BAD_HEADER, kernel))


def route(walk: Walk, skb: Skb) -> Next:
    """Decide by input routing whether the packet is delivered here, forwarded or dropped."""
    link = skb.iif
    if link is None:
        return paths.LOCAL
    if skb.looped:
        return _keep_route(walk, skb, link)
    if skb.packet.dst.is_multicast:
        return boundary(walk, skb, BoundaryName.MULTICAST_DELIVERY)
    namespace = walk.engine.namespace(skb.netns.name)
    if namespace.may_own(skb.packet.dst):
        return boundary(walk, skb, BoundaryName.UNSEEN_NAMESPACE, namespace.name, skb.packet.dst)
    decided = route_input(walk.choices, namespace, input_flow(skb, link), link)
    return _record(walk, skb, link, decided)


def _keep_route(walk: Walk, skb: Skb, link: Link) -> Next:
    """Go on by the route with which the host sent a packet to itself: one to an address that is not
    its own leads nowhere (`dst_discard`).
    """
    destination = skb.destination
    if destination is None or destination.type != "unicast":
        return paths.LOCAL
    walk.trace.step(
        StageName.ROUTE_INPUT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        devices.DiscardedOnLoopback(link.name, skb.packet.dst),
        spans=destination.spans,
        link=link.name,
    )
    reason = drop_reason(DropCause.BLACKHOLE, walk.engine.node.kernel)
    return Dropped(netns=skb.netns.name, reason=reason)


def _record(walk: Walk, skb: Skb, link: Link, decided: InputRoute) -> Next:
    _record_validation(walk, skb, link, decided.check)
    if decided.cause is not None:
        if not decided.check.cause:
            _record_end(walk, skb, decided, StepDecision.DROP)
        return _refuse(walk, skb, decided, decided.cause)
    skb.destination = destination = decided.destination
    if decided.path == "local" or destination is None:
        _record_end(walk, skb, decided, StepDecision.LOCAL)
        return paths.LOCAL
    skb.oif = out = destination.link
    name = out.name if out is not None else None
    found = decided.found
    walk.trace.step(
        StageName.ROUTE_INPUT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.FORWARD,
        routes.RoutedOn(skb.packet.dst, name, destination.gateway),
        spans=destination.spans,
        near=found.near if found is not None else (),
        link=name,
        rests_on=found.rests_on if found is not None else None,
    )
    return paths.FORWARD


def _record_validation(walk: Walk, skb: Skb, link: Link, check: SourceCheck) -> None:
    """Make a Step of what source validation said, where it said anything."""
    if check.reason is None:
        return
    walk.trace.step(
        StageName.RP_FILTER,
        skb,
        VALIDATION,
        skb.packet,
        StepDecision.DROP if check.cause else StepDecision.PASS,
        check.reason,
        spans=check.spans,
        link=link.name,
        rests_on=check.rests_on,
    )


def _record_end(walk: Walk, skb: Skb, decided: InputRoute, word: StepDecision) -> None:
    """Make a Step of a route that leads to no other device; rules that nearly fit a packet are told
    where it is dropped.
    """
    if decided.reason is None:
        return
    found = decided.found
    dropped = word is StepDecision.DROP
    walk.trace.step(
        StageName.ROUTE_INPUT,
        skb,
        FUNCTION,
        skb.packet,
        word,
        decided.reason,
        spans=decided.spans,
        near=found.near if found is not None and dropped else (),
        rests_on=found.rests_on if found is not None else None,
    )


def _refuse(walk: Walk, skb: Skb, decided: InputRoute, cause: DropCause) -> Dropped | Rejected:
    if decided.answer:
        return icmp.reject(walk, skb, cause, decided.answer)
    reason = drop_reason(cause, walk.engine.node.kernel)
    return Dropped(netns=skb.netns.name, reason=reason)

"""Whether a neighbor solicitation and its answer arrive: unlike ARP they are IPv6 packets, and pass
the packet filter of every namespace, and the chains at every device, that they cross
(`net/ipv6/ndisc.c:ndisc_send_skb v6.12`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from podpath.datapath.bridging.switches import switch
from podpath.datapath.devices import macvlan
from podpath.datapath.devices.segment import Station, bridge_over, is_bridge, may_pass
from podpath.datapath.devices.veth import peer_of
from podpath.datapath.neighbors.arp import announced_source
from podpath.datapath.neighbors.neighbour import USABLE, Resolution, is_still_used, resolve
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.tracking import attach_answer
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.nftables import netdev
from podpath.datapath.reasons.neighbours import SolicitationLost
from podpath.datapath.routing import reroute
from podpath.datapath.routing.output import route_output
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.frames import with_macs
from podpath.datapath.tracing.trace import Rejected
from podpath.datapath.vocabulary import Hook, PacketType
from podpath.datapath.walk import settings
from podpath.datapath.walk.learned import NeighbourKey
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.datapath.walk.trace_builder import TraceBuilder
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Known, Option, Span
from podpath.node.links import Link, Macvlan, Peer

SOLICITATION, ADVERTISEMENT, REDIRECT = 135, 136, 137
HOPS = 255
_GROUP = Address.parse("ff02::1:ff00:0").value
_LENGTH = 72
"""Bytes of either message with its option."""


_HEADER, _OPTION = 40, 8
"""Bytes of an IPv6 header, which those of a redirect happen to equal, and of a link-layer
address's option.
"""
MINIMUM_MTU = 1280
_AT_ONCE = 6
ATTEMPTS = 3
"""Solicitations for a neighbor that does not answer (`mcast_solicit`)."""


class LostMessage(NamedTuple):
    """A message of neighbor discovery that does not arrive."""

    reason: SolicitationLost
    spans: tuple[Span, ...]


def hold_against_filters(
    walk: Walk, namespace: Namespace, link: Link, nexthop: Address, found: Resolution
) -> Resolution:
    """Hold an answer of IPv6 neighbor discovery against the packet filters on its way, unless an
    entry stands that lasts, and one of ARP against the chains at devices.
    """
    known, key = walk.learned.neighbours, NeighbourKey(namespace.name, link.name, nexthop)
    if key in known.resolved:
        return found
    if nexthop.family == 4:
        return _hold_against_devices(walk, namespace, link, nexthop, found)
    if not (found.asked or found.failed):
        return found
    if key in known.heard and found.mac == known.heard[key]:
        return found
    lost = _discover(walk, Solicited(namespace, link, nexthop, found.sender), found.asked)
    if lost is None:
        return found
    entry = namespace.neighbour(link.name, nexthop)
    if (
        entry is not None
        and entry.mac is not None
        and entry.state in USABLE
        and is_still_used(walk, namespace, link, nexthop)
    ):
        return found
    _forget(walk, key, found, lost)
    return Resolution(None, lost.reason, lost.spans, failed=True)


def _hold_against_devices(
    walk: Walk, namespace: Namespace, link: Link, nexthop: Address, found: Resolution
) -> Resolution:
    """Ask whether the chains at the devices on its way let ARP pass, where one may drop it: what is
    no packet of IP is not followed through their rules.
    """
    if found.asked is None:
        return found
    asked = walk.engine.namespace(found.asked.netns)
    for netns, device in ((namespace, link), (asked, found.asked.link)):
        peer = peer_of(walk, device)
        ends = [(netns, device)]
        if peer is not None:
            far = walk.engine.namespace(peer.netns)
            ends.append((far, far.link(peer.link)))
        for where, end in ends:
            spans = netdev.find_end_of_arp(walk, where.netns, end)
            if spans is None:
                continue
            fact = f"the chains at {end.name} in netns {where.name} let ARP pass"
            options = (Option(True, "they do"), Option(False, "they drop it"))
            if not walk.choices.choose(fact, options, ask="nft list ruleset"):
                reason = SolicitationLost(nexthop, where.name, Hook.INGRESS, asks=True)
                key = NeighbourKey(namespace.name, link.name, nexthop)
                _forget(walk, key, found, LostMessage(reason, spans))
                return Resolution(None, reason, spans, failed=True)
    return found


def _forget(walk: Walk, key: NeighbourKey, found: Resolution, lost: LostMessage) -> None:
    """Take back what a message would have taught that did not arrive."""
    known = walk.learned.neighbours
    known.answered.pop(key, None)
    if lost.reason.asks and found.asked is not None and found.sender is not None:
        hearer = NeighbourKey(found.asked.netns, found.asked.link.name, found.sender)
        known.heard.pop(hearer, None)


def send_redirect(walk: Walk, skb: Skb, link: Link, target: Address) -> bool:
    """Tell the source of a packet that goes back out of its own device of the shorter way; return
    whether it is told (`net/ipv6/ndisc.c:ndisc_send_redirect v6.12`).

    No sysctl switches it off. Each host is told six times at most, then once a second, and the
    packet's destination is counted like its source (`ip6_forward`).
    """
    namespace, packet = walk.engine.namespace(skb.netns.name), skb.packet
    if not _may_tell(walk, namespace, packet.dst):
        return False
    sender = announced_source(namespace, link, target, target)
    if sender is None or (packet.dst != target and not target.is_link_local):
        return False
    back = _route_redirect(walk, namespace, FlowKey(packet.src, sender), link)
    if back is None or back.link is None or back.gateway is not None:
        return False
    if not _may_tell(walk, namespace, packet.src):
        return False
    way = skb.oif or link
    known, key = walk.learned.neighbours, NeighbourKey(namespace.name, way.name, target)
    option = _OPTION if key in known.resolved or key in known.heard else 0
    quoted = min(MINIMUM_MTU - 2 * _HEADER - option, packet.length + _OPTION) // 8 * 8
    length = 2 * _HEADER + option + quoted
    message = _message(sender, packet.src, REDIRECT)
    message = message._replace(length=length, quoted=None if option else packet)
    journey = _Journey(walk, message, None, target)
    if back.link is namespace.loopback:
        journey.comes_back(namespace)
    elif journey.sets_out(namespace, back.link) and _is_found(walk, namespace, back, message):
        journey.goes_out(namespace, back.link)
    for onward in journey.onward:
        _is_found(walk, *onward)
    return True


def _route_redirect(
    walk: Walk, namespace: Namespace, flow: FlowKey, link: Link
) -> Destination | None:
    """Route a redirect: policy rules see the device that its cause came in on, and routes of that
    are only preferred (`icmpv6_flow_init`, `net/ipv6/route.c:rt6_score_route v6.12`).
    """
    flow = flow._replace(protocol=protocols.ICMPV6)
    for oif in (link.name, None):
        routed = route_output(walk.choices, namespace, flow._replace(oif=oif), any_source=True)
        if routed.found is not None and not routed.error:
            return routed.destination
    return None


def _is_found(walk: Walk, namespace: Namespace, way: Destination, message: Packet) -> bool:
    """Ask for the MAC of who is told something, where it is not known yet; return whether it is
    found.
    """
    link, nexthop = way.link, way.gateway or message.dst
    if link is None:
        return False
    key, known = NeighbourKey(namespace.name, link.name, nexthop), walk.learned.neighbours
    if key in known.resolved or key in known.heard:
        return True
    if key in known.asking:
        return False
    found = resolve(walk, namespace, link, way, message)
    found = hold_against_filters(walk, namespace, link, nexthop, found)
    if found.failed:
        return False
    known.resolved[key] = True
    return True


def _may_tell(walk: Walk, namespace: Namespace, host: Address) -> bool:
    """Take one of a host's six at hand (`net/ipv4/inetpeer.c:inet_peer_xrlim_allow v6.12`)."""
    told = walk.learned.redirects
    told[namespace.name, host] += 1
    return told[namespace.name, host] <= _AT_ONCE


class Solicited(NamedTuple):
    """Who asks on which device for whose MAC."""

    namespace: Namespace
    link: Link
    target: Address
    sender: Address | None


def _discover(walk: Walk, question: Solicited, station: Station | None) -> LostMessage | None:
    """Send a solicitation, and where it arrives at the station that has the address, the
    advertisement. Return what keeps the device from learning the MAC, None where both arrive or
    there is no such station; the rules that they match are noted in `walk.learned.discovery`.
    """
    if question.sender is None:
        return None
    asking = walk.learned.neighbours.asking
    asking.append(NeighbourKey(question.namespace.name, question.link.name, question.target))
    onward: list[_Onward] = []
    lost = _ask(walk, question, question.sender, station, onward)
    for each in onward:
        _is_found(walk, *each)
    asking.pop()
    return lost


def _ask(
    walk: Walk,
    question: Solicited,
    sender: Address,
    station: Station | None,
    onward: list[_Onward],
) -> LostMessage | None:
    """Do so, and list what leaves by another way: it is sent once for each attempt."""
    namespace, link, target, _ = question
    group = Address(6, _GROUP | target.value & 0xFFFFFF)
    hits, before = walk.learned.discovery, len(walk.learned.discovery)
    asked = _Journey(walk, _message(sender, group, SOLICITATION), station, target)
    asked.leave(namespace, link)
    journey = asked
    if station is not None and asked.arrived:
        answer = _message(target, sender, ADVERTISEMENT)
        journey = _Journey(walk, answer, Station(namespace.name, link), sender)
        journey.leave(walk.engine.namespace(station.netns), station.link)
    onward += (*asked.onward, *(journey.onward if journey is not asked else ()))
    if station is not None and journey.arrived:
        return None
    hits += hits[before:] * (ATTEMPTS - 1)
    lost = journey.lost
    if station is None or lost is None:
        return None
    netns, hook, spans = lost
    asks = journey is asked
    return LostMessage(SolicitationLost(target, netns, hook, asks=asks), spans)


def _message(src: Address, dst: Address, kind: int) -> Packet:
    return Packet(src, dst, protocols.ICMPV6, icmp_type=kind, ttl=HOPS, length=_LENGTH)


class _Loss(NamedTuple):
    netns: str
    hook: Hook
    spans: tuple[Span, ...]


class _Onward(NamedTuple):
    """What leaves a namespace by a way of its own, whose next hop is asked for: an error about a
    message, or a message that OUTPUT led to another device.
    """

    namespace: Namespace
    way: Destination
    packet: Packet


class _Recorded(NamedTuple):
    """The steps of a trace from one of them on."""

    trace: TraceBuilder
    first: int

    def last_spans(self) -> tuple[Span, ...]:
        """Return the lines of the last of them, none where there is none."""
        steps = self.trace.steps
        return steps[-1].spans if len(steps) > self.first else ()


class _Journey:
    """One message on its way: out of every port of a bridge where it is for a group, else to its
    goal alone.
    """

    def __init__(self, walk: Walk, message: Packet, goal: Station | None, about: Address) -> None:
        self.walk, self.message, self.goal, self.about = walk, message, goal, about
        self.arrived = False
        self.lost: _Loss | None = None
        """The last hook that ended a copy of it."""
        self.spoiled: _Loss | None = None
        """The hook that changed its hop limit: nobody takes one that may have been forwarded."""
        self.onward: list[_Onward] = []
        """What leaves by another way."""
        self.groups = message.dst.is_multicast

    def leave(self, namespace: Namespace, link: Link) -> None:
        """Send it from a device of a namespace."""
        if self.sets_out(namespace, link):
            self.goes_out(namespace, link)

    def sets_out(self, namespace: Namespace, link: Link) -> bool:
        """Run the hooks of its sender; return whether it passes them. POSTROUTING takes its own
        device for the one that it came in on (`ndisc_alloc_skb`, `ip6_output`).
        """
        skb = self._skb(namespace)
        return self._passes(skb, Hook.OUTPUT, None, link) and self._passes(
            skb, Hook.POSTROUTING, link, link
        )

    def comes_back(self, namespace: Namespace) -> None:
        """Send it to its own host over lo, with what conntrack made of it on the way out."""
        skb, lo = self._skb(namespace), namespace.loopback
        for hook, iif, oif in (
            (Hook.OUTPUT, None, lo),
            (Hook.POSTROUTING, lo, lo),
            (Hook.PREROUTING, lo, None),
            (Hook.INPUT, lo, None),
        ):
            if not self._passes(skb, hook, iif, oif):
                return

    def goes_out(self, namespace: Namespace, link: Link) -> None:
        """Put it on the wire, or on every port of a bridge that leads on."""
        self.message = with_macs(self.message, namespace.mac(link), None)
        if not is_bridge(link):
            self._cross(namespace, link)
            return
        if not self._passes_device(self._skb(namespace), link, Hook.EGRESS):
            return
        for port in namespace.ports.get(link.name, ()):
            if may_pass(link, None, port, None) and self._leads_on(port):
                self._cross(namespace, port)

    def _skb(self, namespace: Namespace) -> Skb:
        return Skb(self.message, namespace.netns, by_kernel=True)

    def _leads_on(self, port: Link) -> bool:
        """Tell whether a bridge sends it out of a port: of a message to one host, where that is."""
        if self.groups:
            return True
        peer = peer_of(self.walk, port)
        return peer is not None and self.goal == Station(peer.netns, self._link(peer))

    def _link(self, peer: Peer) -> Link:
        return self.walk.engine.namespace(peer.netns).link(peer.link)

    def _cross(self, namespace: Namespace, link: Link) -> None:
        """Send it out of a device that is no bridge, and receive it at the other end."""
        if not self._passes_device(self._skb(namespace), link, Hook.EGRESS):
            return
        if link.macvlan is not None:
            self._cross_parent(Peer(netns=namespace.name, link=link.name), link, link.macvlan)
            return
        peer = peer_of(self.walk, link)
        if peer is None:
            self.arrived = self.arrived or self.goal is not None
            return
        far, end = self.walk.engine.namespace(peer.netns), self._link(peer)
        skb = self._skb(far)
        if not self._passes_device(skb, end, Hook.INGRESS) or self._reach_children(peer):
            return
        bridge = bridge_over(far, end)
        if bridge is None:
            self._take(skb, far, end)
        else:
            self._bridge(skb, far, bridge, end)

    def _cross_parent(self, place: Peer, link: Link, shared: Macvlan) -> None:
        """Send it from a macvlan device to the others that it reaches, and out of its parent: to
        one of them it comes in by that.
        """
        for other in macvlan.list_siblings(self.walk.engine, place, link):
            if self.groups:
                self._reach(other)
            elif self.goal == Station(other.netns, self._link(other)):
                skb = self._skb(self.walk.engine.namespace(shared.parent.netns))
                if self._passes_device(skb, self._link(shared.parent), Hook.INGRESS):
                    self._reach(other)
                return
        parent = self.walk.engine.namespace(shared.parent.netns)
        self._cross(parent, self._link(shared.parent))

    def _reach_children(self, parent: Peer) -> bool:
        """Hand what comes in on a device to the macvlan devices that it is for; tell whether that
        leaves nothing to IP.
        """
        for child in macvlan.list_children(self.walk.engine, parent):
            ours = self.goal == Station(child.netns, self._link(child))
            if self._link(child).up and (self.groups or ours):
                self._reach(child)
            if ours and not self.groups:
                return True
        return False

    def _reach(self, child: Peer) -> None:
        namespace, link = self.walk.engine.namespace(child.netns), self._link(child)
        skb = self._skb(namespace)
        if self._passes_device(skb, link, Hook.INGRESS):
            self._take(skb, namespace, link)

    def _bridge(self, skb: Skb, namespace: Namespace, bridge: Link, source: Link) -> None:
        skb.physin = source
        filtered = self._is_filtered(namespace, bridge)
        if filtered and not self._passes(skb, Hook.PREROUTING, bridge, None):
            return
        for port in namespace.ports.get(bridge.name, ()):
            if port.name == source.name or not may_pass(bridge, source, port, None):
                continue
            if self._leads_on(port) and (not filtered or self._forwards(skb, bridge, port)):
                self._cross(namespace, port)
        ours = self.groups or self.goal == Station(namespace.name, bridge)
        if ours and self._passes_device(skb, bridge, Hook.INGRESS):
            skb.prerouted = filtered
            self._take(skb, namespace, bridge)

    def _forwards(self, skb: Skb, bridge: Link, port: Link) -> bool:
        """Run the hooks of br_netfilter for the copy that goes out of a port."""
        copy = replace(skb, bridged=True, physout=port)
        return self._passes(copy, Hook.FORWARD, bridge, bridge) and self._passes(
            copy, Hook.POSTROUTING, None, bridge
        )

    def _is_filtered(self, namespace: Namespace, bridge: Link) -> bool:
        fact = switch(self.walk, namespace, bridge, 6)
        return isinstance(fact, Known) and bool(settings.integer(fact.value))

    def _take(self, skb: Skb, namespace: Namespace, link: Link) -> None:
        """Receive it on a device; PREROUTING is not run again after br_netfilter did."""
        if not skb.prerouted and not self._passes(skb, Hook.PREROUTING, link, None):
            return
        here = self.goal == Station(namespace.name, link)
        if not here and not self._listens(namespace, link):
            return
        if self._passes(skb, Hook.INPUT, link, None):
            self.arrived = self.arrived or (here and self.spoiled is None)
            self.lost = self.spoiled or self.lost

    def _listens(self, namespace: Namespace, link: Link) -> bool:
        """Tell whether a device is in the group of a solicitation (RFC 4291, 2.7.1)."""
        low = self.about.value & 0xFFFFFF
        return self.groups and any(
            item.address.family == 6 and item.address.value & 0xFFFFFF == low
            for item in namespace.by_link.get(link.name, ())
        )

    def _answer(self, cause: Skb, error: Packet) -> None:
        """Send the error about a message that a rule rejects: its rules count it, and nobody hears
        it. One about a message of the host itself comes back to it over lo; else its own next hop
        is asked for, unless that is what the message was about.
        """
        namespace = self.walk.engine.namespace(cause.netns.name)
        link, source, ways = namespace.loopback, error.dst, list[_Onward]()
        if not namespace.owns(error.dst):
            flow = FlowKey(error.dst, None, protocol=protocols.ICMPV6)
            routed = route_output(self.walk.choices, namespace, flow, any_source=True)
            way = routed.destination
            if way is None or way.link is None:
                return
            link, source = way.link, routed.source or source
            ways.append(_Onward(namespace, way, error))
        if not error.src.is_unspecified:
            source = error.src
        skb = Skb(error._replace(src=source), cause.netns, oif=link, link=link, by_kernel=True)
        attach_answer(skb, cause)
        hooks = (Hook.OUTPUT, Hook.POSTROUTING, Hook.PREROUTING, Hook.INPUT)
        for hook in hooks if link is namespace.loopback else hooks[:2]:
            if hook is Hook.PREROUTING:
                skb.iif, skb.oif = link, None
            if not isinstance(pass_hook(self.walk, skb, hook), Accept):
                return
        self.onward += ways

    def _is_led_astray(self, skb: Skb) -> bool:
        """Tell whether a message that OUTPUT changed is routed elsewhere then, or nowhere. On
        another device it passes POSTROUTING, too (`net/ipv6/ip6_output.c:ip6_output v6.12`).
        """
        way, meant = reroute(self.walk, skb).destination, skb.oif
        if way is not None and way.link is meant:
            return False
        if way is not None and way.link is not None:
            skb.oif, skb.iif, skb.link = way.link, meant, way.link
            if isinstance(pass_hook(self.walk, skb, Hook.POSTROUTING), Accept):
                namespace = self.walk.engine.namespace(skb.netns.name)
                self.onward.append(_Onward(namespace, way, skb.packet))
        return True

    @contextmanager
    def _apart(self) -> Iterator[_Recorded]:
        """Take what is recorded meanwhile out of the trace, which is another packet's."""
        trace = self.walk.trace
        steps, matched = len(trace.steps), len(trace.matched)
        yield _Recorded(trace, steps)
        self.walk.learned.discovery += trace.matched[matched:]
        del trace.steps[steps:], trace.matched[matched:]

    def _passes_device(self, skb: Skb, link: Link, hook: Hook) -> bool:
        """Run the chains at a device; what they send on by another one counts as lost."""
        skb.link = link
        if hook is Hook.INGRESS and self.groups:
            skb.pkt_type = PacketType.MULTICAST
        run = netdev.ingress if hook is Hook.INGRESS else netdev.egress
        with self._apart() as recorded:
            ended = run(self.walk, skb, link)
            spans = recorded.last_spans()
        if ended is not None:
            self.lost = _Loss(skb.netns.name, hook, spans)
        return ended is None

    def _passes(self, skb: Skb, hook: Hook, iif: Link | None, oif: Link | None) -> bool:
        """Run a hook of IPv6."""
        skb.link, skb.iif, skb.oif = iif or oif, iif, oif
        if self.groups and oif is None:
            skb.pkt_type = PacketType.MULTICAST
        astray = False
        with self._apart() as recorded:
            ended = pass_hook(self.walk, skb, hook)
            spans = recorded.last_spans()
            if isinstance(ended, Rejected) and skb.answer is not None:
                self._answer(skb, skb.answer)
            elif isinstance(ended, Accept) and ended.reroute:
                astray = self._is_led_astray(skb)
        if isinstance(ended, Accept) and not astray:
            if skb.packet.ttl != self.message.ttl:
                self.message = self.message._replace(ttl=skb.packet.ttl)
                self.spoiled = _Loss(skb.netns.name, hook, spans)
            return True
        self.lost = _Loss(skb.netns.name, hook, spans)
        return False

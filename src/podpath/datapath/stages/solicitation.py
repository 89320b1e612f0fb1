"""Whether a neighbor solicitation and its answer arrive: unlike ARP they are IPv6 packets, and pass
the packet filter of every namespace that they cross (`net/ipv6/ndisc.c:ndisc_send_skb v6.12`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.datapath.bridging import bridge_netfilter
from podpath.datapath.devices.segment import Station, bridge_over
from podpath.datapath.devices.veth import peer_of
from podpath.datapath.netfilter.hook import pass_hook
from podpath.datapath.netfilter.verdicts import Accept
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons.neighbours import SolicitationLost
from podpath.datapath.vocabulary import Hook, PacketType
from podpath.datapath.walk import settings
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.net.provenance import Known, Span
from podpath.node.links import Link
from podpath.node.node import Netns

SOLICITATION, ADVERTISEMENT = 135, 136
HOPS = 255
_GROUP = Address.parse("ff02::1:ff00:0").value
_LENGTH = 72
"""Bytes of either message with its option."""


class LostMessage(NamedTuple):
    """A message of neighbor discovery that does not arrive."""

    reason: SolicitationLost
    spans: tuple[Span, ...]


class _Pass(NamedTuple):
    """A hook that a message passes."""

    netns: Netns
    hook: Hook
    iif: Link | None
    oif: Link | None
    bridged: bool = False


def find_loss(
    walk: Walk, namespace: Namespace, link: Link, target: Address, station: Station
) -> LostMessage | None:
    """Return what keeps a device from learning the MAC of a station's address; None where both
    messages arrive.
    """
    sender = _find_sender(namespace, link)
    if sender is None:
        return None
    asked, asking = walk.engine.namespace(station.netns), Station(namespace.name, link)
    group = Address(6, _GROUP | target.value & 0xFFFFFF)
    between = tuple(_pass_bridge(walk, link))
    question = _message(sender, group, SOLICITATION)
    answer = _message(target, sender, ADVERTISEMENT)
    for message, path in (
        (question, (*_leave(namespace, link), *between, *_arrive(asked, station.link))),
        (answer, (*_leave(asked, station.link), *between, *_arrive(namespace, asking.link))),
    ):
        for each in path:
            lost = _is_lost(walk, message, each)
            if lost is not None:
                asks = message.icmp_type == SOLICITATION
                reason = SolicitationLost(target, each.netns.name, each.hook, asks=asks)
                return LostMessage(reason, lost)
    return None


def _find_sender(namespace: Namespace, link: Link) -> Address | None:
    own = [item.address for item in namespace.by_link.get(link.name, ())]
    six = [address for address in own if address.family == 6]
    return next((address for address in six if address.is_link_local), next(iter(six), None))


def _message(src: Address, dst: Address, kind: int) -> Packet:
    return Packet(src, dst, protocols.ICMPV6, icmp_type=kind, ttl=HOPS, length=_LENGTH)


def _leave(namespace: Namespace, link: Link) -> tuple[_Pass, _Pass]:
    return (
        _Pass(namespace.netns, Hook.OUTPUT, None, link),
        _Pass(namespace.netns, Hook.POSTROUTING, None, link),
    )


def _arrive(namespace: Namespace, link: Link) -> tuple[_Pass, _Pass]:
    return (
        _Pass(namespace.netns, Hook.PREROUTING, link, None),
        _Pass(namespace.netns, Hook.INPUT, link, None),
    )


def _pass_bridge(walk: Walk, link: Link) -> Iterator[_Pass]:
    """Yield the hooks that br_netfilter runs on the bridge at the other end of a veth."""
    peer = peer_of(walk, link)
    if peer is None:
        return
    namespace = walk.engine.namespace(peer.netns)
    bridge = bridge_over(namespace, namespace.link(peer.link))
    if bridge is None:
        return
    fact = bridge_netfilter.switch(walk, namespace, bridge, 6)
    if isinstance(fact, Known) and settings.integer(fact.value):
        yield _Pass(namespace.netns, Hook.PREROUTING, bridge, None, bridged=True)
        yield _Pass(namespace.netns, Hook.FORWARD, bridge, bridge, bridged=True)
        yield _Pass(namespace.netns, Hook.POSTROUTING, None, bridge, bridged=True)


def _is_lost(walk: Walk, message: Packet, place: _Pass) -> tuple[Span, ...] | None:
    """Return the lines that end a message at a hook; None where it passes. What is recorded of it
    is taken out again: the trace is of another packet.
    """
    skb = Skb(
        message, place.netns, link=place.iif or place.oif, iif=place.iif, oif=place.oif,
        bridged=place.bridged, by_kernel=True,
    )  # fmt: skip
    if place.hook is Hook.PREROUTING and message.icmp_type == SOLICITATION:
        skb.pkt_type = PacketType.MULTICAST
    trace = walk.trace
    steps, matched = len(trace.steps), len(trace.matched)
    ended = pass_hook(walk, skb, place.hook)
    spans = trace.steps[-1].spans if len(trace.steps) > steps else ()
    del trace.steps[steps:], trace.matched[matched:]
    return None if isinstance(ended, Accept) else spans

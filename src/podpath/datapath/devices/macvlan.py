"""A macvlan device: one of several that share the wire of a device below, its parent, each with a
MAC of its own.

What comes in on the parent for such a MAC goes to its device before IP sees it. What one of them
sends goes out of the parent, in mode bridge to another one of that mode at once; the parent's own
host never gets it (`drivers/net/macvlan.c v6.12`).
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.datapath.devices import wire
from podpath.datapath.devices.veth import enter
from podpath.datapath.reasons import devices as reasons
from podpath.datapath.tracing.frames import is_group
from podpath.datapath.tracing.paths import EMIT, RECEIVE, Next
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.node.links import Link, MacvlanMode, Peer

TRANSMIT = "drivers/net/macvlan.c:macvlan_queue_xmit v6.12"


def list_children(engine: Engine, parent: Peer) -> tuple[Peer, ...]:
    """Return the macvlan devices that share a device's wire, in whichever namespaces they are."""
    if engine.macvlans is None:
        engine.macvlans = {}
        for place, link in _list_all(engine):
            if link.macvlan is not None:
                held = engine.macvlans.get(link.macvlan.parent, ())
                engine.macvlans[link.macvlan.parent] = (*held, place)
    return engine.macvlans.get(parent, ())


def _list_all(engine: Engine) -> Iterator[tuple[Peer, Link]]:
    for name, netns in engine.node.namespaces.items():
        for link in netns.links.items:
            yield Peer(netns=name, link=link.name), link


def list_siblings(engine: Engine, place: Peer, link: Link) -> Iterator[Peer]:
    """Yield the devices that a macvlan device reaches without a wire: those of one parent that are
    in mode bridge like itself, and up.
    """
    if link.macvlan is None or link.macvlan.mode is not MacvlanMode.BRIDGE:
        return
    for other in list_children(engine, link.macvlan.parent):
        held = engine.namespace(other.netns).link(other.link)
        if (
            other != place
            and held.macvlan is not None
            and held.macvlan.mode is MacvlanMode.BRIDGE
            and held.up
        ):
            yield other


def hand_up(walk: Walk, skb: Skb, link: Link) -> bool:
    """Move a frame that came in on a device to the macvlan device that it is for; tell whether
    there is one.
    """
    dmac = skb.packet.dmac
    if dmac is None or is_group(dmac):
        return False
    for place in list_children(walk.engine, Peer(netns=skb.netns.name, link=link.name)):
        namespace = walk.engine.namespace(place.netns)
        child = namespace.link(place.link)
        passes = child.macvlan is not None and child.macvlan.mode is MacvlanMode.PASSTHRU
        if passes or namespace.mac(child) == dmac:
            skb.netns, skb.link = namespace.netns, child
            return True
    return False


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send a frame to another device of the same parent, or out of the parent."""
    shared = link.macvlan
    if shared is None or shared.parent.netns not in walk.engine.node.namespaces:
        return wire.send(walk, skb, link)
    parent, place = shared.parent, Peer(netns=skb.netns.name, link=link.name)
    reason = reasons.SharesWire(link.name, parent.link, parent.netns)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        TRANSMIT,
        skb.packet,
        StepDecision.HOP,
        reason,
        link=link.name,
    )
    for other in list_siblings(walk.engine, place, link):
        namespace = walk.engine.namespace(other.netns)
        if namespace.mac(namespace.link(other.link)) == skb.packet.dmac:
            enter(walk, skb, parent)
            return RECEIVE
    skb.netns = walk.engine.node.namespaces[parent.netns]
    skb.link = walk.engine.namespace(parent.netns).link(parent.link)
    return EMIT

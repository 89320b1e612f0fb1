"""From a next hop to a MAC: what the neighbor table holds, which ARP request goes out, and whether
anybody answers it.

A host answers an ARP request only if it could route the packet that asks: rp_filter and martian
checks block ARP as they block IP (`net/ipv4/arp.c:arp_process v6.12`). An entry that is usable is
used, though the owner of the address has another MAC: the kernel asks again only when the entry is
old (`net/core/neighbour.c:neigh_timer_handler v6.12`).
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.devices.bridge_ports import outside_mac
from podpath.datapath.devices.segment import Segment, Station, is_bridge, survey
from podpath.datapath.neighbors.arp import announced_source, answer
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.reasons import neighbours as reasons
from podpath.datapath.reasons.neighbours import NeighbourReason
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.frames import is_symbolic
from podpath.datapath.walk import settings
from podpath.datapath.walk.learned import FdbKey, NeighbourKey, NeighbourTables
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address, Mac
from podpath.net.packet import Packet
from podpath.net.provenance import Basis, Inferred, Option, Span
from podpath.net.watched import is_watched
from podpath.node.links import Link, Neighbour
from podpath.node.node import NetnsRole

FUNCTION = "net/core/neighbour.c:neigh_resolve_output v6.12"
WITHOUT_ARP = frozenset({"tun", "ipip", "sit", "wireguard", "ppp", "gre", "xfrm", "vti"})
"""Kinds of device that have no link-layer addresses."""
SHARING = frozenset({"macvlan", "macvtap", "ipvlan", "ipvtap"})
"""Kinds of device that share the frames of another one."""
_BEYOND = Inferred(Basis.BEYOND, "whoever has the address beyond the node answers for it")
_FIXED = frozenset({"PERMANENT", "NOARP"})
USABLE = frozenset({"REACHABLE", "STALE", "DELAY", "PROBE"})
"""States of an entry whose MAC is used."""


class Resolution(NamedTuple):
    """What became of asking for a MAC."""

    mac: Mac | None
    reason: NeighbourReason
    spans: tuple[Span, ...] = ()
    failed: bool = False
    asked: Station | None = None
    """Who answered an ARP request, and so learned the MAC of its sender."""
    sender: Address | None = None
    """The sender address of the ARP request."""
    rests_on: Inferred | None = None
    """How the entry, or the address of who answers, is known, where no listing states it."""
    sharing: str | None = None
    """A device that shares another one (macvlan, ipvlan), and may have the address: its frames are
    not followed.
    """
    unseen: str | None = None
    """A namespace that may have the address and is itself but a guess: whether anybody answers is
    not known.
    """


def _shown_mac(link: Link) -> Mac | None:
    """Return the MAC of a device that has one for sure."""
    if link.mac is None or is_symbolic(link.mac) or link.kind in WITHOUT_ARP:
        return None
    return link.mac


def _needs_arp(link: Link) -> bool:
    """Tell whether a device has neighbors with MACs: a tap has, of kind tun too
    (drivers/net/tun.c:tun_net_initialize v6.12).
    """
    return not link.noarp and (
        link.kind not in WITHOUT_ARP or (link.kind == "tun" and link.mac is not None)
    )


def resolve(
    walk: Walk, namespace: Namespace, link: Link, destination: Destination, packet: Packet
) -> Resolution:
    """Find the MAC of a packet's next hop on a device."""
    nexthop = destination.gateway or packet.dst
    own_mac = _shown_mac(link)
    if link.noarp and own_mac is not None:
        return _resolve_without_arp(walk, namespace, link, nexthop, own_mac)
    if not _needs_arp(link):
        return Resolution(None, reasons.NoLinkLayer(link.name))
    own = packet.src if namespace.has_local(packet.src) else None
    key = (
        "neighbour",
        link.name,
        nexthop,
        own,
        destination.gateway is None,
        _has_spoken(walk, namespace, link, nexthop),
    )
    found = None if is_watched(nexthop.value) else namespace.answers.get(key)
    if not isinstance(found, Resolution):
        asked = walk.choices.asked
        sender = announced_source(namespace, link, nexthop, packet.src)
        found = _resolve(walk, namespace, link, destination, _Question(nexthop, sender))
        found = _with_request(namespace, link, found, nexthop, sender)
        if walk.choices.asked == asked and not is_watched(nexthop.value):
            namespace.answers[key] = found
    hop = NeighbourKey(namespace.name, link.name, nexthop)
    _teach(walk.learned.neighbours, hop, found, namespace.mac(link))
    if _is_wrong(found.reason):
        return _correct(walk.learned.neighbours, hop, found)
    if found.failed:
        return _recall(walk.learned.neighbours, hop, found)
    return found


def _resolve_without_arp(
    walk: Walk, namespace: Namespace, link: Link, target: Address, own: Mac
) -> Resolution:
    """Take the MAC of an entry that was put in by hand, else the device's own
    (`net/ipv4/arp.c:arp_constructor v6.18`).
    """
    entry = namespace.neighbour(link.name, target)
    if entry is None or entry.mac is None:
        return Resolution(own, reasons.OwnMacForAll(link.name, own), _listed(link))
    if entry.state in _FIXED or is_still_used(walk, namespace, link, target):
        reason = reasons.EntryUsed(target, entry.mac, entry.state)
        return Resolution(entry.mac, reason, _span(entry), rests_on=entry.inferred)
    silent = reasons.NeighbourSilent(target, link.name, entry.state)
    return Resolution(None, silent, (*_span(entry), *_listed(link)), failed=True)


def _teach(tables: NeighbourTables, hop: NeighbourKey, found: Resolution, own: Mac) -> None:
    """Note what an ARP request and its answer taught both ends."""
    if found.asked is None:
        return
    if found.sender is not None:
        hearer = NeighbourKey(found.asked.netns, found.asked.link.name, found.sender)
        if hearer not in tables.resolved:
            # An entry that its own request made stays what it is: a request asserts no reachability
            # (arp_process).
            tables.heard[hearer] = own
    if found.mac is not None:
        tables.answered[hop] = found.mac


def _recall(tables: NeighbourTables, hop: NeighbourKey, found: Resolution) -> Resolution:
    """Fall back on what requests taught before: it would not answer this one, yet its MAC is
    known.
    """
    answered = tables.answered.get(hop)
    if answered is not None:
        return Resolution(answered, reasons.AnsweredBefore(hop.address, answered))
    heard = tables.heard.get(hop)
    if heard is not None:
        return Resolution(heard, reasons.SaidItself(hop.address, heard))
    return found


def _is_wrong(reason: NeighbourReason) -> bool:
    plain = reason.found if isinstance(reason, reasons.ForeignSenderAsked) else reason
    return isinstance(plain, reasons.EntryWrong)


def _correct(tables: NeighbourTables, hop: NeighbourKey, found: Resolution) -> Resolution:
    """Take the MAC of a request that came from the address itself in place of an entry that is not
    fixed (`net/core/neighbour.c:neigh_event_ns v6.12`).
    """
    heard = tables.heard.get(hop)
    if heard is None:
        return found
    return Resolution(heard, reasons.SaidItself(hop.address, heard))


class _Question(NamedTuple):
    target: Address
    sender: Address | None


def _resolve(
    walk: Walk, namespace: Namespace, link: Link, destination: Destination, question: _Question
) -> Resolution:
    target = question.target
    entry = namespace.neighbour(link.name, target)
    if entry is not None and entry.mac is not None and entry.state in _FIXED:
        return Resolution(
            entry.mac,
            reasons.EntryUsed(target, entry.mac, entry.state),
            _span(entry),
            rests_on=entry.inferred,
        )
    if not link.carrier:
        return Resolution(
            None, reasons.NobodyAnswers(target, link.name), _listed(link), failed=True
        )
    master = namespace.links.get(link.master) if link.master is not None else None
    if master is not None and master.bridge is not None:
        return Resolution(None, reasons.AskedOnPort(target, link.name, master.name), failed=True)
    around = survey(walk, namespace.name, link, broadcast=target.family == 4)
    refusal = None
    for station in _owners(walk, around, target):
        refusal = answer(walk, station, question.sender, target)
        if refusal is None:
            return _taught(walk, station, target, entry) or _answered(walk, station, target, entry)
    for station in around.stations:
        if answer(walk, station, question.sender, target, proxy=True) is None:
            return _answered(walk, station, target, entry)
    usable = entry is not None and entry.mac is not None and entry.state in USABLE
    if refusal is not None and not (usable and is_still_used(walk, namespace, link, target)):
        return Resolution(None, reasons.ArpRefused(target, refusal), failed=True)
    if entry is not None and entry.mac is not None and usable:
        return Resolution(
            entry.mac,
            reasons.EntryUsed(target, entry.mac, entry.state),
            _span(entry),
            rests_on=entry.inferred,
        )
    return _presume(walk, namespace, link, destination, around, question)


def is_still_used(walk: Walk, namespace: Namespace, link: Link, target: Address) -> bool:
    """Ask whether an entry is used though its owner answers no request.

    The owner's own request made it, or an answer of before. It carries packets until the kernel
    asks again, which answers of TCP put off (`net/core/neighbour.c:neigh_timer_handler v6.12`).
    """
    entry = namespace.neighbours[link.name, target]
    options = (
        Option(True, f"its entry is used while it lasts ({entry.state})", entry.span),
        Option(False, "its entry runs out, and nobody answers"),
    )
    question = f"does the entry of {target} on {link.name} in netns {namespace.name} last"
    ask = f"ip neigh show {target} dev {link.name}"
    return walk.choices.choose(question, options, ask=ask)


def _owners(walk: Walk, around: Segment, target: Address) -> list[Station]:
    return [
        station
        for station in around.stations
        if walk.engine.namespace(station.netns).has_local(target)
    ]


def _taught(
    walk: Walk, station: Station, target: Address, entry: Neighbour | None
) -> Resolution | None:
    """Keep to an entry that is usable, though who has the address has another MAC: the kernel asks
    again only when it is old.
    """
    own = walk.engine.namespace(station.netns).mac(station.link)
    if (
        entry is None
        or entry.mac is None
        or entry.state not in USABLE
        or is_symbolic(own)
        or entry.mac == own
    ):
        return None
    reason = reasons.EntryWrong(
        target, entry.mac, entry.state, station.link.name, station.netns, own
    )
    return Resolution(entry.mac, reason, _span(entry))


def _answered(walk: Walk, station: Station, target: Address, entry: Neighbour | None) -> Resolution:
    mac = walk.engine.namespace(station.netns).mac(station.link)
    spans = _span(entry) if entry is not None and entry.mac == mac else ()
    return Resolution(
        mac,
        reasons.AnsweredBy(target, station.link.name, station.netns, mac),
        spans,
        asked=station,
        rests_on=_owned_by(walk, station, target),
    )


def _owned_by(walk: Walk, station: Station, target: Address) -> Inferred | None:
    """Tell how it is known that a station has the address that it answers for; a guess where
    nothing shows it there.
    """
    netns = walk.engine.namespace(station.netns).netns
    own = next((item for item in netns.addresses.items if item.address == target), None)
    return own.inferred if own is not None else netns.inferred


def _presume(
    walk: Walk,
    namespace: Namespace,
    link: Link,
    destination: Destination,
    around: Segment,
    question: _Question,
) -> Resolution:
    """Answer for what the evidence does not show: a host out there, or one in the model whose
    addresses are not all listed.
    """
    target = question.target
    entry = namespace.neighbour(link.name, target)
    if entry is not None and _stays_silent(walk, namespace, link, entry):
        silent = reasons.NeighbourSilent(target, link.name, entry.state)
        return Resolution(None, silent, _span(entry), failed=True)
    route, gateway = destination.route, destination.gateway
    guessed = gateway is None and route is not None and bool(route.inferred)
    partial = [
        item
        for item in around.stations
        if not walk.engine.namespace(item.netns).netns.addresses.complete
    ]
    if partial and (gateway is not None or guessed or not around.exits):
        shown = [item for item in partial if not walk.engine.namespace(item.netns).may_own(target)]
        if shown:
            return _answered(walk, shown[0], target, entry)
        return Resolution(None, reasons.NobodyAnswers(target, link.name), unseen=partial[0].netns)
    sharing = _find_held(walk, namespace, link, target)
    if around.exits and sharing is not None:
        nobody = reasons.NobodyAnswers(target, link.name)
        return Resolution(None, nobody, failed=True, sharing=sharing)
    unseen = is_bridge(link) and not namespace.netns.links.complete
    if around.exits or unseen or _has_spoken(walk, namespace, link, target):
        mac = outside_mac(walk, namespace, link, target)
        return Resolution(
            mac, reasons.PresumedToAnswer(target, mac), _span(entry), rests_on=_BEYOND
        )
    return _ask_proxy(walk, around, target, link)


def _find_held(walk: Walk, namespace: Namespace, link: Link, target: Address) -> str | None:
    """Return the device that shares another one and stands between a sender and an address that the
    model holds, which no host outside then has: the device below may keep frames from each other
    (`drivers/net/macvlan.c:macvlan_queue_xmit v6.12`).
    """
    for name in walk.engine.node.namespaces:
        other = walk.engine.namespace(name)
        held = other.addresses.get(target) if name != namespace.name else None
        if held is None:
            continue
        if link.kind in SHARING:
            return link.name
        if other.link(held.link).kind in SHARING:
            return held.link
    return None


def _stays_silent(walk: Walk, namespace: Namespace, link: Link, entry: Neighbour) -> bool:
    """Ask whether a neighbor that did not answer when its entry was listed answers by now."""
    if entry.state not in {"FAILED", "INCOMPLETE"}:
        return False
    target = entry.address
    options = (
        Option(False, f"{target} does not answer: its entry is {entry.state}", entry.span),
        Option(True, "it does by now"),
    )
    fact = f"does {target} answer on {link.name} in netns {namespace.name}"
    ask = f"ip neigh show {target} dev {link.name}"
    return not walk.choices.choose(fact, options, ask=ask)


def _listed(link: Link) -> tuple[Span, ...]:
    return (link.span,) if link.span is not None else ()


def _has_spoken(walk: Walk, namespace: Namespace, link: Link, target: Address) -> bool:
    """Tell whether a frame of a host outside the model came in over the bridge before: then it is
    there to answer.
    """
    seen = FdbKey(namespace.name, link.name, outside_mac(walk, namespace, link, target))
    return seen in walk.learned.fdb


def _ask_proxy(walk: Walk, around: Segment, target: Address, link: Link) -> Resolution:
    """Ask whether a station answers for others, where its proxy_arp is not known and nothing else
    would answer.
    """
    for station in around.stations:
        other = walk.engine.namespace(station.netns)
        if (
            settings.known_maximum(other, settings.PROXY_ARP, station.link.name) is None
            and other.netns.role == NetnsRole.HOST
        ):
            options = (
                Option(True, "the host answers for it (proxy_arp)"),
                Option(False, "nobody answers for it"),
            )
            ask = f"sysctl net.ipv4.conf.{station.link.name}.proxy_arp"
            if walk.choices.choose(
                f"net.ipv4.conf.{station.link.name}.proxy_arp in netns {other.name}",
                options,
                ask=ask,
            ):
                return _answered(walk, station, target, None)
    nobody = reasons.NobodyAnswers(target, link.name)
    return Resolution(
        None,
        nobody,
        failed=True,
        rests_on=_unshown_behind(around, link),
        sharing=_find_sharing(walk, target),
    )


def _unshown_behind(around: Segment, link: Link) -> Inferred | None:
    """Return the guess that nobody is behind a bridge with a carrier and without a port that is
    shown: it loses its carrier with the last port, and has one before the first
    (`net/bridge/br_stp.c:br_port_state_selection v6.12`).
    """
    if not is_bridge(link) or around.stations:
        return None
    return Inferred(Basis.GUESSED, f"no output shows who is behind {link.name}", link.span)


def _find_sharing(walk: Walk, target: Address) -> str | None:
    """Return a device of the model that shares another one and has an address, in a namespace of
    its own or not.
    """
    for netns in walk.engine.node.namespaces.values():
        for link in netns.links.items:
            known = link.macvlan is not None  # whom it reaches is surveyed
            if (
                link.kind in SHARING
                and not known
                and (netns.holds(target) or not netns.addresses.complete)
            ):
                return link.name
    return None


def _with_request(
    namespace: Namespace, link: Link, found: Resolution, target: Address, sender: Address | None
) -> Resolution:
    """Note the ARP request where its sender address belongs to another device: it teaches that
    address a foreign MAC.
    """
    found = found._replace(sender=sender)
    if (
        sender is None
        or sender.family == 6
        or isinstance(found.reason, reasons.EntryUsed | reasons.ForeignSenderAsked)
    ):
        return found
    owner = namespace.addresses.get(sender)
    if (
        owner is None
        or owner.link in {link.name, "lo"}
        or namespace.link(owner.link).kind == "dummy"
    ):
        return found
    request = reasons.ArpRequest(link.name, namespace.mac(link), sender, target)
    spans = (*found.spans, *((owner.span,) if owner.span is not None else ()))
    return found._replace(
        reason=reasons.ForeignSenderAsked(found.reason, request, owner.link), spans=spans
    )


def _span(entry: Neighbour | None) -> tuple[Span, ...]:
    if entry is not None and entry.span is not None:
        return (entry.span,)
    return ()

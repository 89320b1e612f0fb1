"""Addresses of the host that no `ip addr` shows: from its routes, and from captures on its uplink.

The kernel's own routes name the address they came with. On a capture with MACs the host is the one
whose MAC is that of a device of it, who asks for its neighbors, or who asks for what the host's
routes call a neighbor.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.captures.sightings import BROADCAST, Sightings
from podpath.assembly.devices.names import looks_internal, looks_like_bridge, looks_like_pod_side
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.captures import HOST_LENGTH
from podpath.net.addresses import WIDTH, Address, IfName, Mac, Prefix
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.case import ArpOperation, ArpSighting
from podpath.node.links import InterfaceAddress, Link, Neighbour
from podpath.node.node import HOST
from podpath.node.routing import LOCAL, Route

_ENOUGH = 3
"""Points from which an address is taken for the host's: one sure sign, or two weak ones."""


class _Frame(NamedTuple):
    """Who sent a frame on a capture of the host."""

    sender: Address
    smac: Mac | None
    link: str | None
    direction: str | None
    span: Span
    request: Address | None = None
    """Whom an ARP request asks for."""


def infer_from_routes(draft: NodeDraft) -> None:
    """Add the addresses that the kernel's own routes name, where no output lists them."""
    for netns in draft.namespaces.values():
        if "address" in netns.complete:
            continue
        for route in list(netns.routes):
            if (
                not _names_own_address(route)
                or route.prefsrc is None
                or len(route.nexthops) != 1
                or netns.owns(route.prefsrc)
            ):
                continue
            link = route.nexthops[0].link
            connected = route.type == "unicast" and route.prefix.covers(route.prefsrc)
            single = (
                route.type == "local"
                and route.table == LOCAL
                and route.prefix == Prefix.of(route.prefsrc)
            )
            if link is not None and (connected or single) and not route.prefsrc.is_loopback:
                reason = Inferred(
                    Basis.IMPLIED, f"the kernel's own route at {route.span} names it", route.span
                )
                length = route.prefix.length if connected else WIDTH[route.prefix.family]
                netns.addresses.append(
                    InterfaceAddress(
                        link=link,
                        address=route.prefsrc,
                        length=length,
                        span=route.span,
                        inferred=reason,
                    )
                )


def _names_own_address(route: Route) -> bool:
    """Tell whether a route's source is an address of its device: the kernel's own routes say so,
    and busybox prints neither their protocol nor their scope.
    """
    if route.protocol == "kernel":
        return True
    plain = not route.protocol and not route.inferred
    return plain and all(hop.gateway is None for hop in route.nexthops)


def infer_from_macs(draft: NodeDraft, sightings: Sightings) -> None:
    """Add the address that captures on the host's uplink show to be its own, and the neighbors
    that answer there.
    """
    frames = [
        frame
        for frame in _read_frames(sightings)
        if frame.smac is not None and _is_outside(draft, frame)
    ]
    if "address" not in draft.host.complete:
        own = _find_own(draft, frames)
        if own is not None:
            _add_own(draft, sightings, frames, own)
    for frame in frames:
        on_link = draft.host.on_link(frame.sender)
        known = any(entry.address == frame.sender for entry in draft.host.neighbours)
        if (
            on_link is not None
            and not draft.host.owns(frame.sender)
            and not known
            and frame.smac != BROADCAST
        ):
            reason = Inferred(
                Basis.SHOWN, f"{frame.span}: frames of {frame.sender} come from it", frame.span
            )
            draft.host.neighbours.append(
                Neighbour(
                    address=frame.sender,
                    link=on_link.link,
                    mac=frame.smac,
                    span=frame.span,
                    inferred=reason,
                )
            )


def _read_frames(sightings: Sightings) -> Iterator[_Frame]:
    for seen in sightings.packets:
        if seen.netns == HOST and seen.capture not in sightings.elsewhere:
            yield _Frame(seen.packet.src, seen.packet.smac, seen.link, seen.direction, seen.span)
    for arp in sightings.arps:
        if arp.netns == HOST and arp.capture not in sightings.elsewhere and arp.sender.value:
            asked = arp.target if arp.operation is ArpOperation.REQUEST else None
            yield _Frame(
                arp.sender, arp.smac or arp.sender_mac, arp.link, arp.direction, arp.span, asked
            )


def _is_outside(draft: NodeDraft, frame: _Frame) -> bool:
    """Tell whether a frame was taken where the host meets other hosts, not on a bridge or veth of
    its pods.
    """
    if frame.link is None:
        return True
    link = draft.host.links.get(IfName(frame.link))
    return link is None or not (
        looks_like_bridge(link)
        or looks_like_pod_side(link)
        or looks_internal(link)
        or link.name == "lo"
    )


def _find_own(draft: NodeDraft, frames: Sequence[_Frame]) -> Address | None:
    """Return the sender that is most likely the host itself; None where no sender stands out."""
    points: dict[Address, int] = {}
    own_macs = {link.mac for link in draft.host.links.values() if link.mac is not None}
    by_sender: dict[Address, list[_Frame]] = defaultdict(list)
    for frame in frames:
        by_sender[frame.sender].append(frame)
    for sender, sent in by_sender.items():
        owner = draft.owner(sender)
        if owner is not None and owner.name == HOST:
            return None
        points[sender] = -_ENOUGH if owner is not None else _count_points(draft, sent, own_macs)
    ranked = sorted(points, key=lambda address: -points[address])
    if not ranked or points[ranked[0]] < _ENOUGH:
        return None
    tied = len(ranked) > 1 and points[ranked[1]] == points[ranked[0]]
    return None if tied else ranked[0]


def _count_points(draft: NodeDraft, sent: Sequence[_Frame], own_macs: AbstractSet[Mac]) -> int:
    """Count what speaks for a sender of frames being the host itself."""
    points = 4 if sent[0].sender in draft.hinted else 0
    if any(frame.smac in own_macs for frame in sent):
        points += 4
    if any(frame.direction == "out" for frame in sent):
        points += 3
    requests = [frame.request for frame in sent if frame.request is not None]
    if requests:
        points += 2
    if any(_is_neighbour_by_route(draft, request) for request in requests):
        points += 2
    if len({frame.smac for frame in sent}) > 1:
        points += 1
    return points


def _is_neighbour_by_route(draft: NodeDraft, address: Address) -> bool:
    """Tell whether a route of the host itself says that the address is on a link."""
    route = draft.host.route_to(address)
    return (
        route is not None
        and route.prefix.length > 0
        and any(hop.gateway is None for hop in route.nexthops)
    )


def _add_own(
    draft: NodeDraft, sightings: Sightings, frames: Sequence[_Frame], address: Address
) -> None:
    sent = [frame for frame in frames if frame.sender == address]
    macs = [frame.smac for frame in sent if frame.smac is not None]
    usual = max(dict.fromkeys(macs), key=macs.count)
    first = next(frame for frame in sent if frame.smac == usual)
    link = _link_by_route(draft, address) or _link_of(draft, sightings, usual, first.link)
    if link is None:
        return
    if link.mac is None:
        draft.host.links[link.name] = replace(link, mac=usual)
    length = _length_of(draft, sightings.arps, address, link)
    why = (
        f"{first.span}: frames with this source and the MAC {usual} are the host's own; "
        f"it stands for {link.name}"
    )
    reason = Inferred(Basis.SHOWN, why, first.span)
    draft.host.addresses.append(
        InterfaceAddress(
            link=link.name, address=address, length=length, span=first.span, inferred=reason
        )
    )


def _link_by_route(draft: NodeDraft, address: Address) -> Link | None:
    """Return the device whose connected route holds the address."""
    route = draft.host.route_to(address)
    if (
        route is None
        or route.prefix.length == 0
        or route.nexthops[0].gateway is not None
        or route.nexthops[0].link is None
    ):
        return None
    return draft.host.links.get(route.nexthops[0].link)


def _link_of(draft: NodeDraft, sightings: Sightings, mac: Mac, captured: str | None) -> Link | None:
    """Return the device that an address with this MAC is on: a slave carries frames but has no
    addresses.
    """
    able = [
        link
        for link in draft.host.links.values()
        if link.name != "lo" and not _is_slave(draft, link)
    ]
    unknown = [link for link in able if link.mac is None and link.up]
    words = _list_words(sightings, mac)
    carrying = (
        *(link for link in able if link.mac == mac),
        *(link for link in unknown if link.name.lower() in words),
        *(link for link in unknown if link.name == captured),
    )
    if carrying:
        return carrying[0]
    return _choose_leading(draft, unknown)


def _list_words(sightings: Sightings, mac: Mac) -> set[str]:
    """Return the words of a MAC as it is printed, and of what is printed in its place."""
    printed = [mac, *(word for word, other in sightings.words.items() if other == mac)]
    return set(re.split(r"[\W_]+", " ".join(printed).lower()))


def _choose_leading(draft: NodeDraft, links: Sequence[Link]) -> Link | None:
    """Return the one device that leads to other hosts: the one on a switch, else the one that has
    slaves, else the only one.
    """
    leading = [link for link in links if not (looks_like_pod_side(link) or looks_internal(link))]
    switched: set[str] = set()
    for bridge in draft.ovs:
        switched.update(*bridge.ports.values())
    enslaving = {slave.master for slave in draft.host.links.values()}
    on_switch = [link for link in leading if link.name in switched]
    masters = [link for link in leading if link.name in enslaving]
    for group in (on_switch, masters, leading):
        if len(group) == 1:
            return group[0]
    return None


def _is_slave(draft: NodeDraft, link: Link) -> bool:
    """Tell whether the device only carries frames for its master; a VRF's port keeps its
    addresses.
    """
    if link.bond_slave_of is not None:
        return True
    master = draft.host.links.get(link.master) if link.master is not None else None
    return link.master is not None and (master is None or master.kind != "vrf")


def _length_of(draft: NodeDraft, arps: Sequence[ArpSighting], address: Address, link: Link) -> int:
    """Return a prefix length with which those who answer the host's ARP are on its link."""
    route = draft.host.route_to(address)
    if (
        route is not None
        and route.prefix.length > 0
        and any(hop.link == link.name for hop in route.nexthops)
    ):
        return route.prefix.length
    replies = [arp for arp in arps if arp.operation is ArpOperation.REPLY]
    answering = {arp.sender for arp in replies if arp.sender != address}
    length = HOST_LENGTH[address.family]
    while length > 8 and not all(Prefix.of(address, length).covers(other) for other in answering):
        length -= 1
    if length > 8:
        return length
    return HOST_LENGTH[address.family]

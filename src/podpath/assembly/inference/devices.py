"""Devices that no listing shows but something names: a route, an address, a neighbor, a captured
line, and `lo`.

They exist, or the line could not be there.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.assembly.captures.sightings import Sightings
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.net.addresses import IfName
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.case import ArpSighting, Sighting
from podpath.node.links import Link
from podpath.node.node import HOST

LOOPBACK = IfName("lo")
_EVERY = Inferred(Basis.IMPLIED, "every namespace has it")


def infer_devices(draft: NodeDraft, sightings: Sightings) -> None:
    """Add every device that something names to its namespace."""
    frames: list[Sighting | ArpSighting] = [*sightings.packets, *sightings.arps]
    seen_on: dict[tuple[str | None, str], Sighting | ArpSighting] = {}
    for seen in frames:
        if seen.link is not None and seen.capture not in sightings.elsewhere:
            seen_on.setdefault((seen.netns, seen.link), seen)
    for (name, link), seen in seen_on.items():
        netns = draft.netns(
            name or HOST,
            Inferred(Basis.SHOWN, f"a capture was taken in it: {seen.span}", seen.span),
        )
        netns.add_link(
            Link(
                name=IfName(link),
                inferred=Inferred(Basis.SHOWN, f"{seen.span} shows a frame on it", seen.span),
            )
        )
    for netns in draft.namespaces.values():
        netns.add_link(Link(name=LOOPBACK, kind="loopback", mtu=65536, inferred=_EVERY))
        for name, span, what in list(_named(netns)):
            why = f"{what} at {span} names it" if span is not None else f"{what} names it"
            netns.add_link(Link(name=name, inferred=Inferred(Basis.SHOWN, why, span)))


def _named(netns: NetnsDraft) -> Iterator[tuple[IfName, Span | None, str]]:
    """Yield the devices that facts of the namespace name, with what names them."""
    for route in netns.routes:
        for hop in route.nexthops:
            if hop.link is not None:
                yield hop.link, route.span, "a route"
    for address in netns.addresses:
        yield address.link, address.span, "an address"
    for neighbour in netns.neighbours:
        yield neighbour.link, neighbour.span, "a neighbour entry"
    for entry in netns.fdb:
        yield entry.link, entry.span, "a forwarding entry"
        if entry.bridge is not None:
            yield entry.bridge, entry.span, "a forwarding entry"
    for link in list(netns.links.values()):
        if link.master is not None:
            yield link.master, link.span, "a port"
        if link.lower is not None:
            yield link.lower, link.span, "a device on it"

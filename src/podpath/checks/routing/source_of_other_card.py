"""source-of-other-card: packets leave by one card with the address of another one.

What it is
    A capture on a card shows the host's own requests with the address of another of its cards, to a
    destination whose route leaves by this card, and no answer to them.

Why it breaks
    The kernel chooses the source when a program connects, by the route to the address that the
    program asks for. If that is a service's address, which only the default route covers, the
    source is that of the default route's card. Then the packet is translated to a pod, whose route
    leaves by another card, and keeps its source: the other end answers by another way, or not at
    all.

How to confirm
    ip route get SERVICE; ip route get POD; tcpdump -ni CARD host POD

How to fix
    Route the services' range by the card of the pods' network, or give that route a source: ip
    route add SERVICES via GATEWAY dev CARD src ADDRESS. Or masquerade what leaves by that card with
    an address that is not its own.

References
    ip_route_output_key_hash_rcu, ip_route_me_harder (v6.12); ip-route(8), src
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.topology import best_routes
from podpath.net.addresses import Address
from podpath.net.protocols import ACK, SYN, TCP
from podpath.net.provenance import Span
from podpath.node.case import Case, Sighting
from podpath.node.links import InterfaceAddress
from podpath.node.node import HOST, Netns
from podpath.node.routing import Route

CATEGORIES = (Category.SOURCE_ADDRESS, Category.POLICY_ROUTING, Category.ASYMMETRIC_PATH)
NAME = "source-of-other-card"
LIKELY = 0.8
AGAIN = 2
"""Requests that show that the host goes on asking."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first such request that is repeated and not answered."""
    host = case.node.host
    answered = {(one.packet.dst, one.packet.src) for one in case.sightings}
    asked = Counter(map(_ends, case.sightings))
    for seen in case.sightings:
        packet = seen.packet
        opens = packet.protocol == TCP and packet.flags & SYN and not packet.flags & ACK
        if not opens or seen.netns != HOST or seen.link is None:
            continue
        if (packet.src, packet.dst) in answered or asked[_ends(seen)] < AGAIN:
            continue
        held, route = _find_held(host, seen), next(iter(best_routes(host, packet.dst)), None)
        if held is not None and route is not None and _leads_by(route, seen.link):
            yield _report(seen, held, route)
            return


def _ends(seen: Sighting) -> tuple[str | None, Address, int, Address, int]:
    packet = seen.packet
    return seen.link, packet.src, packet.sport, packet.dst, packet.dport


def _find_held(host: Netns, seen: Sighting) -> InterfaceAddress | None:
    """Return the address of another device that the packet has, where this one has its own."""
    shown = [one for one in host.addresses.items if one.span is not None]
    own = any(one.link == seen.link and one.address.family == 4 for one in shown)
    held = (one for one in shown if one.address == seen.packet.src and one.link != seen.link)
    return next(held, None) if own else None


def _leads_by(route: Route, link: str) -> bool:
    """Tell whether a route that says no source leads by a device alone."""
    shown = route.span is not None and route.prefsrc is None and route.prefix.length > 0
    return shown and {str(hop.link) for hop in route.nexthops} == {link}


def _report(seen: Sighting, held: InterfaceAddress, route: Route) -> Finding:
    packet = seen.packet
    spans: tuple[Span | None, ...] = (seen.span, held.span, route.span)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets to {packet.dst} leave through {seen.link} with {packet.src}, the address of "
            f"{held.link}, and nobody answers."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=(
            "The source was chosen for another destination, which was translated after that.",
        ),
        breaks=(f"connections of the host that end up at {packet.dst}",),
        prevention="Give the service range a route through the card of the pods' network.",
        certainty=LIKELY,
        asks=(
            FollowUp(
                "which way packets to the service's own address go, and whether answers come in "
                "elsewhere",
                f"ip route get SERVICE; tcpdump -ni {held.link} host {packet.dst}",
                f"they leave through {held.link}: give the address a route through {seen.link}",
            ),
        ),
        marks=(str(packet.src), str(seen.link)),
    )

"""foreign-arp: an ARP frame announced the host's address with the MAC of another device.

What it is
    The host sent an ARP request (or reply) with its own IP address and the MAC of a device that
    does not carry that address: a bond slave, a bridge port, a second card on the same network.
    Everyone who hears it learns that MAC for the address: neighbors in their ARP tables, and
    switches that snoop ARP or route in theirs.

Why it breaks
    From then on, frames to the host have the foreign MAC as their destination. The bond or bridge
    that carries the address does not accept them, so inbound traffic is lost, while the host's own
    frames still leave with the right MAC. Connections hang in one direction until the host sends
    ARP with its own MAC, often half a minute later, when a neighbor entry is renewed.

How to confirm
    tcpdump -n -e -i DEVICE arp  # the host's address as sender, with another device's MAC
    # the sending device: it should be the one that carries the address
    ip route get TARGET_OF_THE_REQUEST
    ip neigh show HOST_ADDRESS                   # on a neighbor

How to fix
    Remove what made the host ask through the wrong device: most often a route on an enslaved device
    (see enslaved-route). If two cards are on one network on purpose: net.ipv4.conf.all.arp_announce
    = 2 and arp_ignore = 1. To recover at once, announce the right MAC: arping -U -I DEVICE
    HOST_ADDRESS

References
    arp_solicit, arp_send_dst (net/ipv4/arp.c), inet_select_addr (net/ipv4/devinet.c); RFC 826; RFC
    5227
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.checks.captured import words_of
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.links import enslaved_route
from podpath.checks.links.enslaved_route import SlaveRoute
from podpath.checks.topology import Enslaved, best_routes, find_link
from podpath.net.addresses import Address, Mac
from podpath.net.provenance import Span, list_spans
from podpath.node.case import ArpOperation, ArpSighting, Case, Sighting
from podpath.node.links import Link
from podpath.node.routing import Route

CATEGORIES = (Category.ARP_WRONG_ANSWER, Category.WRONG_ROUTE)
NAME = "foreign-arp"
UNANSWERED = 2
"""Frames to the foreign MAC that nobody answers, which tell that the address did not move there."""
SHOWN_FRAMES = 3
"""Lost frames that are quoted: one would do, three show that it went on."""


class ForeignMacPeriod(NamedTuple):
    """The time in which frames to the host went to the wrong MAC."""

    lost: tuple[Sighting, ...]
    """Inbound frames that carry the foreign MAC."""
    sent: tuple[Sighting, ...]
    """Outbound frames with the right MAC in the same time."""
    cure: Span | None
    """The frame that taught the neighbors the right MAC again."""
    seconds: float | None
    """How long it lasted, where the capture shows its end."""


def check(case: Case) -> Iterator[Finding]:
    """Report each ARP frame whose sender MAC is not the one that otherwise speaks for its sender
    address.
    """
    for arp, usual in find_foreign(case):
        yield _report(case, arp, usual)


def find_foreign(case: Case) -> Iterator[tuple[ArpSighting, Mac]]:
    """Yield each ARP frame that binds an address of this host to a foreign MAC, once, with the MAC
    that speaks for it.
    """
    told: set[tuple[Address, Mac]] = set()
    for arp in case.arps:
        if (
            arp.sender_mac is None
            or arp.sender.is_unspecified
            or (arp.sender, arp.sender_mac) in told
        ):
            continue
        usual = find_usual_mac(case, arp.sender, arp)
        if usual is not None and usual != arp.sender_mac and _is_ours(case, arp, usual):
            told.add((arp.sender, arp.sender_mac))
            yield arp, usual


def find_usual_mac(case: Case, address: Address, arp: ArpSighting) -> Mac | None:
    """Return the MAC that speaks for an address: of the device that carries it, else the one most
    frames come from.
    """
    for item in case.node.host.addresses.items:
        if item.address == address:
            link = next(
                (link for link in case.node.host.links.items if link.name == item.link), None
            )
            if link is not None and link.mac is not None:
                return link.mac
    spoken = Counter(
        seen.packet.smac
        for seen in case.sightings
        if seen.packet.src == address and seen.packet.smac is not None
    )
    spoken.update(
        other.sender_mac
        for other in case.arps
        if other.sender == address and other is not arp and other.sender_mac is not None
    )
    return spoken.most_common(1)[0][0] if spoken else None


def _is_ours(case: Case, arp: ArpSighting, usual: Mac) -> bool:
    """Tell a host that speaks with two MACs from two hosts that claim one address.

    The address is the host's where a device carries it. Else the frames tell: what the usual MAC
    sends after the foreign ARP goes on undisturbed, and replies come back with the foreign MAC as
    their destination.
    """
    host = case.node.host
    carried = [item for item in host.addresses.items if item.address == arp.sender]
    if any(not item.inferred for item in carried):
        return True
    frames = _list_frames(case, arp)
    if any(seen.packet.smac == arp.sender_mac for seen in frames.sent):
        return False  # it speaks with that MAC as well: it moved, or somebody else has it too
    if any(not _later(seen.time, arp.time) for seen in frames.astray):
        return False  # frames went to that MAC before: the ARP frame taught nobody
    if host.holds(arp.sender) or any(link.mac == arp.sender_mac for link in host.links.items):
        return True
    if not frames.astray:
        return False
    spoken = [seen for seen in frames.sent if seen.packet.smac == usual]
    if any(_later(seen.time, arp.time) for seen in spoken):
        return True
    falls_silent = all(_later(seen.time, arp.time) for seen in frames.astray)
    return bool(spoken) and falls_silent and len(frames.astray) >= UNANSWERED


class _SenderFrames(NamedTuple):
    """The frames of an ARP packet's sender."""

    sent: Sequence[Sighting]
    """Those that its address sends."""
    astray: Sequence[Sighting]
    """Those to its address that carry the MAC of the ARP packet."""


def _list_frames(case: Case, arp: ArpSighting) -> _SenderFrames:
    sent: list[Sighting] = []
    astray: list[Sighting] = []
    for seen in case.sightings:
        if seen.packet.src == arp.sender:
            sent.append(seen)
        if seen.packet.dst == arp.sender and seen.packet.dmac == arp.sender_mac:
            astray.append(seen)
    return _SenderFrames(sent, astray)


def find_window(case: Case, arp: ArpSighting, usual: Mac) -> ForeignMacPeriod:
    """Collect the frames that show the one-way loss, from the foreign ARP to the first that shows
    it cured.
    """
    frames = _list_frames(case, arp)
    end, cure = _find_cure(case, arp, usual)
    sent = tuple(
        seen
        for seen in frames.sent
        if seen.packet.smac == usual and _later(seen.time, arp.time) and _earlier(seen.time, end)
    )
    seconds = end - arp.time if end is not None and arp.time is not None else None
    return ForeignMacPeriod(tuple(frames.astray), sent, cure, seconds)


def _find_cure(case: Case, arp: ArpSighting, usual: Mac) -> tuple[float, Span] | tuple[None, None]:
    """Return when the sender's usual MAC is told again, and by which line."""
    cures: list[tuple[float, Span]] = []
    for other in case.arps:
        told = other.sender == arp.sender and other.sender_mac == usual
        if told and other.time is not None and _later(other.time, arp.time):
            cures.append((other.time, other.span))
    return min(cures, key=lambda cure: cure[0]) if cures else (None, None)


def _report(case: Case, arp: ArpSighting, usual: Mac) -> Finding:
    window = find_window(case, arp, usual)
    route = _find_route(case, arp)
    owner = _find_owner(case, arp, route)
    spans = [arp.span, *_route_spans(route), *list_spans(window.lost[:SHOWN_FRAMES])]
    if owner is not None and owner.span is not None:
        spans.append(owner.span)
    if window.cure is not None:
        spans.append(window.cure)
    if route is not None:
        spans += route.enslaved.spans
    spans += list_spans(window.sent[:1])
    return Finding(
        check=NAME,
        severity=Severity.CAUSE if window.lost else Severity.FAULT,
        claim=_claim(arp, route, owner),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=tuple(_reasons(arp, usual, route, window)),
        breaks=_broken(arp, window),
        repairs=_repairs(case, arp, route),
        prevention=enslaved_route.PREVENTION
        if route is not None
        else "Set net.ipv4.conf.all.arp_announce = 2 and arp_ignore = 1.",
        marks=tuple(word for word in (arp.sender_mac, str(arp.sender), *_metrics(route)) if word),
    )


def _claim(arp: ArpSighting, route: SlaveRoute | None, owner: Link | None) -> str:
    what = f"An ARP {arp.operation} bound {arp.sender} to {arp.sender_mac}"
    if route is not None:
        return (
            f"{what}, because the route to {route.route.prefix} over {route.link.name} wins, "
            f"although {route.link.name} is {route.enslaved.how}."
        )
    return (
        f"{what}, the MAC of {owner.name}, which does not carry it."
        if owner is not None
        else f"{what}, a foreign MAC."
    )


def _reasons(
    arp: ArpSighting, usual: Mac, route: SlaveRoute | None, window: ForeignMacPeriod
) -> Iterator[str]:
    if route is not None:
        rivals = [other for other in route.beaten if other.nexthops]
        beaten = "".join(
            f", before the one over {other.nexthops[0].link} (metric {other.metric})"
            for other in rivals[-1:]
        )
        yield (
            f"The host asks for {arp.target}: its best route is {route.route.prefix} over "
            f"{route.link.name} (metric {route.route.metric}){beaten}."
        )
        yield (
            f"{route.link.name} has no address of its own, so the request carries {arp.sender} "
            f"with {route.link.name}'s MAC."
        )
        if route.link.mac is not None and route.link.mac != arp.sender_mac:
            yield (
                f"The capture shows {arp.sender_mac} and the listing {route.link.mac} for "
                f"{route.link.name}: they come from different times or hosts, or one was edited."
            )
    yield (
        f"Everything else that {arp.sender} sends carries {usual}; hosts that hear the "
        f"{arp.operation} now send to {arp.sender_mac} instead."
    )
    if window.lost:
        until = ""
        if window.seconds is not None and arp.time is not None:
            until = (
                f" {words_of(arp.time, arp.time + window.seconds)}, until ARP with {usual} goes out"
            )
        outbound = ", while outbound frames keep flowing" if window.sent else ""
        yield (
            f"{len(window.lost)} frames to {arp.sender} carry the wrong MAC{until}{outbound}: only "
            "inbound traffic is lost."
        )


def _broken(arp: ArpSighting, window: ForeignMacPeriod) -> tuple[str, ...]:
    how_long = (
        f" for {window.seconds:.0f} s"
        if window.seconds is not None
        else " until ARP with the right MAC goes out"
    )
    return (f"everything inbound to {arp.sender}{how_long}; outbound is fine",)


def _find_route(case: Case, arp: ArpSighting) -> SlaveRoute | None:
    """Return the route by which the host asks for the ARP's target: over an enslaved device, or one
    without the address.
    """
    if arp.operation is not ArpOperation.REQUEST:
        return None
    fitting = [
        found
        for found in enslaved_route.find_slave_routes(case.node)
        if found.wins and found.route.prefix.covers(arp.target)
    ]
    return max(
        fitting, key=lambda found: found.route.prefix.length, default=None
    ) or _find_stray_route(case, arp)


def _find_stray_route(case: Case, arp: ArpSighting) -> SlaveRoute | None:
    """Return the winning one of several routes to one prefix, where its device is not known to
    carry the sender's address.
    """
    routes = best_routes(case.node.host, arp.target)
    same = [route for route in routes if route.prefix == routes[0].prefix and route.nexthops]
    if len(same) < 2 or _carries(case, same[0], arp.sender):
        return None
    name = same[0].nexthops[0].link
    link = find_link(case.node.host, name) if name is not None else None
    if link is None or len({route.nexthops[0].link for route in same}) < 2:
        return None
    stray = Enslaved("", f"not the device that carries {arp.sender}", ())
    return SlaveRoute(same[0], link, stray, (), tuple(same[1:]))


def _carries(case: Case, route: Route, address: Address) -> bool:
    return any(
        item.address == address and item.link == route.nexthops[0].link
        for item in case.node.host.addresses.items
    )


def _find_owner(case: Case, arp: ArpSighting, route: SlaveRoute | None) -> Link | None:
    if route is not None:
        return route.link
    return next((link for link in case.node.host.links.items if link.mac == arp.sender_mac), None)


def _route_spans(route: SlaveRoute | None) -> Iterator[Span]:
    if route is not None:
        for one in (route.route, *route.beaten):
            if one.span is not None:
                yield one.span


def _metrics(route: SlaveRoute | None) -> Iterable[str]:
    return (str(route.route.metric), route.link.name) if route is not None else ()


def _repairs(case: Case, arp: ArpSighting, route: SlaveRoute | None) -> tuple[Repair, ...]:
    if route is not None:
        slaves = [
            found.route
            for found in enslaved_route.find_slave_routes(case.node)
            if found.route.prefix == route.route.prefix
        ]
        if slaves:
            return (enslaved_route.repair(slaves),)
        rightful = next(
            (other for other in route.beaten if _carries(case, other, arp.sender)), route.beaten[-1]
        )
        wrong = [other for other in (route.route, *route.beaten) if other is not rightful]
        return (
            replace(
                enslaved_route.repair(wrong),
                title="delete the routes over devices that do not carry the address",
            ),
        )
    return (
        Repair(
            title="announce the right MAC to recover at once",
            commands=(f"arping -U -c 3 -I DEVICE {arp.sender}",),
        ),
    )


def _later(time: float | None, than: float | None) -> bool:
    return time is None or than is None or time > than


def _earlier(time: float | None, than: float | None) -> bool:
    return time is None or than is None or time < than

"""gratuitous-arp: an address moved to another MAC, with or without telling its neighbors.

What it is
    An address that used one MAC now uses another. Whoever takes over an address (keepalived,
    MetalLB, a bond that fails over, a recreated pod that got the address of an old one) should
    announce it with a gratuitous ARP: a frame that asks for, or answers with, its own address. A
    capture shows the announcement, or that there was none.

Why it breaks
    Without it, neighbors keep the old MAC until their entry is renewed, and send to it meanwhile.

How to confirm
    tcpdump -nei DEVICE arp                      # who-has X tell X, or an unsolicited reply
    ip neigh show ADDRESS                        # on a neighbor: the old MAC, STALE or REACHABLE

How to fix
    Announce it: arping -U -c 3 -I DEVICE ADDRESS; set net.ipv4.conf.DEVICE.arp_notify = 1 to make
    the kernel announce it when the device comes up. A neighbor that has no entry yet learns from
    announcements only with arp_accept = 1.

References
    arp_send, inetdev_send_gratuitous_arp (net/ipv4/devinet.c); arp_is_garp (net/ipv4/arp.c); RFC
    5227, 3; RFC 5944, 4.6
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.captured import CapturedTraffic, count, device_of, list_routers, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.links.foreign_arp import find_foreign
from podpath.checks.links.mac_flap import gather_claims
from podpath.checks.links.wrong_mac import is_answered
from podpath.net.addresses import Address, Mac
from podpath.net.provenance import list_spans
from podpath.node.case import ArpOperation, ArpSighting, Case, Sighting

CATEGORIES = (Category.ARP_WRONG_ANSWER, Category.DUPLICATE_ADDRESS)
NAME = "gratuitous-arp"
ASTRAY = 2
"""Frames to the old MAC after the move: one may have been on its way."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each address that moves from one MAC to another once, and whether that was
    announced.
    """
    routers = list_routers(case)
    foreign = {arp.sender for arp, _ in find_foreign(case)}
    for (device, address), claims in gather_claims(case).items():
        places = [claim.place for claim in claims]
        old, new = Mac(places[0]), Mac(places[-1])
        moved = places.index(new)
        if (
            address in foreign
            or old == new
            or set(places[:moved]) != {old}
            or set(places[moved:]) != {new}
        ):
            continue
        told = [
            arp
            for arp in case.arps
            if arp.sender == address and arp.sender_mac == new and is_gratuitous(arp)
        ]
        since = claims[moved].order
        astray = [
            seen
            for seen in case.sightings
            if seen.packet.dst == address
            and device_of(seen) == device
            and seen.packet.dmac == old
            and (seen.time or 0.0, seen.span.line) > since
        ]
        if old in routers or is_answered(traffic, address, astray):
            astray = []  # who has the old MAC serves the address, or sends on to it
        yield _report(address, (old, new), told, astray)


def is_gratuitous(arp: ArpSighting) -> bool:
    """Tell whether an ARP frame announces its sender: it asks for itself, or answers nobody in
    particular.
    """
    return arp.sender == arp.target or (
        arp.operation is ArpOperation.REPLY and arp.dmac == Mac("ff:ff:ff:ff:ff:ff")
    )


def _report(
    address: Address, macs: tuple[Mac, Mac], told: Sequence[ArpSighting], astray: Sequence[Sighting]
) -> Finding:
    old, new = macs
    lost = len(astray) >= ASTRAY
    how = "and announces it" if told else "and no gratuitous ARP is seen"
    after = f"; {count(len(astray), 'frame')} to {old} after that" if astray else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT if lost else Severity.NOTE,
        claim=f"{address} moves from {old} to {new} {how}{after}.",
        evidence=(*list_spans(told[:2]), *quote(astray)),
        reasoning=("Neighbours that were not told keep the old MAC until their entry is renewed.",)
        if lost and not told
        else (),
        breaks=(f"packets to {address}, until its neighbors ask again",) if lost else (),
        repairs=(
            Repair(title="announce the address", commands=(f"arping -U -c 3 -I DEVICE {address}",)),
        )
        if lost
        else (),
        marks=(str(address), old, new),
    )

"""mac-flap: a MAC keeps changing ports, or an address keeps changing MACs.

What it is
    An address uses one MAC, then another, then the first again; or frames from one MAC come in on
    one bridge port, then another, and back.

Why it breaks
    Switches and bridges learn a MAC's port from the last frame they saw from it; neighbors learn an
    address's MAC from the last ARP. Frames go to the place learned last, and are lost for the other
    one. The cause is a loop, two machines with one address or MAC (a cloned virtual machine), or a
    bond whose slaves the switch does not treat as one link.

How to confirm
    bridge fdb show | grep MAC; bridge monitor fdb
    arping -I DEVICE ADDRESS                     # answers with two MACs
    dmesg | grep -i 'own address as source'

How to fix
    Remove the loop, or give each machine its own MAC and address; set the bond to the mode that the
    switch is configured for.

References
    br_fdb_update (net/bridge/br_fdb.c); neigh_update (net/core/neighbour.c)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.frames import point_of
from podpath.checks.captured import (
    CapturedTraffic,
    Device,
    device_of,
    is_bridge,
    is_mac,
    list_routers,
    order_of,
)
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import find_link
from podpath.net.addresses import Address, Mac
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case, Sighting
from podpath.node.node import HOST

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.ARP_WRONG_ANSWER)
NAME = "mac-flap"
CHANGES = 3
"""A failover changes it once, and back once more. A MAC that is seen once alone is a damaged frame
as well as anything.
"""
DAMAGED = 8
"""So many MACs that are seen once are those of damaged frames: then others are, too."""


class _Claim(NamedTuple):
    """Somebody speaks for an address, or a MAC is heard somewhere."""

    order: tuple[float, int]
    place: str
    """The MAC, or the port of the bridge."""
    span: Span
    talk: tuple[object, ...] = ()
    """The conversation that the frame belongs to; empty for ARP and ports of a bridge."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each address whose MAC, and each MAC whose bridge port, changes back and forth."""
    _ = traffic
    for (_, address), claims in gather_claims(case).items():
        often = Counter(claim.place for claim in claims)
        if sum(number == 1 for number in often.values()) > DAMAGED:
            continue
        heeded = _list_heeded(claims)
        changes = _changes([claim for claim in heeded if often[claim.place] > 1])
        if len(changes) > CHANGES and len({claim.place for claim in changes}) < len(changes):
            macs = list(dict.fromkeys(claim.place for claim in changes))
            yield _report(
                f"{address} uses {' and '.join(macs)} in turn",
                changes,
                (str(address), *macs),
            )
    for mac, claims in _ports(case).items():
        changes = _changes(claims)
        if len(changes) > CHANGES:
            ports = list(dict.fromkeys(claim.place for claim in changes))
            yield _report(
                f"Frames from {mac} come in on {' and '.join(ports)} in turn",
                changes,
                (mac, *ports),
            )


def _list_heeded(claims: Sequence[_Claim]) -> list[_Claim]:
    """Return the claims that contradict each other. A device that speaks with the MAC that ARP
    tells may have another one for some of its services: conversations that keep to that one count
    only where the first never speaks, or somebody tells both.
    """
    told = {claim.place for claim in claims if not claim.talk}
    if all(claim.place not in told for claim in claims if claim.talk):
        return list(claims)
    macs: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for claim in claims:
        macs[claim.talk].add(claim.place)
    return [claim for claim in claims if claim.place in told or len(macs[claim.talk]) > 1]


def gather_claims(case: Case) -> dict[tuple[Device, Address], list[_Claim]]:
    """Return who speaks for each address at each device, in order of time: for those that ARP is
    seen of there.

    Other addresses come with the MAC of a router, of which there may be several. Each device is a
    link of its own: a gateway's address has another MAC on each veth of the ptp plugin.
    """
    found: dict[tuple[Device, Address], list[_Claim]] = defaultdict(list)
    for arp in case.arps:
        device = device_of(arp)
        if (
            device is not None
            and arp.sender_mac is not None
            and is_mac(arp.sender_mac)
            and not arp.sender.is_unspecified
        ):
            found[device, arp.sender].append(
                _Claim(_placed(arp.capture, arp.time, arp.span), arp.sender_mac, arp.span)
            )
    routers = list_routers(case) if found else set()
    for seen in case.sightings if found else ():
        mac, device = seen.packet.smac, device_of(seen)
        if (
            device is None
            or mac is None
            or not is_mac(mac)
            or mac in routers
            or (device, seen.packet.src) not in found
            or seen.tunnel
        ):
            continue
        if not is_bridge(case, point_of(seen)):
            packet = seen.packet
            talk = (packet.protocol, packet.dst, packet.sport, packet.dport)
            found[device, packet.src].append(
                _Claim(_placed(seen.capture, seen.time, seen.span), mac, seen.span, talk)
            )
    several: dict[tuple[Device, Address], list[_Claim]] = {}
    for key, claims in found.items():
        if len({claim.place for claim in claims}) > 1:
            several[key] = sorted(claims, key=lambda claim: claim.order)
    return several


def _placed(capture: int, time: float | None, span: Span) -> tuple[float, int]:
    return (time if time is not None else float(capture)), span.line


def _ports(case: Case) -> dict[Mac, list[_Claim]]:
    """Return where the frames of each MAC came in, by the ports of one bridge."""
    found: dict[tuple[Mac, str], list[_Claim]] = defaultdict(list)
    coming = [seen for seen in case.sightings if seen.link is not None and seen.direction == "in"]
    for seen in sorted(coming, key=order_of):
        bridge = _bridge_of(case, seen)
        if bridge is not None and seen.packet.smac is not None:
            found[seen.packet.smac, bridge].append(
                _Claim(order_of(seen), str(seen.link), seen.span)
            )
    return {mac: claims for (mac, _), claims in found.items()}


def _bridge_of(case: Case, seen: Sighting) -> str | None:
    if seen.link is None or seen.netns not in (None, HOST):
        return None
    link = find_link(case.node.host, seen.link)
    return link.master if link is not None else None


def _changes(claims: Sequence[_Claim]) -> list[_Claim]:
    """Return the first claim and each one that differs from the one before it."""
    changes: list[_Claim] = []
    for claim in claims:
        if not changes or claim.place != changes[-1].place:
            changes.append(claim)
    return changes


def _report(what: str, changes: Sequence[_Claim], marks: tuple[str, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{what}: it changes {len(changes) - 1} times.",
        evidence=list_spans(changes[:4]),
        reasoning=("Devices that learn from the last frame send to a different place each time.",),
        breaks=("packets sent there, intermittently",),
        marks=marks,
    )

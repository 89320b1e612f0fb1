"""What the checks of captures share: frames as quotes, points and intervals in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from podpath.capture.connections import Endpoint, Traffic
from podpath.capture.frames import CapturePoint, clock
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.net.provenance import Span
from podpath.node.case import ArpSighting, Case, Sighting
from podpath.node.node import HOST

CapturedTraffic = Traffic[Sighting]
Device = tuple[int, str | None, str | None]
"""A link that frames were captured on: the capture, the namespace, the device."""
SCANNED = 20
"""Different ports that nobody needs who does not scan."""
SHOWN = 3
"""Frames of a kind that are quoted: one would do, three show that it went on."""
BRIDGES = ("cni", "docker", "br-", "cbr", "kube-bridge", "virbr", "lxdbr", "podman", "weave")
"""How bridges of container networks are called, where no listing tells."""


def quote(*groups: Iterable[Sighting]) -> tuple[Span, ...]:
    """Return the lines of frames, the first group's first, each once and as many of a group as are
    worth reading.
    """
    return tuple(dict.fromkeys(seen.span for group in groups for seen in list(group)[:SHOWN]))


def words_of(start: float | None, end: float | None) -> str:
    """Say when something began and ended, and how long it took: `from 15:38:52.897481 to
    15:39:22.088589 (29.2 s)`.
    """
    if start is None:
        return "at a time that the capture does not show"
    if end is None:
        return f"from {clock(start)} on"
    return f"from {clock(start)} to {clock(end)} ({end - start:.1f} s)"


def times(count: int) -> str:
    """Say how often."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def count(number: int, what: str) -> str:
    """Say how many."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def list_scanners(traffic: CapturedTraffic) -> frozenset[Address]:
    """Return the addresses that try `SCANNED` ports or more of one host, or of many hosts, and talk
    on hardly any: that most are refused or silent is what a scan is for.
    """
    tried: dict[Address, set[Endpoint]] = defaultdict(set)
    talked: dict[Address, set[Endpoint]] = defaultdict(set)
    for flow in traffic.flows:
        if flow.protocol == protocols.TCP and flow.syns:
            tried[flow.client[0]].add(flow.server)
            if any(seen.packet.payload for seen in flow.acks):
                talked[flow.client[0]].add(flow.server)
    found = set()
    for client, servers in tried.items():
        ports = {port for _, port in servers}
        if len(ports) >= SCANNED and len(talked[client]) * 10 <= len(servers):
            found.add(client)
    return frozenset(found)


def device_of(seen: Sighting | ArpSighting) -> Device | None:
    """Return the link that a frame was captured on; None where the capture is of all devices and
    does not say which (a cooked one of the older kind).
    """
    cooked = seen.direction is not None
    if isinstance(seen, Sighting):
        cooked |= seen.packet.smac is not None and seen.packet.dmac is None
    if seen.link is None and cooked:
        return None
    return seen.capture, seen.netns, seen.link


def is_bridge(case: Case, point: CapturePoint) -> bool:
    """Tell whether a point is a bridge, by the node's listing, else by what such devices are
    called.
    """
    if point.link is None:
        return False
    namespace = case.node.namespaces.get(point.netns or HOST)
    for link in namespace.links.items if namespace is not None else ():
        if link.name == point.link and link.span is not None and link.kind:
            return link.kind == "bridge"
    return point.link.startswith(BRIDGES)


def is_mac(mac: Mac) -> bool:
    """Tell a MAC from a word that somebody put in its place."""
    return len(mac) == 17 and mac.count(":") == 5


def list_routers(case: Case) -> set[Mac]:
    """Return the MACs that speak for more than one address of IPv4: what they send they forward."""
    speakers: dict[Mac, set[Address]] = defaultdict(set)
    for seen in case.sightings:
        if seen.packet.smac is not None and seen.packet.src.family == 4:
            speakers[seen.packet.smac].add(seen.packet.src)
    for arp in case.arps:
        if arp.sender_mac is not None and arp.sender.family == 4:
            speakers[arp.sender_mac].add(arp.sender)
    return {mac for mac, addresses in speakers.items() if len(addresses) > 1}


def is_group(mac: Mac) -> bool:
    """Tell whether a MAC is a broadcast or multicast one, which is nobody's own."""
    return is_mac(mac) and int(mac[:2], 16) & 1 == 1


def order_of(seen: Sighting) -> tuple[float, int]:
    """Order frames of one capture: by time, and by line where none is printed."""
    return (seen.time if seen.time is not None else 0.0), seen.span.line


def is_received(seen: Sighting, own: Collection[Address]) -> bool:
    """Tell whether a frame came in where it was captured, by its direction or by whose addresses it
    has.
    """
    if seen.direction is None:
        return seen.packet.dst in own and seen.packet.src not in own
    return seen.direction == "in"

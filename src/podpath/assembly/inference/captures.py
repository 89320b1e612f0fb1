"""What captures show of the topology: whose addresses are behind which device, and which are the
host's own.

A frame that comes in on the host's end of a veth pair was sent by the pod behind it, and one that
leaves by a pod's own device has the pod's address. A packet that leaves with another source than it
came in with shows an address of the host, and the way out. Where the same pod is seen from both
sides, the two devices are the ends of one pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from podpath.assembly.captures.sightings import Sightings
from podpath.assembly.devices.names import (
    looks_internal,
    looks_like_bridge,
    looks_like_pod_side,
    looks_like_uplink,
)
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.pod_namespaces import PodSeed, add_pod
from podpath.assembly.scenes.scene import ReadSources
from podpath.capture.connections import CapturedConnection, gather_flows
from podpath.evidence.records import AttemptRecord
from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.provenance import Basis, Inferred
from podpath.node.case import Sighting
from podpath.node.links import InterfaceAddress, Link
from podpath.node.node import HOST

_PRIVATE = tuple(
    Prefix.parse(text)
    for text in (
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "fc00::/7",
    )
)
HOST_LENGTH = {4: 24, 6: 64}
"""Prefix lengths that an address of the host is taken to have where nothing shows one."""


class SourceTranslation(NamedTuple):
    """A packet, and its copy with another source further on."""

    before: Sighting
    after: Sighting


def infer_from_captures(draft: NodeDraft, evidence: ReadSources, sightings: Sightings) -> None:
    """Add the pods, host addresses and veth pairs that captures show."""
    packets = [
        seen
        for seen in sightings.packets
        if seen.capture not in sightings.elsewhere and seen.link is not None
    ]
    on_host = [
        connection
        for connection in sightings.connections
        if connection.start.syns and connection.start.point.netns == HOST
    ]
    translations = list(_find_translations(on_host))
    for translation in translations:
        _add_host_address(draft, translation)
    owners = list(_find_owners(draft, packets))
    shown = {seed.address for seed in owners}
    owners += [
        seed for seed in _find_clients(draft, evidence, on_host) if seed.address not in shown
    ]
    known = {item.before.packet.src for item in translations} | {seed.address for seed in owners}
    for seed in _find_pods(draft, packets, owners, known):
        add_pod(draft, seed)


def is_private(address: Address) -> bool:
    """Tell whether an address is of a range that only hosts and pods of one organisation use."""
    return any(prefix.covers(address) for prefix in _PRIVATE)


def _find_translations(
    connections: Iterable[CapturedConnection[Sighting]],
) -> Iterator[SourceTranslation]:
    """Yield connections that leave the host from another address than they came in from."""
    for connection in connections:
        for one, other in pairwise(connection.translations):
            before, after = one.syns[0], other.syns[0]
            masqueraded = one.client[0] != other.client[0] and one.server == other.server
            if masqueraded and after.link != before.link and after.direction != "in":
                yield SourceTranslation(before, after)


def _add_host_address(draft: NodeDraft, translation: SourceTranslation) -> None:
    """Take the source of a translated packet for an address of the host, on the device that it
    leaves by.
    """
    address, link = translation.after.packet.src, translation.after.link
    if link is None or draft.owner(address) is not None:
        return
    why = (
        f"{translation.after.span}: what came in from {translation.before.packet.src} leaves from "
        f"it by {link}"
    )
    draft.host.addresses.append(
        InterfaceAddress(
            link=IfName(link),
            address=address,
            length=HOST_LENGTH[address.family],
            span=translation.after.span,
            inferred=Inferred(Basis.SHOWN, why, translation.after.span),
        )
    )


def _find_owners(draft: NodeDraft, packets: Iterable[Sighting]) -> Iterator[PodSeed]:
    """Yield the addresses that a pod's own captures show it to have: what leaves its device has one
    as its source.
    """
    frames: dict[tuple[str, str], list[Sighting]] = {}
    for seen in packets:
        if (
            seen.netns is not None
            and seen.netns != HOST
            and seen.link is not None
            and seen.link != "lo"
        ):
            frames.setdefault((seen.netns, seen.link), []).append(seen)
    for (netns, link), shown in frames.items():
        sent = {seen.packet.src for seen in shown if seen.direction == "out"}
        got = {seen.packet.dst for seen in shown if seen.direction == "in"}
        own = sent or got or _common_ends(shown)
        for address in own:
            forwards = sum(other.family == address.family for other in own) > 1
            unusable = (
                address.is_multicast or address.value in {0, 0xFFFFFFFF} or address.is_link_local
            )
            if forwards or unusable or draft.owner(address) is not None:
                continue
            first = next(seen for seen in shown if address in {seen.packet.src, seen.packet.dst})
            reason = f"{first.span}: what leaves {link} in {netns} has {address} as its source"
            yield PodSeed(
                address=address,
                reason=reason,
                shown=True,
                span=first.span,
                netns=netns,
                link=IfName(link),
            )


def _find_clients(
    draft: NodeDraft, evidence: ReadSources, connections: Iterable[CapturedConnection[Sighting]]
) -> Iterator[PodSeed]:
    """Give namespaces of unknown address the one that a capture shows for the connection that was
    tried in them.
    """
    tried: dict[tuple[Address, int], str] = {}
    for scene, record in evidence.records(AttemptRecord):
        inside = scene.netns != HOST and not scene.is_elsewhere
        if inside and record.src is None and not _has_address(draft, scene.netns):
            tried[record.dst, record.dport] = scene.netns
    given: set[str] = set()
    flows = (flow for connection in connections for flow in connection.translations)
    for flow in flows:
        netns, (address, _), syn = tried.get(flow.server), flow.client, flow.syns[0]
        if netns is None or netns in given:
            continue
        if syn.direction == "in" and draft.owner(address) is None:
            given.add(netns)
            reason = f"{syn.span}: {address} opens the connection that was tried in {netns}"
            yield PodSeed(address=address, reason=reason, shown=True, span=syn.span, netns=netns)


def _has_address(draft: NodeDraft, netns: str) -> bool:
    shown = draft.namespaces[netns].addresses if netns in draft.namespaces else []
    return any(own.scope == "global" for own in shown)


def _common_ends(frames: Sequence[Sighting]) -> set[Address]:
    """Return the address that is an end of every frame on a device; of two, the one that opens the
    connections.
    """
    ends = set[Address]({frames[0].packet.src, frames[0].packet.dst})
    for seen in frames:
        ends &= {seen.packet.src, seen.packet.dst}
    if len(ends) == 2:
        opened = [flow.client[0] for flow in gather_flows(frames) if flow.syns]
        if opened and opened[0] in ends:
            ends = {opened[0]}
        else:
            ends = {address for address in ends if is_private(address)}
    return ends if len(ends) == 1 else set()


def _find_pods(
    draft: NodeDraft, packets: Sequence[Sighting], owners: Sequence[PodSeed], known: set[Address]
) -> Iterator[PodSeed]:
    """Yield the pods seen in their own namespaces, each with the host's device behind which the
    same address is seen.
    """
    behind: dict[Address, tuple[IfName, Sighting]] = {}
    known |= {
        own.address
        for netns in draft.namespaces.values()
        if netns.name != HOST
        for own in netns.addresses
    }
    for link, seen in _devices_of_pods(draft, packets, known):
        behind.setdefault(seen.packet.src, (link, seen))
    seeded: set[Address] = set()
    for seed in owners:
        there = behind.get(seed.address)
        host_link = None if there is None else there[0]
        seeded.add(seed.address)
        yield PodSeed(
            address=seed.address,
            reason=seed.reason,
            shown=True,
            span=seed.span,
            netns=seed.netns,
            link=seed.link,
            host_link=host_link,
        )
    for address, (link, seen) in behind.items():
        if address not in seeded:
            reason = f"{seen.span}: what comes in on {link} is sent by {address}"
            yield PodSeed(
                address=address, reason=reason, shown=True, span=seen.span, host_link=link
            )


def _devices_of_pods(
    draft: NodeDraft, packets: Sequence[Sighting], known_pods: set[Address]
) -> Iterator[tuple[IfName, Sighting]]:
    """Yield the host's devices that frames of one pod come in on, with the first such frame."""
    frames: dict[str, list[Sighting]] = {}
    for seen in packets:
        if seen.netns == HOST and seen.link is not None and seen.direction == "in":
            frames.setdefault(seen.link, []).append(seen)
    for name, shown in frames.items():
        link = draft.host.links[IfName(name)]
        sources = {seen.packet.src for seen in shown if not draft.host.owns(seen.packet.src)}
        if len(sources) != 1 or not _is_pod_side(draft, link, next(iter(sources)), known_pods):
            continue
        first = next(seen for seen in shown if seen.packet.src in sources)
        yield link.name, first


def _is_pod_side(draft: NodeDraft, link: Link, source: Address, known_pods: set[Address]) -> bool:
    """Tell whether what comes in on the host's device is sent by a pod behind it and not by the
    world outside.
    """
    if (
        link.name == "lo"
        or looks_like_bridge(link)
        or looks_internal(link)
        or link.master is not None
    ):
        return False
    if draft.host.leads_out(link):
        return False
    return (
        source in known_pods
        or looks_like_pod_side(link)
        or (is_private(source) and not looks_like_uplink(link))
    )

"""Pods on a bridge of the host: addresses of the bridge's own subnet that something in the evidence
speaks of.

A bridge plugin gives the bridge the first address of the node's pod range; any other address of
that range seen in a capture, in the conntrack table, as an endpoint or as a neighbor, is behind one
of its ports. Which port is his the forwarding table may tell; where it does not, the ports are
dealt out in order, since any is as good for a walk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.captures.sightings import BROADCAST, Sightings
from podpath.assembly.devices.names import (
    looks_internal,
    looks_like_bridge,
    looks_like_pod_side,
    looks_like_uplink,
)
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.assembly.inference.pod_namespaces import PodSeed, add_pod
from podpath.net.addresses import WIDTH, Address, IfName, Mac, Prefix
from podpath.net.provenance import Basis, Inferred, Known, Span
from podpath.node.links import Bridge, InterfaceAddress, Link
from podpath.node.node import HOST

_MOST = 64
"""Pods made on one bridge: a node runs about a hundred, and a walk meets two."""
_SPREAD = 24
"""The prefix length that a bridge's range is taken to have where no address of the bridge is shown:
a node's usual pod range.
"""


class AddressMention(NamedTuple):
    """A place where the evidence speaks of an address."""

    span: Span | None
    what: str
    certain: bool = False
    """True where it is the address of a pod of this node for sure."""
    shown: bool = False
    """True where the line says that a pod has the address."""


class MentionedAddress(NamedTuple):
    """An address that the evidence speaks of, and its MAC where that is known."""

    address: Address
    mention: AddressMention
    mac: Mac | None


def infer_bridge_pods(
    draft: NodeDraft, sightings: Sightings, spoken: Mapping[Address, AddressMention]
) -> None:
    """Add a namespace for each pod on a bridge of the host that the evidence speaks of; `spoken`
    are addresses to look at.
    """
    for link in [link for link in draft.host.links.values() if looks_like_bridge(link)]:
        seen = {**_seen_on(draft, sightings, link.name), **spoken}
        own = _own_address(draft, sightings, link, seen)
        if own is None:
            continue
        draft.host.links[link.name] = _as_bridge(draft.host.links[link.name])
        macs = _macs_of(draft.host, sightings, link.name)
        fitting = [
            address
            for address in seen
            if own.prefix.covers(address) and _may_be_pod(draft, address, own.prefix)
        ]
        learned = {entry.mac for entry in draft.host.fdb if not entry.local}
        fitting = [address for address in fitting if macs.get(address) in learned] + [
            address for address in fitting if macs.get(address) not in learned
        ]
        for address in fitting[:_MOST]:
            seed = _make_seed(
                draft, link.name, own, MentionedAddress(address, seen[address], macs.get(address))
            )
            if (
                seed.host_link is not None
                or seen[address].certain
                or "link" not in draft.host.complete
            ):
                add_pod(draft, seed)


def _as_bridge(link: Link) -> Link:
    if link.kind == "bridge":
        return link
    return replace(link, kind="bridge", bridge=link.bridge or Bridge())


def _own_address(
    draft: NodeDraft, sightings: Sightings, link: Link, seen: Mapping[Address, AddressMention]
) -> InterfaceAddress | None:
    """Return the bridge's IPv4 address; where no output shows any, the first of the range that the
    addresses seen on it share.
    """
    shown = [
        own
        for own in draft.host.addresses
        if own.link == link.name and own.address.family == 4 and not own.secondary
    ]
    if shown or "address" in draft.host.complete:
        return shown[0] if shown else None
    local = [
        address
        for address in _seen_on(draft, sightings, link.name)
        if _asks_neighbour(sightings, address)
    ]
    ranges = {
        Prefix.of(address, _SPREAD) for address in local if address.family == 4 and address in seen
    }
    if len(ranges) != 1:
        return None
    prefix = ranges.pop()
    own = InterfaceAddress(
        link=link.name,
        address=Address(4, prefix.network + 1),
        length=_SPREAD,
        inferred=Inferred(
            Basis.GUESSED,
            (
                f"addresses of {prefix} ask for one another on {link.name}; no output shows its "
                "own address"
            ),
        ),
        stands_for=f"the address of {link.name}",
    )
    draft.host.addresses.append(own)
    return own


def _asks_neighbour(sightings: Sightings, address: Address) -> bool:
    return any(address in {arp.sender, arp.target} for arp in sightings.arps)


def _seen_on(
    draft: NodeDraft, sightings: Sightings, bridge: IfName
) -> dict[Address, AddressMention]:
    """Return the addresses that captures on the bridge or its ports, its neighbors and the
    conntrack table show.
    """
    members = {bridge, *(link.name for link in draft.host.links.values() if link.master == bridge)}
    found: dict[Address, AddressMention] = {}
    for arp in sightings.arps:
        if arp.netns == HOST and (arp.link is None or arp.link in members):
            for address in (arp.sender, arp.target):
                found.setdefault(
                    address,
                    AddressMention(arp.span, f"ARP on {arp.link or 'a device that is not shown'}"),
                )
    for seen in sightings.packets:
        if seen.netns == HOST and (seen.link is None or seen.link in members):
            for address in (seen.packet.src, seen.packet.dst):
                found.setdefault(
                    address,
                    AddressMention(
                        seen.span, f"a frame on {seen.link or 'a device that is not shown'}"
                    ),
                )
    for neighbour in draft.host.neighbours:
        if neighbour.link in members and neighbour.state not in {"FAILED", "INCOMPLETE"}:
            found.setdefault(
                neighbour.address,
                AddressMention(neighbour.span, f"a neighbour on {neighbour.link}"),
            )
    return found


def _may_be_pod(draft: NodeDraft, address: Address, prefix: Prefix) -> bool:
    if (
        address.value in {prefix.network, prefix.broadcast.value}
        or prefix.length >= WIDTH[prefix.family] - 1
    ):
        return False
    owner = draft.owner(address)
    if owner is None:
        return True
    return owner.name != HOST and not any(
        isinstance(link.peer, Known) for link in owner.links.values()
    )


def _macs_of(host: NetnsDraft, sightings: Sightings, bridge: IfName) -> dict[Address, Mac]:
    """Return the MACs that neighbor entries and ARP show of addresses on the bridge."""
    found = {
        entry.address: entry.mac
        for entry in host.neighbours
        if entry.link == bridge and entry.mac is not None
    }
    for arp in sightings.arps:
        if arp.sender_mac is not None and arp.sender_mac != BROADCAST and arp.netns == HOST:
            found.setdefault(arp.sender, arp.sender_mac)
    return found


def _make_seed(
    draft: NodeDraft, bridge: IfName, own: InterfaceAddress, pod: MentionedAddress
) -> PodSeed:
    address, mention, mac = pod
    port, how = _choose_port(draft, bridge, mac)
    return PodSeed(
        address=address,
        reason=(
            f"{mention.span or 'the evidence'}: {mention.what} with {address}, of the range of "
            f"{bridge} ({own.prefix}); {how}"
        ),
        shown=mac is not None or mention.certain or mention.shown,
        span=mention.span,
        host_link=port,
        bridge=bridge,
        length=own.length,
        gateway=own.address,
        mac=mac,
    )


def _choose_port(draft: NodeDraft, bridge: IfName, mac: Mac | None) -> tuple[IfName | None, str]:
    """Return the pod's port: the one that its MAC was learned on, else the next that leads to no
    known pod.
    """
    ports = [
        link for link in draft.host.links.values() if link.master == bridge and link.peer is None
    ]
    if mac is not None:
        learned = {entry.link for entry in draft.host.fdb if entry.mac == mac and not entry.local}
    else:
        learned = set()
    for link in ports:
        if link.name in learned:
            return link.name, f"the forwarding table has its MAC on {link.name}"
    leading = [link for link in ports if not (looks_like_uplink(link) or looks_internal(link))]
    free = next(
        (link.name for link in sorted(leading, key=lambda link: not looks_like_pod_side(link))),
        None,
    )
    if free is not None:
        return free, f"which port is its own is not shown, {free} stands for it"
    return None, "its port is not shown"

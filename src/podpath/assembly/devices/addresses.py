"""Addresses of devices, in the order in which the kernel holds them.

`ip addr` prints a device's addresses in kernel order and marks the secondary ones. An output that
shows a device shows all its addresses (none, where it prints none); a grep shows some.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import ASKS, NodeDraft, ask_in
from podpath.assembly.drafts.listings import ListingSnapshot, merge_snapshots
from podpath.assembly.scenes.completeness import asked_object, listed_families
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import AddressRecord, LinkRecord
from podpath.net.addresses import Family, IfName
from podpath.net.provenance import Span
from podpath.node.links import InterfaceAddress

_Key = tuple[str, IfName, Family]


def assemble_addresses(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put the addresses that outputs show on their devices."""
    for _, record in evidence.records(AddressRecord):
        if record.link is None:
            disputes.gap(
                record.span, f"expected the device of {record.address}/{record.length}, saw none"
            )
    snapshots: dict[_Key, list[ListingSnapshot[InterfaceAddress]]] = {}
    for scene in evidence.scenes:
        for key, snapshot in _read_scene(scene):
            snapshots.setdefault(key, []).append(snapshot)
    for (name, link, family), shown in snapshots.items():
        fact = f"IPv{family} addresses of {link} in netns {name}"
        merged = merge_snapshots(fact, ask_in(name, ASKS["address"]), shown, disputes)
        draft.netns(name).addresses.extend(merged.items)


def _read_scene(scene: ReadSource) -> Iterator[tuple[_Key, ListingSnapshot[InterfaceAddress]]]:
    """Yield the addresses of each device that the scene shows, an empty snapshot where it shows a
    device without any.
    """
    found: dict[_Key, tuple[dict[Hashable, InterfaceAddress], Span]] = {}
    asked = asked_object(scene)
    if asked is not None:
        shows_devices = asked[0] == "address"
    else:
        shows_devices = any(isinstance(record, AddressRecord) for record in scene.reading.records)
    listed: set[IfName] = set()
    for record in scene.reading.records:
        if isinstance(record, LinkRecord) and shows_devices:
            listed.add(record.name)
            for family in listed_families(scene):
                found.setdefault((scene.netns, record.name, family), ({}, record.span))
        elif isinstance(record, AddressRecord) and record.link is not None:
            key = (scene.netns, record.link, record.address.family)
            items, _ = found.setdefault(key, ({}, record.span))
            items.setdefault((record.address, record.length), _make_address(record, record.link))
    for key, (items, span) in found.items():
        if items or (scene.whole and key[2] == 4):
            yield (
                key,
                ListingSnapshot(
                    items, key[1] in listed and not scene.command.filters, span, scene.standing
                ),
            )


def _make_address(record: AddressRecord, link: IfName) -> InterfaceAddress:
    scope = "global"
    if record.address.is_loopback:
        scope = "host"
    elif record.address.family == 6 and record.address.is_link_local:
        scope = "link"
    return InterfaceAddress(
        link=link,
        address=record.address,
        length=record.length,
        scope=record.scope or scope,
        secondary="secondary" in record.flags,
        broadcast=record.broadcast,
        peer=record.peer,
        noprefixroute="noprefixroute" in record.flags,
        tentative=not {"tentative", "dadfailed"}.isdisjoint(record.flags),
        dad_failed="dadfailed" in record.flags,
        leased="dynamic" in record.flags,
        span=record.span,
    )

"""Which listings of a namespace are whole, and where they stand.

A walk takes "it is not there" at its word only of a whole listing. Routes are listed whole where
every table that the policy rules look up is, or follows from addresses.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.assembly.scenes.completeness import (
    listed_device,
    listed_families,
    listed_protocols,
    lists_all,
)
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.node_records import (
    AddressRecord,
    FdbRecord,
    LinkRecord,
    NeighbourRecord,
    PolicyRuleRecord,
    RouteRecord,
    SocketRecord,
)
from podpath.evidence.records import Record
from podpath.net.addresses import Family, IfName
from podpath.node.routing import DEFAULT, LOCAL

_FAMILIES: tuple[Family, ...] = (4, 6)
_KINDS: Mapping[str, type[Record]] = {
    "link": LinkRecord,
    "address": AddressRecord,
    "route": RouteRecord,
    "rule": PolicyRuleRecord,
    "neigh": NeighbourRecord,
    "fdb": FdbRecord,
    "sockets": SocketRecord,
}


def settle_completeness(draft: NodeDraft, evidence: ReadSources) -> None:
    """Mark the listings of each namespace that an output shows whole, for IPv4 where a kind has
    families.
    """
    for scene in evidence.scenes:
        if scene.is_elsewhere:
            continue
        device = listed_device(scene)
        if device and 4 in listed_families(scene):
            draft.netns(scene.netns).addressed.add(IfName(device))
        for kind, record_type in _KINDS.items():
            first = next(
                (record for record in scene.reading.records if isinstance(record, record_type)),
                None,
            )
            if first is not None:
                draft.netns(scene.netns).spans.setdefault(kind, first.span)
                if scene.source.open_end:
                    draft.netns(scene.netns).cut.add(kind)
            if kind != "route" and lists_all(scene, kind) and 4 in listed_families(scene):
                draft.netns(scene.netns).complete.add(kind)
                if kind == "sockets":
                    draft.netns(scene.netns).socket_protocols |= listed_protocols(scene)
    for netns in draft.namespaces.values():
        netns.routed = frozenset(family for family in _FAMILIES if _lists_routes(netns, family))
        if 4 in netns.routed:
            netns.complete.add("route")


def _lists_routes(netns: NetnsDraft, family: Family) -> bool:
    """Tell whether each table that a rule looks up is listed; `local` follows from addresses and
    `default` is empty.
    """
    looked_up = {
        rule.table for rule in netns.rules if rule.family == family and rule.action == "lookup"
    }
    wanted = looked_up - {LOCAL, DEFAULT}
    return bool(wanted) and all((family, table) in netns.whole_tables for table in wanted)

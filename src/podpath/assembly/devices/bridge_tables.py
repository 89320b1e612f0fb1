"""Forwarding entries and VLANs of bridge ports, from `bridge fdb`, `brctl showmacs` and `bridge
vlan`.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.node_records import BridgeVlanRecord, FdbRecord, LinkRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.links import BridgePort, FdbEntry, Link


def assemble_bridge_tables(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put the forwarding entries of bridges and vxlan devices into their namespaces, and the VLANs
    into the ports.
    """
    _assemble_fdb(draft, evidence, disputes)
    _assemble_vlans(draft, evidence)


def _assemble_fdb(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    ports_by_number = {
        (scene.netns, record.port_details["no"]): record.name
        for scene, record in evidence.records(LinkRecord)
        if "no" in record.port_details
    }
    known: set[tuple[object, ...]] = set()
    for scene, record in evidence.records(FdbRecord):
        if scene.is_elsewhere:
            continue
        netns = draft.netns(scene.netns)
        link = record.link or ports_by_number.get((scene.netns, str(record.port_no)))
        if link is None:
            disputes.gap(
                record.span,
                (
                    f"expected a device, saw bridge port number {record.port_no}, which no output "
                    "names"
                ),
            )
            continue
        entry = FdbEntry(
            mac=record.mac,
            link=link,
            bridge=None if record.master is None else IfName(record.master),
            vlan=record.vlan,
            local=record.dst is None and ("permanent" in record.flags or "local" in record.flags),
            dst=record.dst,
            span=record.span,
        )
        key = (scene.netns, entry.mac, entry.link, entry.vlan, entry.dst)
        if key not in known:
            known.add(key)
            netns.fdb.append(entry)


def _assemble_vlans(draft: NodeDraft, evidence: ReadSources) -> None:
    vlans: dict[tuple[str, IfName], set[int]] = {}
    pvids: dict[tuple[str, IfName], int] = {}
    spans: dict[tuple[str, IfName], Span] = {}
    for scene, record in evidence.records(BridgeVlanRecord):
        if scene.is_elsewhere:
            continue
        key = (scene.netns, record.port)
        last = min(record.last or record.vlan, 4094)
        vlans.setdefault(key, set()).update(range(record.vlan, last + 1))
        spans.setdefault(key, record.span)
        if record.pvid:
            pvids[key] = record.vlan
    for (name, port), members in vlans.items():
        netns: NetnsDraft = draft.netns(name)
        link = netns.links.get(port) or netns.add_link(
            Link(name=port, inferred=Inferred(Basis.SHOWN, "named by `bridge vlan`"))
        )
        if link.kind != "bridge":
            options = replace(
                link.port or BridgePort(),
                vlans=frozenset(members),
                pvid=pvids.get((name, port)),
                vlan_span=spans[name, port],
            )
            netns.links[port] = replace(link, port=options)

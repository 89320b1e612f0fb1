"""The flows, groups and port numbers of Open vSwitch's bridges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.node_records import (
    OvsFlowListingRecord,
    OvsFlowRecord,
    OvsGroupRecord,
    OvsPortNumberRecord,
)
from podpath.evidence.records import Record
from podpath.node.links import OvsBridge
from podpath.node.openflow import FlowEntry, FlowGroup, OpenFlow

R = TypeVar("R", bound=Record)
FlowRecord = OvsFlowListingRecord | OvsFlowRecord | OvsGroupRecord | OvsPortNumberRecord


def assemble_openflow(
    evidence: ReadSources, bridges: Sequence[OvsBridge], disputes: Disputes
) -> list[OvsBridge]:
    """Return the bridges, each with its flows. A listing that names no bridge is that of the only
    one; a bridge whose flows alone are shown has no ports but the numbered ones.
    """
    names = [bridge.name for bridge in bridges]
    by_bridge: dict[str, list[FlowRecord]] = {}
    for record in _records(evidence):
        name = record.bridge or (names[0] if len(names) == 1 else "")
        if name:
            by_bridge.setdefault(name, []).append(record)
        elif not isinstance(record, OvsFlowRecord):
            disputes.gap(record.span, "expected a command that names a bridge, saw none")
    known = {bridge.name: bridge for bridge in bridges}
    for name in by_bridge:
        known.setdefault(name, OvsBridge(name=name, span=by_bridge[name][0].span))
    return [
        replace(bridge, openflow=collect_openflow(by_bridge[name])) if name in by_bridge else bridge
        for name, bridge in known.items()
    ]


def _records(evidence: ReadSources) -> Iterator[FlowRecord]:
    yield from _of_this_node(evidence, OvsFlowListingRecord)
    yield from _of_this_node(evidence, OvsFlowRecord)
    yield from _of_this_node(evidence, OvsGroupRecord)
    yield from _of_this_node(evidence, OvsPortNumberRecord)


def _of_this_node(evidence: ReadSources, kind: type[R]) -> Iterator[R]:
    return (record for scene, record in evidence.records(kind) if not scene.is_elsewhere)


def collect_openflow(records: Sequence[FlowRecord]) -> OpenFlow:
    """Return what the outputs about one bridge come to; of a flow that several show, the first."""
    flows: dict[object, FlowEntry] = {}
    groups: dict[int, FlowGroup] = {}
    ports: dict[str, int] = {}
    whole: Mapping[str, bool] = {
        record.what: record.whole for record in records if isinstance(record, OvsFlowListingRecord)
    }
    for record in records:
        if isinstance(record, OvsFlowRecord):
            flow = FlowEntry(
                record.table, record.priority, record.match, record.actions, record.span
            )
            flows.setdefault(flow[:3], flow)
        elif isinstance(record, OvsGroupRecord):
            groups[record.number] = FlowGroup(record.type, record.buckets, record.span)
        elif isinstance(record, OvsPortNumberRecord):
            ports[record.port] = record.number
    span = next((flow.span for flow in flows.values()), None)
    return OpenFlow(
        flows=tuple(flows.values()),
        complete=whole.get("flows", False),
        groups=groups,
        ports=ports,
        span=span,
    )

"""Open vSwitch: bridges with their ports, and what being a port or a bond's slave says of a
device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.assembly.devices.openflow import assemble_openflow
from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import OvsBondRecord, OvsPortRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Span
from podpath.node.links import OvsBridge

SWITCH = IfName("ovs-system")
"""The device that the kernel datapath's ports are enslaved to
(net/openvswitch/vport-netdev.c:ovs_netdev_link v6.12).
"""
_NO_DEVICE = frozenset({"patch", "vxlan", "geneve", "gre", "stt", "erspan", "bareudp"})
"""Interface types that are no device of that name."""


def claim_ovs(
    evidence: ReadSources,
) -> Iterator[tuple[ReadSource, Span, IfName, Mapping[str, object]]]:
    """Yield what Open vSwitch's outputs say of devices, as fields of `Link`."""
    for scene, record in evidence.records(OvsPortRecord):
        for name, kind in record.interfaces:
            span = _span_of(record.span, name)
            if kind == "internal":
                yield scene, span, IfName(name), {"kind": "openvswitch"}
            elif kind is None or kind == "system":
                bond = {"bond_slave_of": record.port} if len(record.interfaces) > 1 else {}
                yield (
                    scene,
                    span,
                    IfName(name),
                    {"master": SWITCH, "port_kind": "openvswitch", **bond},
                )
    for scene, bond_record in evidence.records(OvsBondRecord):
        port = _find_bond(evidence, bond_record)
        for name in bond_record.slaves:
            slave: dict[str, object] = {"master": SWITCH, "port_kind": "openvswitch"}
            if port is not None:
                slave["bond_slave_of"] = port
            if name == bond_record.active_slave and bond_record.active_mac is not None:
                slave["mac"] = bond_record.active_mac
            yield scene, _span_of(bond_record.span, name), IfName(name), slave


class _OvsPorts(NamedTuple):
    """What the listings of ports say of one bridge."""

    span: Span
    ports: dict[str, tuple[IfName, ...]]
    """Its ports, each with its devices."""
    patches: dict[str, str]
    """The other ends of its patch ports."""
    program: Span | None = None
    """The line that says that a program puts flows into it."""


def assemble_ovs(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put the bridges of Open vSwitch into the node, each with its ports and the state of its
    bond.
    """
    bridges = _join_ports(evidence)
    bonds = {
        _find_bond(evidence, bond): bond
        for scene, bond in evidence.records(OvsBondRecord)
        if not scene.is_elsewhere
    }
    for name, bridge in bridges.items():
        bond = next((bond for port, bond in bonds.items() if port in bridge.ports), None)
        active = None if bond is None or bond.active_slave is None else IfName(bond.active_slave)
        draft.ovs.append(
            OvsBridge(
                name=name,
                ports=bridge.ports,
                bond_mode=None if bond is None else bond.mode,
                active_slave=active,
                span=bridge.span,
                patches=bridge.patches,
                program=bridge.program,
            )
        )
    draft.ovs[:] = assemble_openflow(evidence, draft.ovs, disputes)
    for port, bond in bonds.items():
        if not any(port in bridge.ports for bridge in bridges.values()):
            what = f"none for bond {port or '(no name)'}"
            disputes.gap(
                bond.span, f"expected a port of Open vSwitch with these slaves, saw {what}"
            )


def _join_ports(evidence: ReadSources) -> dict[str, _OvsPorts]:
    """Join the ports of each bridge; of a port that is listed twice, the first."""
    bridges: dict[str, _OvsPorts] = {}
    for scene, record in evidence.records(OvsPortRecord):
        if scene.is_elsewhere:
            continue
        names = tuple(IfName(name) for name, kind in record.interfaces if kind not in _NO_DEVICE)
        bridge = bridges.setdefault(record.bridge, _OvsPorts(record.span, {}, {}))
        bridge.ports.setdefault(record.port, names)
        if record.peer:
            bridge.patches[record.port] = record.peer
        if record.program is not None:
            bridges[record.bridge] = bridge._replace(program=record.program)
    return bridges


def _find_bond(evidence: ReadSources, bond: OvsBondRecord) -> str | None:
    """Return the name of the port that a bond's state is about: as printed, else the port with the
    same slaves.
    """
    if bond.name is not None:
        return bond.name
    slaves = set(bond.slaves)
    for _, port in evidence.records(OvsPortRecord):
        names = [name for name, _ in port.interfaces]
        if len(names) > 1 and (not slaves or not slaves.isdisjoint(names)):
            return port.port
    return None


def _span_of(span: Span, name: str) -> Span:
    """Return the line of a record that names the interface."""
    for number, line in enumerate(span.text.split("\n")):
        if name in line.replace('"', " ").replace(":", " ").split():
            return Span(span.source, span.line + number, span.line + number)
    return span

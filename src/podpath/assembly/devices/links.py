"""Devices of all namespaces, from every output that mentions them: ip link and addr, bridge link,
brctl, Open vSwitch.

Each output claims some attributes of some devices. The claims are collected by device and attribute
and settled one by one, so that a fragment of `ip link` and a `brctl show` together describe one
device, and two MACs of one device stay two claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.assembly.devices.bridge_options import (
    is_on,
    make_bridge,
    make_ends,
    make_geneve,
    make_port,
    make_vxlan,
)
from podpath.assembly.devices.ovs import claim_ovs
from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.drafts.draft import ASKS, NodeDraft, ask_in
from podpath.assembly.scenes.greps import greped_macs
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import BridgePortRecord, BridgeRecord, LinkRecord
from podpath.net.addresses import IfName, Mac
from podpath.net.provenance import Basis, Inferred, Span
from podpath.node.links import Link
from podpath.node.node import HOST

_UNSEEN_MTU = Inferred(
    Basis.GUESSED, "no output shows the MTU: Ethernet's is taken", ask="ip link show DEVICE"
)
_DISPUTED = ("mac", "master", "up", "mtu")
"""Attributes whose disagreement makes another node; of the others the likeliest is taken."""
_TUNNELS = frozenset({"vxlan", "geneve"})
_TUNNEL_DETAILS = {"id": "id", "vni": "id", "port": "port", "dstport": "port"}
"""Options of a tunnel whose disagreement makes another node, by each name that outputs have for
them.
"""


class LinkClaim(NamedTuple):
    """What one line says of one device."""

    netns: str
    name: IfName
    scene: ReadSource
    span: Span
    attributes: Mapping[str, object]
    """Fields of `Link`; what the line does not show is missing."""
    details: Mapping[str, str]
    port_details: Mapping[str, str]
    meaning: str = ""
    """Where the line does not show it itself: what says so."""


class _Merged:
    """All claims about one device."""

    __slots__ = ("claims", "details", "port_details", "span", "tunnel_claims")

    def __init__(self, span: Span) -> None:
        self.span = span
        self.claims: dict[str, list[DisputeClaim[object]]] = {}
        self.tunnel_claims: dict[str, list[DisputeClaim[str]]] = {}
        self.details: dict[str, str] = {}
        self.port_details: dict[str, str] = {}

    def add(self, claim: LinkClaim) -> None:
        for key, value in claim.attributes.items():
            self.claims.setdefault(key, []).append(
                DisputeClaim(value, claim.span, claim.scene.standing, claim.meaning)
            )
        for word, key in _TUNNEL_DETAILS.items():
            if word in claim.details:
                told = DisputeClaim(claim.details[word], claim.span, claim.scene.standing)
                self.tunnel_claims.setdefault(key, []).append(told)
        self.details = {**claim.details, **self.details}
        self.port_details = {**claim.port_details, **self.port_details}


def assemble_links(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put every device that some output shows into its namespace, with what is known of it."""
    merged: dict[tuple[str, IfName], _Merged] = {}
    for claim in _claim_links(evidence):
        if not claim.scene.is_elsewhere:
            merged.setdefault((claim.netns, claim.name), _Merged(claim.span)).add(claim)
    for (netns, name), device in merged.items():
        draft.netns(netns).links[name] = _make_link(netns, name, device, disputes)


def _claim_links(evidence: ReadSources) -> Iterator[LinkClaim]:
    for scene, record in evidence.records(LinkRecord):
        yield LinkClaim(
            scene.netns,
            record.name,
            scene,
            record.span,
            _attributes(record),
            record.details,
            _port_details(record),
        )
    for scene, ports in evidence.records(BridgeRecord):
        yield LinkClaim(scene.netns, ports.name, scene, ports.span, {"kind": "bridge"}, {}, {})
        for port in ports.ports:
            master = {"master": ports.name, "port_kind": "bridge"}
            yield LinkClaim(
                scene.netns, port, scene, _span_of_port(ports.span, port), master, {}, {}
            )
    for scene, port_record in evidence.records(BridgePortRecord):
        attributes: dict[str, object] = {"port_kind": "bridge"}
        if port_record.bridge is not None:
            attributes["master"] = port_record.bridge
            yield LinkClaim(
                scene.netns,
                IfName(port_record.bridge),
                scene,
                port_record.span,
                {"kind": "bridge"},
                {},
                {},
            )
        state = {} if port_record.state is None else {"state": port_record.state}
        details = {**state, **port_record.details}
        yield LinkClaim(
            scene.netns, port_record.port, scene, port_record.span, attributes, {}, details
        )
    for scene, span, name, ovs in claim_ovs(evidence):
        yield LinkClaim(HOST, name, scene, span, ovs, {}, {})
    for scene, span, name, mac in greped_macs(evidence):
        asked = f"as the command before {span} asks for: {scene.source.command}"
        yield LinkClaim(scene.netns, name, scene, span, {"mac": mac}, {}, {}, asked)


def _attributes(record: LinkRecord) -> dict[str, object]:
    """Return the fields of `Link` that a record shows."""
    shown: dict[str, object] = {
        "ifindex": record.ifindex,
        "kind": record.kind,
        "mtu": record.mtu,
        "mac": record.mac,
        "master": record.master,
        "port_kind": record.port_kind,
        "peer_name": record.peer_name,
        "peer_ifindex": record.peer_ifindex,
        "peer_netns": record.peer_netns,
    }
    if record.flags is not None:
        shown["up"] = "UP" in record.flags
        shown["carrier"] = "LOWER_UP" in record.flags or (
            "UP" in record.flags and "NO-CARRIER" not in record.flags
        )
        shown["noarp"] = "NOARP" in record.flags
        shown["promisc"] = "PROMISC" in record.flags
    elif record.state in {"UP", "DOWN"}:
        shown["up"] = record.state == "UP"
    return {key: value for key, value in shown.items() if value is not None}


def _port_details(record: LinkRecord) -> Mapping[str, str]:
    if record.port_kind in {None, "bridge"}:
        return record.port_details
    return {}


def _span_of_port(span: Span, port: str) -> Span:
    """Return the line of a `brctl show` entry that names the port."""
    lines = span.text.split("\n")
    place = next((number for number, line in enumerate(lines) if port in line.split()), 0)
    return Span(span.source, span.line + place, span.line + place)


def _make_link(netns: str, name: IfName, device: _Merged, disputes: Disputes) -> Link:
    ask = ask_in(netns, ASKS["link"])
    chosen: dict[str, object] = {}
    for key, claims in device.claims.items():
        if key in _DISPUTED:
            chosen[key] = disputes.decide(f"{key} of {name} in netns {netns}", ask, claims)
        else:
            chosen[key] = min(claims, key=lambda claim: claim.standing).value
    kind = str(chosen.get("kind", ""))
    details = dict(device.details)
    for key, told in device.tunnel_claims.items() if kind in _TUNNELS else ():
        details[key] = disputes.decide(f"{key} of {name} in netns {netns}", ask, told)
    port_kind, master = chosen.get("port_kind"), chosen.get("master")
    is_port = port_kind == "bridge" or (master is not None and bool(device.port_details))
    return Link(
        name=name,
        ifindex=_number(chosen.get("ifindex")),
        kind=kind,
        up=bool(chosen.get("up", True)),
        carrier=bool(chosen.get("carrier", True)),
        noarp=bool(chosen.get("noarp", False)),
        promisc=bool(chosen.get("promisc", False)),
        mtu=_number(chosen.get("mtu")) or (65536 if name == "lo" else 1500),
        mtu_inferred=None if _number(chosen.get("mtu")) or name == "lo" else _UNSEEN_MTU,
        mac=None if chosen.get("mac") is None else Mac(str(chosen["mac"])),
        master=None if master is None else IfName(str(master)),
        bridge=make_bridge(details) if kind == "bridge" else None,
        port=make_port(device.port_details) if is_port else None,
        vxlan=make_vxlan(details) if kind == "vxlan" else None,
        geneve=make_geneve(details) if kind == "geneve" else None,
        ends=make_ends(details) if kind in {"ipip", "gre"} else None,
        xdp=is_on(details, "xdp"),
        bond_slave_of=None if chosen.get("bond_slave_of") is None else str(chosen["bond_slave_of"]),
        span=device.span,
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None

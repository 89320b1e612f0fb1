"""Small cases in which model and kernel once differed, read from tests/data/agreement."""

from __future__ import annotations

import json
import os
from pathlib import PurePosixPath
from typing import NotRequired, TypedDict

from podpath.net import protocols
from podpath.net.addresses import Mac
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.node import HOST
from podpath.node.routing import PolicyRule
from podpath_lab.cases import dual_stack
from podpath_lab.cases.generate import GeneratedCase
from podpath_lab.cases.routing import PORTS
from podpath_lab.draft import Draft
from podpath_lab.topologies import TOPOLOGIES
from tests.datapath.given import given_rules, given_tables


class RecordedCase(TypedDict):
    """What a file holds."""

    why: str
    """What was learned from it, as a sentence."""
    topology: str
    probe: str
    routes: NotRequired[list[dict[str, object]]]
    """Of the host; fields of `DraftNetns.add_route`."""
    pod_routes: NotRequired[dict[str, list[dict[str, object]]]]
    rules: NotRequired[list[dict[str, object]]]
    """Policy rules of the host."""
    sysctls: NotRequired[dict[str, str]]
    nft: NotRequired[dict[str, list[str]]]
    """Rules of the host by table, as `iptables-save` prints them, for iptables-nft."""
    legacy: NotRequired[dict[str, list[str]]]
    ipv6: NotRequired[bool]
    """True where the node has both families, and the probe goes between the counterparts of its
    ends (`podpath_lab.cases.dual_stack`).
    """
    macs: NotRequired[tuple[str, str]]
    """Source and destination, where the probe is one frame that a packet socket sends."""


def build_case(text: str, name: PurePosixPath) -> GeneratedCase:
    """Build the node and the probe that a file describes."""
    held: RecordedCase = json.loads(text)
    topology = next(
        made for made in (make() for make in TOPOLOGIES) if made.name == held["topology"]
    )
    draft = topology.draft
    host = draft.namespaces[HOST]
    for scope in ("all", "default", *topology.devices):
        host.sysctls[f"net.ipv4.conf.{scope}.send_redirects"] = "0"
    host.sysctls |= held.get("sysctls", {})
    for netns, routes in {HOST: held.get("routes", []), **held.get("pod_routes", {})}.items():
        for route in routes:
            draft.namespaces[netns].add_route(**route)  # type: ignore[arg-type]  # fields of a route
    host.rules += [PolicyRule(family=4, **rule) for rule in held.get("rules", [])]  # type: ignore[arg-type]  # as above
    for flavour in ("nft", "legacy"):
        _add_rules(draft, held.get(flavour, {}), flavour)  # type: ignore[arg-type]  # one of the two keys
    probe = Probe.parse(held["probe"])
    frame = _make_frame(probe, *held.get("macs", ()))
    if held.get("ipv6"):
        dual_stack.give_both(draft)
        probe = dual_stack.move_probe(probe)
        frame = dual_stack.move_frame(frame) if frame is not None else None
    return GeneratedCase(
        seed=0, topology=topology.name, node=draft.freeze(os.uname().release, PORTS),
        probe=probe, nat=False, fault=name.stem, frame=frame,
    )  # fmt: skip


def _make_frame(probe: Probe, smac: str = "", dmac: str = "") -> Packet | None:
    """Make an ACK that no connection has, or an empty datagram; None where the probe is a whole
    conversation.
    """
    if not dmac:
        return None
    if probe.protocol == protocols.UDP:
        return Packet(
            probe.src, probe.dst, probe.protocol, probe.sport, probe.dport, length=28,
            smac=Mac(smac), dmac=Mac(dmac),
        )  # fmt: skip
    return Packet(
        probe.src, probe.dst, probe.protocol, probe.sport, probe.dport, protocols.ACK,
        length=40, seq=1000, ack=1, smac=Mac(smac), dmac=Mac(dmac),
    )  # fmt: skip


def _add_rules(draft: Draft, tables: dict[str, list[str]], flavour: str) -> None:
    for name, rules in tables.items():
        text = given_rules(*(rule.removeprefix("-A ") for rule in rules), table=name)
        for table in given_tables(text, flavour=flavour):
            for chain, fact in table.chains.items():
                draft.namespaces[HOST].table(name, flavour).chains[chain] += fact.value.rules  # type: ignore[union-attr]  # known

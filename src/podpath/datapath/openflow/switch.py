"""A frame in an Open vSwitch bridge whose flows are shown: what its tables, and those of bridges
behind patch ports, make of it.

The walk goes on with the one packet that something on the node takes; where several copies leave,
that is the one whose device has its MAC.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.datapath.devices import openvswitch
from podpath.datapath.openflow.fields import PORTS, State
from podpath.datapath.openflow.matches import CFI
from podpath.datapath.openflow.pipeline import (
    ALL,
    FLOOD,
    NORMAL,
    Opened,
    Pipelined,
    send_through,
)
from podpath.datapath.openflow.tables import CompiledFlow, FlowTables
from podpath.datapath.openflow.tracking import KernelTracker, packet_of, state_of
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.bridges import DroppedByFlows, HandedToSwitch, SentByFlows
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.paths import EMIT, RECEIVE, Next
from podpath.datapath.tracing.trace import Dropped, Undecided
from podpath.datapath.vocabulary import BoundaryName, DropCause, StageName, StepDecision
from podpath.datapath.walk.not_modelled import BOUNDARIES
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Known, Option, Span
from podpath.node.links import Link, OvsBridge

FUNCTION = "ofproto/ofproto-dpif-xlate.c:xlate_actions, Open vSwitch 3.1"
BRIDGES = 8
"""How many bridges a frame may pass by patch ports."""
_FRESH = ("regs", "metadata", "conj_id", "tun_id", "tun_src", "tun_dst", "tun_flags", "ct_state",
          "ct_zone", "ct_mark", "ct_label")  # fmt: skip
"""What a patch port takes off a packet (`patch_port_output`)."""


class _Copy(NamedTuple):
    """A packet that leaves a bridge."""

    bridge: OvsBridge
    port: str
    """The name of the port; empty for NORMAL and FLOOD."""
    state: State
    met: tuple[CompiledFlow | int, ...]


class _Unknown(NamedTuple):
    """Why nobody can say what leaves."""

    what: str
    bridge: OvsBridge
    spans: tuple[Span, ...]


def decides(walk: Walk, link: Link) -> bool:
    """Tell whether flows, and not MAC addresses, decide what a device's bridge does."""
    bridge = openvswitch.bridge_of(walk.engine.node, link)
    return bridge is not None and (bridge.openflow is not None or bridge.program is not None)


def emit(walk: Walk, skb: Skb, link: Link) -> Next:
    """Send a frame of the host into the bridge by an internal port."""
    bridge = openvswitch.bridge_of(walk.engine.node, link)
    if bridge is None or not openvswitch.is_internal(bridge, link):
        return openvswitch.emit(walk, skb, link)
    walk.trace.step(
        StageName.DEVICE_TRANSMIT,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.TRANSMIT,
        HandedToSwitch(link.name, bridge.name),
        link=link.name,
    )
    return receive(walk, skb, link)


def receive(walk: Walk, skb: Skb, link: Link) -> Next:
    """Take a frame off a port of the bridge, and do with it what the flows say."""
    bridge = openvswitch.bridge_of(walk.engine.node, link)
    if bridge is None:
        return openvswitch.receive(walk, skb, link)
    if bridge.openflow is None or not bridge.openflow.flows:
        shown = bridge.program or bridge.span
        spans = () if shown is None else (shown,)
        return _end_open(walk, skb, _Unknown("its flows are not shown", bridge, spans))
    tracker = KernelTracker(walk, skb)
    copies: list[_Copy] = []
    met: list[CompiledFlow | int] = []
    for found in _follow(walk, tracker, bridge, link.name, state_of(skb.packet, skb.mark)):
        if isinstance(found, _Unknown):
            return _end_open(walk, skb, found)
        met = [*met, *found.met]
        if found.port != _NOWHERE:
            copies.append(found)
    if not copies:
        return _drop(walk, skb, bridge, link, met)
    chosen = _choose(walk, copies)
    if chosen is None:
        what = "copies leave several ports: " + ", ".join(copy.port or "NORMAL" for copy in copies)
        return _end_open(walk, skb, _Unknown(what, bridge, _spans(copies[-1].met)))
    return _send(walk, skb, link, chosen)


_NOWHERE = "\0"
"""The port of what leaves a bridge by none."""


def _follow(
    walk: Walk,
    tracker: KernelTracker,
    bridge: OvsBridge,
    port: str,
    state: State,
    passed: int = 0,
) -> Iterator[_Copy | _Unknown]:
    """Yield what leaves a bridge and those behind it; for a bridge of which nothing does, the flows
    that it met.
    """
    tables = _tables(walk, bridge)
    if tables is None or passed > BRIDGES:
        spans = (bridge.span,) if bridge.span is not None else ()
        yield _Unknown("its flows are not shown", bridge, spans)
        return
    tables.table(0)
    number = tables.numbers.get(port)
    entered = state if number is None else {**state, "in_port": number}
    result = send_through(tables, entered, tracker, _Draw(walk, bridge.name))
    if result.opened is not None:
        yield _open(bridge, result.opened, result)
        return
    if not result.sent:
        yield _Copy(bridge, _NOWHERE, state, result.met)
    for sent in result.sent:
        if sent.port in {NORMAL, FLOOD, ALL}:
            yield _Copy(bridge, "", sent.state, result.met)
            continue
        name = tables.names.get(sent.port)
        if name is None:
            what = f"nothing names port {sent.port} (ovs-ofctl show {bridge.name})"
            yield _Unknown(what, bridge, _spans(result.met))
            return
        far = bridge.patches.get(name)
        if far is None:
            yield _Copy(bridge, name, sent.state, result.met)
            continue
        other = next((item for item in walk.engine.node.ovs if far in item.ports), None)
        if other is None:
            yield _Unknown(f"nothing shows port {far}", bridge, _spans(result.met))
            return
        fresh = {**sent.state, **dict.fromkeys(_FRESH, 0)}
        fresh.pop("in_port", None)
        yield from _follow(walk, tracker, other, far, fresh, passed + 1)


class _Draw:
    """The bucket of a group of type select, which the datapath picks by a hash."""

    def __init__(self, walk: Walk, bridge: str) -> None:
        self._walk = walk
        self._bridge = bridge

    def __call__(self, name: str, count: int) -> int:
        options = tuple(Option(number, f"bucket {number}") for number in range(count))
        return self._walk.choices.choose(f"{name} of {self._bridge}", options, random=True)


def _tables(walk: Walk, bridge: OvsBridge) -> FlowTables | None:
    if bridge.openflow is None:
        return None
    known: FlowTables | None = walk.engine.flow_tables.get(bridge.name)
    if known is None:
        known = walk.engine.flow_tables[bridge.name] = FlowTables(bridge.openflow)
        known.numbers.setdefault(bridge.name, PORTS["LOCAL"])
        known.names.setdefault(PORTS["LOCAL"], bridge.name)
    return known


def _open(bridge: OvsBridge, opened: Opened, result: Pipelined) -> _Unknown:
    span = opened.flow.flow.span if opened.flow is not None else None
    spans = (span,) if span is not None else _spans(result.met)
    return _Unknown(opened.what, bridge, spans)


def _end_open(walk: Walk, skb: Skb, unknown: _Unknown) -> Undecided:
    reason = BoundaryMet(BoundaryName.FLOW_TABLES, (unknown.bridge.name, unknown.what))
    walk.trace.step(
        BoundaryName.FLOW_TABLES,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.UNDECIDED,
        reason,
        spans=unknown.spans,
    )
    ask = BOUNDARIES[BoundaryName.FLOW_TABLES].ask.replace("BRIDGE", unknown.bridge.name)
    return Undecided(netns=skb.netns.name, reason=reason, ask=ask)


def _drop(
    walk: Walk, skb: Skb, bridge: OvsBridge, link: Link, met: list[CompiledFlow | int]
) -> Dropped:
    missed = bool(met) and isinstance(met[-1], int)
    reason = DroppedByFlows(bridge.name, link.name, _numbers(met), missed)
    walk.trace.step(
        StageName.OPEN_VSWITCH,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        reason,
        spans=_spans(met),
        link=link.name,
    )
    return Dropped(
        netns=skb.netns.name, reason=drop_reason(DropCause.NO_OUTPUT, walk.engine.node.kernel)
    )


def _choose(walk: Walk, copies: list[_Copy]) -> _Copy | None:
    """Return the copy that goes on: the only one, or the one whose device has its MAC."""
    if len(copies) == 1:
        return copies[0]
    taken = [copy for copy in copies if copy.port and _has_mac(walk, copy)]
    return taken[0] if len(taken) == 1 else None


def _has_mac(walk: Walk, copy: _Copy) -> bool:
    namespace = walk.engine.namespace("host")
    link = namespace.links.get(copy.port)
    if link is None:
        return False
    if isinstance(link.peer, Known) and link.peer.value.netns in walk.engine.node.namespaces:
        namespace = walk.engine.namespace(link.peer.value.netns)
        link = namespace.link(link.peer.value.link)
    mac = namespace.mac(link).replace(":", "")
    wanted = copy.state.get("eth_dst")
    return wanted is not None and f"{wanted:012x}" == mac.lower()


def _send(walk: Walk, skb: Skb, link: Link, copy: _Copy) -> Next:
    """Send the packet out of a port, into the host's stack or on."""
    bridge, before = copy.bridge, skb.packet
    skb.packet, skb.mark = packet_of(before, copy.state), copy.state.get("pkt_mark", 0)
    namespace = walk.engine.namespace(skb.netns.name)
    if not copy.port:
        inside = openvswitch.is_internal(bridge, link)
        return (openvswitch.emit if inside else openvswitch.receive)(walk, skb, link)
    out = namespace.links.get(copy.port)
    tagged = bool(copy.state.get("vlan_tci", 0) & CFI)
    if out is None or (tagged and (out.peer is not None or openvswitch.is_internal(bridge, out))):
        what = f"what port {copy.port} does with {'a tag' if tagged else 'it'}"
        return _end_open(walk, skb, _Unknown(what, bridge, _spans(copy.met)))
    walk.trace.step(
        StageName.OPEN_VSWITCH,
        skb,
        FUNCTION,
        before,
        StepDecision.SWITCH,
        SentByFlows(bridge.name, link.name, out.name, _numbers(copy.met)),
        spans=_spans(copy.met),
        link=out.name,
    )
    skb.link = out
    if openvswitch.is_internal(bridge, out):
        return RECEIVE
    skb.port = out
    return EMIT


def _numbers(met: list[CompiledFlow | int] | tuple[CompiledFlow | int, ...]) -> tuple[int, ...]:
    return tuple(flow if isinstance(flow, int) else flow.flow.table for flow in met)


def _spans(met: list[CompiledFlow | int] | tuple[CompiledFlow | int, ...]) -> tuple[Span, ...]:
    """Return the lines of the flows that were met, the last one first."""
    spans = [flow.flow.span for flow in reversed(met) if not isinstance(flow, int)]
    return tuple(span for span in spans if span is not None)

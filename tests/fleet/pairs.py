"""Pairs of flows on random nodes: one is answered by the class that another's walk made, and by a
walk of its own. Both answers have to be the same, in everything but who speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation, Delivered, Step, Trace, Transmitted
from podpath.datapath.walk.compiled import Engine
from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address
from podpath.net.errors import UsageError
from podpath.net.packet import Packet
from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath_fleet.flow_answers import spell_ends
from podpath_fleet.flow_classes import FlowClasses, FlowHeader
from podpath_lab.cases.generate import generate_case

FLOWS = 16
"""Flows that are drawn for each node."""
PORTS = (22, 53, 80, 443, 1023, 1024, 8080, 30080, 32767, 40000, 60999, 65535)
PROTOCOLS = (protocols.TCP, protocols.TCP, protocols.UDP)

Digest = Any
"""Nested tuples of plain values; texts may have holes for the flow's own fields."""


@dataclass(slots=True)
class Tally:
    """What was compared."""

    nodes: int = 0
    flows: int = 0
    by_class: int = 0
    """Flows that were answered by a walk of another one."""
    ported: int = 0
    """Those of them whose addresses were not all the walked one's."""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.nodes:,} nodes, {self.flows:,} flows, {self.by_class:,} answered by another's "
            f"walk ({self.ported:,} with other addresses), {len(self.wrong):,} wrong"
        )


def compare_nodes(seeds: Iterator[int] | range, *, both_families: bool = False) -> Tally:
    """Compare on the node of each seed."""
    tally = Tally()
    for seed in seeds:
        case = generate_case(seed, both_families=both_families)
        compare_node(case.node, list(draw_flows(seed, case.node, case.probe)), tally, str(seed))
    return tally


def compare_node(node: Node, flows: list[Probe], tally: Tally, name: str) -> None:
    """Answer each flow by its class and by a walk of its own."""
    watched, plain = Engine(node, watched=True), Engine(node)
    walked: list[Probe] = []

    def answer(header: FlowHeader) -> tuple[Probe, Digest]:
        try:
            conversation = converse(watched, header.probe)
        except UsageError as error:
            return walked[-1], ("refused", type(error).__name__)
        return walked[-1], digest(conversation, header)

    classes = FlowClasses(answer)
    tally.nodes += 1
    for flow in flows:
        walked.append(flow)
        _, (by, given) = classes.find(flow)
        tally.flows += 1
        tally.by_class += by is not flow
        tally.ported += (by.src, by.dst) != (flow.src, flow.dst)
        own = walk_alone(plain, flow)
        if fill(given, flow) != own:
            tally.wrong.append(f"node {name}: {flow} (sport {flow.sport}), class of {by}")


def walk_alone(engine: Engine, flow: Probe) -> Digest:
    """Return what becomes of a flow that is walked by itself."""
    header = FlowHeader(flow)
    try:
        return fill(digest(converse(engine, flow), header), flow)
    except UsageError as error:
        return "refused", type(error).__name__


def draw_flows(seed: int, node: Node, probe: Probe) -> Iterator[Probe]:
    """Draw flows around a probe: other ports, other clients and destinations, near and far."""
    chance = Random(f"{seed} flows")
    known = [
        item.address
        for netns in node.namespaces.values()
        for item in netns.addresses.items
        if item.address.family == probe.src.family and not item.address.is_loopback
    ]
    yield probe
    for _ in range(FLOWS - 1):
        protocol = chance.choice((probe.protocol, probe.protocol, chance.choice(PROTOCOLS)))
        if protocol in PROTOCOLS and not probe.dport:
            protocol = probe.protocol
        own = probe.protocol == protocol
        ported = protocol in PROTOCOLS
        yield probe._replace(
            protocol=protocol,
            src=_draw_address(chance, probe.src, known) if probe.in_dev else probe.src,
            dst=_draw_address(chance, probe.dst, known),
            sport=chance.choice((probe.sport, chance.randrange(1, 65536), chance.choice(PORTS))),
            dport=chance.choice((probe.dport, probe.dport, chance.choice(PORTS))) if ported else 0,
            sending=probe.sending if own else probe.sending._replace(midway=False, flags=None),
        )


def _draw_address(chance: Random, usual: Address, known: list[Address]) -> Address:
    """Draw an address: the usual one, one that differs in a bit, a known one, or any."""
    width = WIDTH[usual.family]
    near = Address(usual.family, usual.value ^ 1 << chance.randrange(width))
    lower = Address(usual.family, usual.value ^ chance.randrange(1, 256))
    far = Address(usual.family, chance.getrandbits(width))
    return chance.choice(
        (usual, usual, usual, near, lower, far, *([chance.choice(known)] * bool(known)))
    )


def fill(given: Digest, flow: Probe) -> Digest:
    """Put a flow's own addresses and ports into the holes of a digest."""
    if isinstance(given, tuple):
        return tuple(fill(part, flow) for part in given)
    if isinstance(given, str) and "{" in given:
        return given.format(flow.src, flow.sport, flow.dst, flow.dport)
    return given


def digest(conversation: Conversation, header: FlowHeader) -> Digest:
    """Return a conversation as plain values: verdict, branches, every packet's headers, decisions
    and lines.
    """
    branches = tuple(_digest_branch(branch, header) for branch in conversation.branches)
    return str(conversation.verdict), conversation.truncated, conversation.pruned, branches


def _digest_branch(branch: Branch, header: FlowHeader) -> Digest:
    traces = tuple(_digest_trace(trace, header) for trace in (*branch.traces, *branch.answers))
    assumptions = tuple((made.rank, made.random) for made in branch.assumptions)
    return branch.works, str(branch.kind), assumptions, traces


def _digest_trace(trace: Trace, header: FlowHeader) -> Digest:
    outcome = trace.outcome
    arrived = (
        spell_ends(header, outcome.packet) if isinstance(outcome, Delivered | Transmitted) else ""
    )
    said = tuple(str(getattr(outcome, name, "")) for name in ("link", "answer", "ask"))
    why = str(getattr(outcome, "reason", "")) if arrived == "" and not said[2] else ""
    steps = tuple(_digest_step(step, header) for step in trace.steps)
    hits = tuple(str(hit.rule.span) for hit in trace.matched)
    ends = _digest_packet(trace.packet, header)
    return trace.name, type(outcome).__name__, outcome.netns, said, why, arrived, ends, steps, hits


def _digest_step(step: Step, header: FlowHeader) -> Digest:
    return (
        str(step.stage),
        step.netns,
        str(step.decision),
        type(step.reason).__name__,
        tuple(map(str, step.spans)),
        step.link,
        len(step.near),
        _digest_packet(step.before, header),
        _digest_packet(step.after, header),
    )


def _digest_packet(packet: Packet, header: FlowHeader) -> Digest:
    ends = spell_ends(header, packet)
    return ends, packet.flags, packet.ttl, packet.tos, packet.length, packet.seq, packet.ack

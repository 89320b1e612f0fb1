"""A node's twin, run once: the probe on the model and on the kernel, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.conversation import converse
from podpath.datapath.trace import Conversation, Delivered, Transmitted
from podpath.lab import conversation
from podpath.lab.agreement import Difference, Evidence, compare
from podpath.lab.apply import apply
from podpath.lab.bpf_standin import emulate_masquerade
from podpath.lab.counters import RulePlace, read_counters
from podpath.lab.drops import Drop, DropTracer
from podpath.lab.exchange import KERNEL_SCRIPTS, REGISTRATION
from podpath.lab.frames import Tap
from podpath.lab.script import Command, Twin, emit_twin
from podpath.lab.standins import Wired, wire_outward_devices
from podpath.net.probe import Probe
from podpath.node.node import Node

IPV4 = 0x0800


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRun:
    """What the model said and what the kernel did."""

    prediction: Conversation
    evidence: Evidence
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    """What the twin holds otherwise than the node, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a twin of a node takes."""

    wired: Wired
    twin: Twin
    standins: tuple[Command, ...]

    @property
    def commands(self) -> tuple[Command, ...]:
        """All commands, in order."""
        return (*self.twin.commands, *self.standins)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is replaced or left out."""
        return (*self.wired.notes, *self.twin.left_out)


def plan_twin(node: Node, probe: Probe | None) -> Plan:
    """Write the twin of a node; a probe is needed where a stand-in has to know the connection (BPF masquerade)."""
    wired = wire_outward_devices(node)
    standins = (*wired.commands, *(emulate_masquerade(node, probe, wired.outward) if probe else ()))
    return Plan(wired=wired, twin=emit_twin(wired.node), standins=standins)


def run_twin(node: Node, probe: Probe, tracer: DropTracer) -> TwinRun:
    """Build the twin here (a private world), send the probe, and compare; the caller ends the world."""
    prediction = converse(node, probe, script=KERNEL_SCRIPTS.get(probe.protocol, ()), settled=REGISTRATION)
    plan = plan_twin(node, probe)
    apply(plan.commands)
    ports = _listening_ports(prediction, probe)
    sender = prediction.branches[0].traces[0].start
    evidence = observe(plan.wired.node, probe._replace(netns=sender, in_dev=None), tracer, ports)
    return TwinRun(
        prediction=prediction, evidence=evidence, notes=plan.notes,
        differences=compare(prediction, evidence, ignored=frozenset(plan.wired.far_ends)),
    )  # fmt: skip


def _listening_ports(prediction: Conversation, probe: Probe) -> tuple[int, ...]:
    """Give the ports that the connection may end at: the one asked for, and what it is translated to on any branch."""
    arrived = {
        trace.outcome.packet.dport
        for branch in prediction.branches
        for trace in branch.traces
        if trace.direction == "original" and isinstance(trace.outcome, Delivered | Transmitted)
    }
    return tuple(sorted((arrived | {probe.dport}) - {0}))


def observe(node: Node, probe: Probe, tracer: DropTracer, ports: tuple[int, ...], quiet: float = conversation.QUIET) -> Evidence:
    """Send a probe through a twin that stands, and gather everything that can be seen of it."""
    tap = Tap(tuple(node.namespaces))
    servers = conversation.open_servers(dict.fromkeys(node.namespaces, ports))
    try:
        tracer.read()
        counters: dict[RulePlace, int] = {}
        drops: list[Drop] = []

        def look() -> None:
            drops.extend(drop for drop in tracer.read() if drop.protocol == IPV4)
            counters.update(read_counters(node))

        seen = conversation.send_probe(probe, tap, servers, quiet=quiet, before_closing=look)
        return Evidence(observation=seen, counters=counters, drops=tuple(drop.reason for drop in drops))
    finally:
        tap.close()
        servers.close()

"""A node's twin, run once: the probe on the model and on the kernel, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from podpath.datapath.conversation import converse
from podpath.datapath.trace import Conversation, Delivered, Transmitted
from podpath.lab import conversation
from podpath.lab.agreement import Difference, Evidence, compare_branch
from podpath.lab.apply import apply
from podpath.lab.bpf_standin import emulate_programs
from podpath.lab.counters import RulePlace, read_counters
from podpath.lab.drops import Drop, DropTracer
from podpath.lab.entries import Entry, read_entries
from podpath.lab.exchange import KERNEL_SCRIPTS, REGISTRATION
from podpath.lab.frames import Tap
from podpath.lab.script import Command, Twin, emit_twin
from podpath.lab.standins import Wired, wire_outward_devices
from podpath.net import protocols
from podpath.net.probe import Probe
from podpath.node.node import Node

IPV4 = 0x0800
DRAWS = 12
"""Tries for the kernel to draw what the model took: enough for a Service of a handful of endpoints."""


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
    standins = (*wired.commands, *(emulate_programs(node, probe, wired.outward) if probe else ()))
    return Plan(wired=wired, twin=emit_twin(wired.node), standins=standins)


def run_twin(node: Node, probe: Probe, tracer: DropTracer) -> TwinRun:
    """Build the twin here (a private world), send the probe, and compare; the caller ends the world.

    Where the kernel draws (an endpoint of a Service) the probe is sent again, from another port, until the kernel has drawn what
    the likeliest branch took, at most `DRAWS` times.
    """
    probe = _fresh(node, probe)
    plan = plan_twin(node, probe)
    apply(plan.commands)
    runs: list[TwinRun] = []
    counted: Mapping[RulePlace, int] = {}
    for draw in range(DRAWS):
        asked = probe if draw == 0 else probe._replace(sport=probe.sport % 60000 + 1000 + draw)
        prediction = converse(node, asked, script=KERNEL_SCRIPTS.get(asked.protocol, ()), settled=REGISTRATION)
        first = prediction.branches[0]
        sender = first.traces[0].start
        ports = _listening_ports(prediction, asked)
        evidence = observe(plan.wired.node, asked._replace(netns=sender, in_dev=None), tracer, ports)
        evidence, counted = _since(evidence, counted), evidence.counters
        differences = compare_branch(first, evidence, frozenset(plan.wired.far_ends))
        runs.append(TwinRun(prediction=prediction, evidence=evidence, differences=differences, notes=plan.notes))
        if not differences or not any(assumption.random for assumption in first.assumptions):
            break
    return min(runs, key=lambda run: len(run.differences))


def _since(evidence: Evidence, counted: Mapping[RulePlace, int]) -> Evidence:
    """Take off what the rules had counted before this try."""
    counters = {place: count - counted.get(place, 0) for place, count in evidence.counters.items()}
    return replace(evidence, counters={place: count for place, count in counters.items() if count})


def _fresh(node: Node, probe: Probe) -> Probe:
    """Send from another port where the evidence holds the trace of a try that failed: a new try would come from another, too."""
    tuples = {
        (entry.original.src, entry.original.sport)
        for netns in node.namespaces.values()
        for entry in netns.conntrack.items
        if entry.original.protocol == protocols.TCP and not entry.replied
    }
    while probe.protocol == protocols.TCP and (probe.src, probe.sport) in tuples:
        probe = probe._replace(sport=probe.sport % 60000 + 1)
    return probe


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
        entries: list[Entry] = []
        tracking = [name for name, netns in node.namespaces.items() if netns.netfilter or netns.nftables.items]
        standing = {entry for netns in tracking for entry in read_entries(netns)}  # of the evidence, not of this try

        def look() -> None:
            drops.extend(drop for drop in tracer.read() if drop.protocol == IPV4)
            counters.update(read_counters(node))
            found = (entry for netns in tracking for entry in read_entries(netns))
            entries.extend(entry for entry in found if entry not in standing or entry.original.sport == probe.sport)

        seen = conversation.send_probe(probe, tap, servers, quiet=quiet, before_closing=look)
        return Evidence(observation=seen, counters=counters, drops=tuple(drop.reason for drop in drops), entries=tuple(entries))
    finally:
        tap.close()
        servers.close()

"""A node's twin, run once: the probe on the model and on the kernel, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation, Delivered, Trace, Transmitted
from podpath.datapath.vocabulary import Direction, StageName
from podpath.drops.headers import IPV4, IPV6
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.probe import Probe
from podpath.net.provenance import Known
from podpath.node.node import Netns, NetnsRole, Node
from podpath_lab import conversation
from podpath_lab.agreement import Disagreement, ObservedEvidence, compare_branch, count_frames
from podpath_lab.apply import apply, has_openvswitch, read_neighbours
from podpath_lab.bpf_standin import emulate_programs
from podpath_lab.conversation import USUAL, Timeouts
from podpath_lab.counters import CountedRule, read_counters
from podpath_lab.drops import DropTracer, FreedPacket
from podpath_lab.entries import ComparedEntry, read_entries
from podpath_lab.exchange import KERNEL_SCRIPTS, SETTLED
from podpath_lab.frames import Tap
from podpath_lab.script import ScriptCommand, Twin, emit_twin
from podpath_lab.standins import Wired, wire_outward_devices

PATIENCE = conversation.Timeouts(0.1)
"""How long to wait: a neighbor that does not answer has failed by then, and a twin is tried once
or a few times.
"""
DRAWS = 12
"""Tries for the kernel to draw what the model took: enough for a Service of a handful of
endpoints.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRun:
    """What the model said and what the kernel did."""

    prediction: Conversation
    evidence: ObservedEvidence
    differences: tuple[Disagreement, ...]
    notes: tuple[str, ...]
    """What the twin holds otherwise than the node, one sentence each."""
    learned: tuple[str, ...] = ()
    """Wrong MACs that hosts outside hold for the node's addresses after the probe, one sentence
    each.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a twin of a node takes."""

    wired: Wired
    twin: Twin
    standins: tuple[ScriptCommand, ...]

    @property
    def commands(self) -> tuple[ScriptCommand, ...]:
        """All commands, in order."""
        return (*self.twin.commands, *self.standins)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is replaced or left out."""
        return (*self.wired.notes, *self.twin.left_out)


def plan_twin(node: Node, probe: Probe | None, *, openvswitch: bool = False) -> Plan:
    """Write the twin of a node; a probe is needed where a stand-in has to know the connection (BPF
    masquerade).
    """
    wired = wire_outward_devices(node, openvswitch=openvswitch)
    standins = (
        *wired.commands,
        *(emulate_programs(node, probe, _outward(node, wired)) if probe else ()),
    )
    return Plan(
        wired=wired,
        twin=emit_twin(wired.node, wired.switches, wired.given, counted=True),
        standins=standins,
    )


def _outward(node: Node, wired: Wired) -> tuple[str, ...]:
    """Return the host's devices that lead to other machines: those with a far end, and those to a
    namespace that plays one.
    """
    others = {name for name, netns in node.namespaces.items() if netns.role == NetnsRole.OTHER}
    cabled = (
        link.name
        for link in node.host.links.items
        if isinstance(link.peer, Known) and link.peer.value.netns in others
    )
    return (*wired.outward, *cabled)


def run_twin(node: Node, probe: Probe, tracer: DropTracer) -> TwinRun:
    """Build the twin here (a private world), send the probe, and compare; the caller ends the
    world.

    Where the kernel draws (an endpoint of a Service) the probe is sent again, from another port,
    until the kernel has drawn what the likeliest branch took, at most `DRAWS` times.
    """
    probe = _fresh(node, probe)
    plan = plan_twin(node, probe, openvswitch=has_openvswitch())
    apply(plan.commands)
    runs: list[TwinRun] = []
    counted: Mapping[CountedRule, int] = {}
    for draw in range(DRAWS):
        asked = probe if draw == 0 else probe._replace(sport=probe.sport % 60000 + 1000 + draw)
        predictions = [_predict(*variant) for variant in _variants(node, asked, plan.wired)]
        first = predictions[0].branches[0]
        ports = _listening_ports(predictions[0], asked)
        sender = _sender(first.traces[0], plan.wired)
        patience = PATIENCE._replace(
            predicted=min(count_frames(each.branches[0]) for each in predictions)
        )
        evidence = observe(
            plan.wired.node, asked._replace(netns=sender, in_dev=None), tracer, ports, patience
        )
        evidence, counted = _since(evidence, counted), evidence.counters
        learned = _learned(node, plan.wired)
        for prediction in predictions:
            differences = compare_branch(
                prediction.branches[0], evidence, frozenset(plan.wired.far_ends)
            )
            runs.append(
                TwinRun(
                    prediction=prediction,
                    evidence=evidence,
                    differences=differences,
                    notes=plan.notes,
                    learned=learned,
                )
            )
        if any(not run.differences for run in runs) or not any(
            assumption.random for assumption in first.assumptions
        ):
            break
    return min(runs, key=lambda run: len(run.differences))


def _predict(node: Node, probe: Probe) -> Conversation:
    return converse(node, probe, script=KERNEL_SCRIPTS.get(probe.protocol, ()), settled=SETTLED)


def _variants(node: Node, probe: Probe, wired: Wired) -> Iterator[tuple[Node, Probe]]:
    """Yield the node and the probe for each port that Open vSwitch may choose of a bond: here it
    chooses anew.
    """
    if not wired.switches:
        yield node, probe
        return
    for place, bridge in enumerate(node.ovs):
        for members in bridge.ports.values():
            for member in members if len(members) > 1 else ():
                chosen = (
                    *node.ovs[:place],
                    replace(bridge, active_slave=member),
                    *node.ovs[place + 1 :],
                )
                yield (
                    replace(node, ovs=chosen),
                    probe._replace(in_dev=member) if probe.in_dev in members else probe,
                )
    yield node, probe


def _sender(first: Trace, wired: Wired) -> str:
    """Return the namespace that the first packet comes from: of one that comes in from outside, the
    far end of its device.
    """
    start = first.steps[0]
    if start.stage is StageName.DEVICE_RECEIVE:
        return wired.behind.get(start.link or "", first.start)
    return first.start


def _learned(node: Node, wired: Wired) -> tuple[str, ...]:
    """Say which of the node's addresses a far end knows under a MAC that is not that of the
    address's device.
    """
    macs = {link.name: link.mac for link in node.host.links.items}
    owner = {
        str(item.address): item.link for item in node.host.addresses.items if item.scope != "host"
    }
    learned: list[str] = []
    for end in sorted(set(wired.behind.values())):
        for address, mac in read_neighbours(end):
            device = owner.get(address)
            if device is not None and mac != macs.get(device):
                others = " and ".join(name for name, held in macs.items() if held == mac)
                learned.append(
                    f"{end} holds {address} at {mac}, which is {others or 'nobody'}'s MAC, "
                    f"not {device}'s"
                )
    return tuple(learned)


def _since(evidence: ObservedEvidence, counted: Mapping[CountedRule, int]) -> ObservedEvidence:
    """Take off what the rules had counted before this try."""
    counters = {place: count - counted.get(place, 0) for place, count in evidence.counters.items()}
    return replace(evidence, counters={place: count for place, count in counters.items() if count})


def _fresh(node: Node, probe: Probe) -> Probe:
    """Send from another port where the evidence holds the trace of a try that failed: a new try
    would come from another, too.
    """
    tuples: set[tuple[Address, int]] = set()
    for netns in node.namespaces.values():
        for entry in netns.conntrack.items:
            if entry.original.protocol == protocols.TCP and not entry.replied:
                tuples.add((entry.original.src, entry.original.sport))
    while probe.protocol == protocols.TCP and (probe.src, probe.sport) in tuples:
        probe = probe._replace(sport=probe.sport % 60000 + 1)
    return probe


def _listening_ports(prediction: Conversation, probe: Probe) -> tuple[int, ...]:
    """Return the ports that the connection may end at: the one asked for, and what it is translated
    to on any branch.
    """
    arrived = {probe.dport}
    for branch in prediction.branches:
        for trace in branch.traces:
            end = trace.outcome
            if trace.direction is not Direction.ORIGINAL:
                continue
            if isinstance(end, Delivered | Transmitted):
                arrived.add(end.packet.dport)
    return tuple(sorted(arrived - {0}))


def observe(
    node: Node, probe: Probe, tracer: DropTracer, ports: tuple[int, ...], patience: Timeouts = USUAL
) -> ObservedEvidence:
    """Send a probe through a twin that stands, and gather everything that can be seen of it."""
    listening = dict.fromkeys(node.namespaces, ports)
    proxies = {name: _list_proxies(netns) for name, netns in node.namespaces.items()}
    servers = conversation.open_servers(listening, version=probe.src.family, proxies=proxies)
    with closing(servers), closing(Tap(tuple(node.namespaces))) as tap, tracer.turn:
        notes = _Notes(node, tracer, patience.quiet, probe.sport)
        return notes.evidence(
            conversation.send_probe(
                probe, tap, servers, patience=patience, before_closing=notes.take
            )
        )


def _list_proxies(netns: Netns) -> list[int]:
    return [socket.port for socket in netns.sockets.items if socket.transparent]


def observe_frame(
    node: Node, send: Callable[[], None], tracer: DropTracer, patience: Timeouts = USUAL
) -> ObservedEvidence:
    """Have a frame sent through a twin that stands, where nobody listens, and gather everything
    that can be seen of it.
    """
    with closing(Tap(tuple(node.namespaces))) as tap, tracer.turn:
        notes = _Notes(node, tracer, patience.quiet)
        return notes.evidence(
            conversation.watch_frame(send, tap, patience=patience, at_end=notes.take)
        )


_SETTLED = 0.03
"""Seconds in which a device of IPv6 that came up has joined its groups (mld_ifc_start_work, v6.12:
two ticks).
"""


def _settle(node: Node, quiet: float) -> Mapping[CountedRule, int]:
    time.sleep(max(_SETTLED, quiet))
    return read_counters(node)


class _Notes:
    """What is read of a twin once all is quiet."""

    def __init__(self, node: Node, tracer: DropTracer, quiet: float, port: int = 0) -> None:
        self._node, self._tracer, self._port = node, tracer, port
        held = any(netns.conntrack.items for netns in node.namespaces.values())
        self._standing = frozenset(self._tracked()) if held else frozenset[ComparedEntry]()
        """Entries of the evidence, not of this try."""
        self._counters: dict[CountedRule, int] = {}
        self._drops: list[FreedPacket] = []
        self._entries: list[ComparedEntry] = []
        six = any(netns.netfilter.get(6) for netns in node.namespaces.values())
        self._protocols = frozenset((IPV4, IPV6) if six else (IPV4,))
        self._counted = _settle(node, quiet) if six else {}
        """What devices that came up have said by themselves, and its rules counted."""
        tracer.read()

    def take(self) -> None:
        """Read drops, counters and conntrack entries."""
        self._drops += [drop for drop in self._tracer.read() if drop.protocol in self._protocols]
        self._counters |= read_counters(self._node)
        for place, count in self._counted.items():
            self._counters[place] -= count
        self._counters = {place: count for place, count in self._counters.items() if count}
        self._entries += [
            entry
            for entry in self._tracked()
            if entry not in self._standing or entry.original.sport == self._port
        ]

    def _tracked(self) -> list[ComparedEntry]:
        tracking = (
            name
            for name, netns in self._node.namespaces.items()
            if netns.netfilter or netns.nftables.items
        )
        return [entry for name in tracking for entry in read_entries(name)]

    def evidence(self, seen: conversation.Observation) -> ObservedEvidence:
        """Put everything together."""
        drops = tuple(drop.reason for drop in self._drops)
        return ObservedEvidence(
            observation=seen, counters=self._counters, drops=drops, entries=tuple(self._entries)
        )

"""Prediction held against observation: the same probe on the model and on the kernel, difference by
difference.

A conversation of the model has a branch for each choice that the kernel makes at random; the kernel
agrees with the model where it agrees with one of them. Compared are: what the client saw, every
frame on every device in order (headers, TTL and MACs), the ARP requests, every rule that matched
and how often, conntrack entries, and the reason of a drop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podpath.datapath.reasons.devices import TooLongForEnd
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.datapath.tracing.trace import (
    Branch,
    Conversation,
    Dropped,
    Rejected,
    RuleHit,
    Step,
    Trace,
)
from podpath.datapath.vocabulary import StageName, StepDecision
from podpath.net import nft, protocols
from podpath.net.addresses import Mac, UnseenMac
from podpath.net.packet import Packet
from podpath.node.netfilter import ConntrackEntry, ConnTuple, Rule
from podpath_lab.conversation import Observation
from podpath_lab.counters import CountedRule
from podpath_lab.entries import ComparedEntry
from podpath_lab.exchange import LAST_ACK
from podpath_lab.frames import SeenFrame

_NO_MAC = "00:00:00:00:00:00"
_DEVICE_STAGES = (StageName.DEVICE_TRANSMIT, StageName.DEVICE_RECEIVE)
_UNREACHABLE = ((protocols.ICMP, 3, 1), (protocols.ICMPV6, 1, 3))
"""Protocol, type and code of what a sender is told when a neighbor does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One thing in which the kernel did not do what the model says."""

    what: str
    """`application`, `frames`, `rules`, `conntrack`, `drop reason`."""
    predicted: str
    observed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedEvidence:
    """Everything that was seen of one probe."""

    observation: Observation
    counters: Mapping[CountedRule, int]
    drops: tuple[str, ...]
    """Reasons of freed IP packets, in order."""
    entries: tuple[ComparedEntry, ...] = ()
    """Conntrack entries that were left behind, in every namespace that has rules."""


def compare(
    conversation: Conversation, seen: ObservedEvidence, ignored: frozenset[str] = frozenset()
) -> tuple[Disagreement, ...]:
    """Return the differences of the branch that agrees best; empty where one agrees wholly.

    Frames in the `ignored` namespaces, and the MACs of their neighbors, are the lab's own doing
    and are left out.
    """
    return min((compare_branch(branch, seen, ignored) for branch in conversation.branches), key=len)


def compare_branch(
    branch: Branch, seen: ObservedEvidence, ignored: frozenset[str] = frozenset()
) -> tuple[Disagreement, ...]:
    """Return the differences between one branch and what was seen."""
    differences: list[Disagreement] = []
    ports = _Ports(branch)
    predicted_frames = _predicted_frames(branch, ports, macs=not ignored)
    frames = tuple(frame for frame in seen.observation.frames if frame.netns not in ignored)
    late = _tells_late(branch)
    observed_frames = _observed_frames(frames, ports, macs=not ignored, late=late)
    if predicted_frames != observed_frames:
        differences.append(
            Disagreement(
                what="frames",
                predicted="\n".join(predicted_frames),
                observed="\n".join(observed_frames),
            )
        )
    predicted_hits, observed_hits = _predicted_hits(branch), Counter(dict(seen.counters))
    if predicted_hits != observed_hits:
        only_model, only_kernel = predicted_hits - observed_hits, observed_hits - predicted_hits
        differences.append(
            Disagreement(
                what="rules", predicted=_spell_hits(only_model), observed=_spell_hits(only_kernel)
            )
        )
    predicted_entries, observed_entries = (
        _predicted_entries(branch, ports, ignored),
        _spell_entries(seen.entries, ports),
    )
    if predicted_entries != observed_entries:
        differences.append(
            Disagreement(
                what="conntrack",
                predicted="\n".join(predicted_entries),
                observed="\n".join(observed_entries),
            )
        )
    works = seen.observation.application == "ok"
    if seen.observation.application and _answered(branch) is not works:
        differences.append(
            Disagreement(
                what="application",
                predicted=branch.kind or str(branch.works),
                observed=seen.observation.application,
            )
        )
    reason = _predicted_drop(branch.last)
    if reason and reason not in seen.drops:
        differences.append(
            Disagreement(
                what="drop reason", predicted=reason, observed=", ".join(seen.drops) or "none"
            )
        )
    return tuple(differences)


def _predicted_drop(trace: Trace) -> str:
    """Return the reason of a packet that the kernel frees: a sender that is refused never made
    one.
    """
    if trace.deciding.stage is StageName.ROUTE_OUTPUT:
        return ""
    if isinstance(trace.outcome, Dropped | Rejected):
        return trace.outcome.reason
    return ""


def _predicted_hits(branch: Branch) -> Counter[CountedRule]:
    walked = (hit for trace in (*branch.traces, *branch.answers) for hit in trace.matched)
    return Counter(
        place for hit in (*walked, *branch.discovery) if (place := _place(hit)) is not None
    )


def _place(hit: RuleHit) -> CountedRule | None:
    """Name the rule as the kernel's counters do; None for a native rule that has no counter."""
    rule = hit.rule
    if isinstance(rule, Rule):
        return CountedRule(
            hit.netns, hit.flavour, rule.table, rule.chain, rule.position, hit.family
        )
    if not any(isinstance(statement, nft.Counter) for statement in rule.statements):
        return None
    return CountedRule(
        hit.netns, hit.flavour, f"{rule.family} {rule.table}", rule.chain, rule.position
    )


def _spell_hits(hits: Counter[CountedRule]) -> str:
    spelled: list[str] = []
    for place, count in sorted(hits.items()):
        program = f"{place.flavour}{'6' * (place.family == 6)}"
        rule = f"{place.table} {place.chain}:{place.position}"
        spelled.append(f"{count}x {place.netns} {program} {rule}")
    return ", ".join(spelled)


def _predicted_frames(branch: Branch, ports: _Ports, *, macs: bool) -> list[str]:
    late = _tells_late(branch)
    traces = (*branch.traces, *branch.answers)
    steps = [step for trace in traces for step in trace.steps if _shows_frame(step)]
    steps.sort(key=lambda step: _place_of(step.netns, _framed(step), late))
    spelled: list[str] = []
    for step in steps:
        leaves = step.stage is StageName.DEVICE_TRANSMIT
        spelled.append(_spell(step.netns, step.link, leaves, ports.settle(_framed(step)), macs))
    return spelled


def count_frames(branch: Branch) -> int:
    """Return how many frames the branch says that devices send and receive."""
    steps = (step for trace in (*branch.traces, *branch.answers) for step in trace.steps)
    return sum(map(_shows_frame, steps))


def _shows_frame(step: Step) -> bool:
    """Tell whether a device shows a frame to packet sockets: one that is too long for the other end
    of a cable is gone before (`____dev_forward_skb`).
    """
    return step.stage in _DEVICE_STAGES and not isinstance(step.reason, TooLongForEnd)


def _framed(step: Step) -> Packet:
    """Return the packet as the device has it: a tunnel device shows what it carries, the outer
    packet is another device's.
    """
    if step.decision is StepDecision.ENCAPSULATE:
        return step.before
    return step.after


def _tells_late(branch: Branch) -> bool:
    """Tell whether a sender hears of a neighbor that does not answer.

    Packets for it wait (net/core/neighbour.c, __neigh_event_send), and their senders are told when
    the kernel gives up on it: whatever else is sent meanwhile comes first.
    """
    return any(
        trace.deciding.stage is StageName.NEIGHBOUR and isinstance(trace.outcome, Rejected)
        for trace in (*branch.traces, *branch.answers)
    )


def _place_of(netns: str, packet: Packet, late: bool) -> tuple[str, bool]:  # noqa: FBT001 - as _tells_late says
    """Order is compared within a namespace: between two, the kernel's stamps of one frame may
    cross. What may come late is compared behind everything else.
    """
    told = (packet.protocol, packet.icmp_type, packet.icmp_code) in _UNREACHABLE
    return netns, late and told


def _observed_frames(
    frames: tuple[SeenFrame, ...], ports: _Ports, *, macs: bool, late: bool
) -> list[str]:
    in_order = sorted(
        ((frame, frame.packet) for frame in frames if frame.packet is not None),
        key=lambda pair: (*_place_of(pair[0].netns, pair[1], late), pair[0].time),
    )
    return [
        _spell(frame.netns, frame.link, frame.outgoing, ports.settle(packet), macs)
        for frame, packet in in_order
    ]


def _spell(netns: str, link: str | None, outgoing: bool, packet: Packet, with_macs: bool) -> str:  # noqa: FBT001 - a direction
    arrow = "out" if outgoing else "in"
    of_icmp = packet.protocol in (protocols.ICMP, protocols.ICMPV6)
    ports = "" if of_icmp else f" {packet.sport}>{packet.dport}"
    tcp = f" [{protocols.flag_names(packet.flags)}]" if packet.protocol == protocols.TCP else ""
    # What stands for hosts outside offers what fits its own device, not theirs.
    mss = f" mss {packet.mss}" if packet.mss and with_macs else ""
    icmp = f" type {packet.icmp_type} code {packet.icmp_code}" if of_icmp else ""
    unfragmented = packet.dont_fragment and packet.family == 4
    size = f" length {packet.length}{' DF' if unfragmented else ''}"
    macs = f" {_shown(packet.smac)}>{_shown(packet.dmac)}" if with_macs else ""
    return (
        f"{netns} {link} {arrow}: {packet.src} > {packet.dst}{ports}{tcp}{mss}{icmp} ttl "
        f"{packet.ttl} tos {packet.tos:#x}{size}{macs}"
    )


def _shown(mac: Mac | None) -> str:
    """Spell a MAC; what a tunnel of IP sends has none."""
    return _NO_MAC if mac is None or isinstance(mac, UnseenMac) else mac


class _Ports:
    """Ports that the kernel draws at random, on both sides put down as 0: any of the range that the
    branch leaves, and none that the prediction has otherwise.
    """

    def __init__(self, branch: Branch) -> None:
        self._ranges = [ends for port in branch.drawn_ports for ends in port.ranges()]
        if self._ranges:
            packets = [
                step.after for trace in (*branch.traces, *branch.answers) for step in trace.steps
            ]
        else:
            packets = []
        self._fixed = {
            port
            for packet in packets
            for port in (packet.sport, packet.dport)
            if not isinstance(port, DrawnPort)
        }

    def settle(self, packet: Packet) -> Packet:
        """Return a packet with its drawn ports replaced."""
        if not self._ranges:
            return packet
        return packet._replace(sport=self._settled(packet.sport), dport=self._settled(packet.dport))

    def settle_tuple(self, ends: ConnTuple) -> ConnTuple:
        """Do the same to a conntrack tuple."""
        if self._ranges:
            return ends._replace(sport=self._settled(ends.sport), dport=self._settled(ends.dport))
        return ends

    def _settled(self, port: int) -> int:
        if isinstance(port, DrawnPort):
            return 0
        drawn = any(low <= port <= high for low, high in self._ranges)
        if drawn and port not in self._fixed:
            return 0
        return port


def _answered(branch: Branch) -> bool | None:
    """Tell whether the client has its answer: that its own last acknowledgement is lost it does not
    learn.
    """
    if branch.works is False and branch.last.name == LAST_ACK:
        return True
    return branch.works


def _predicted_entries(branch: Branch, ports: _Ports, ignored: frozenset[str]) -> list[str]:
    entries: list[ComparedEntry] = []
    for netns, listed in branch.tracked.items():
        if netns not in ignored:
            entries += [_compare_by(netns, entry) for entry in listed]
    return _spell_entries(entries, ports)


def _compare_by(netns: str, entry: ConntrackEntry) -> ComparedEntry:
    return ComparedEntry(
        netns,
        entry.original,
        entry.reply,
        entry.replied,
        entry.assured,
        entry.state,
        entry.mark,
        entry.zone,
    )


def _spell_entries(entries: Iterable[ComparedEntry], ports: _Ports) -> list[str]:
    settled = (
        entry._replace(
            original=ports.settle_tuple(entry.original), reply=ports.settle_tuple(entry.reply)
        )
        for entry in entries
    )
    return sorted(set(map(str, settled)))

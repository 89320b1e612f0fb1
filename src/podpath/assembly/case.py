"""Readings to a case: the one place where records become the node that walks go through.

First comes what outputs list, then what follows from it and from captures, always marked
`inferred`, so that a walk has a path even where a ticket holds fragments. Where outputs differ the
likeliest state is built; the whole assembly is then run again for each other way, which gives the
case's alternatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.attempts.captured import find_failures
from podpath.assembly.attempts.tries import assemble_tries, list_unplaced
from podpath.assembly.attempts.turns import list_turns
from podpath.assembly.captures.sightings import Sightings, assemble_sightings
from podpath.assembly.devices.addresses import assemble_addresses
from podpath.assembly.devices.bridge_tables import assemble_bridge_tables
from podpath.assembly.devices.hooks import assemble_hooks
from podpath.assembly.devices.links import assemble_links
from podpath.assembly.devices.ovs import assemble_ovs
from podpath.assembly.devices.peers import assemble_peers
from podpath.assembly.devices.wireguard import assemble_wireguard
from podpath.assembly.drafts.disputes import Disputes, Fork
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.drafts.listed_tables import settle_completeness
from podpath.assembly.host.counters import assemble_counters
from podpath.assembly.host.kubernetes import assemble_kubernetes
from podpath.assembly.host.manifest import assemble_manifest
from podpath.assembly.host.objects import list_objects
from podpath.assembly.host.snapshots import list_shifts
from podpath.assembly.host.sysctls import assemble_sysctls
from podpath.assembly.inference_order import infer_topology
from podpath.assembly.netfilter.state import NetfilterAssembly, assemble_netfilter
from podpath.assembly.routing.neighbours import assemble_neighbours, assemble_sockets
from podpath.assembly.routing.policy_rules import assemble_rules
from podpath.assembly.routing.routes import assemble_routes
from podpath.assembly.routing.tables import TableNumbers
from podpath.assembly.scenes.change_commands import list_change_commands, read_effects
from podpath.assembly.scenes.labels import StateLikelihood
from podpath.assembly.scenes.scene import ReadSources
from podpath.evidence.kubernetes.records import EventRecord
from podpath.evidence.node_records import SysctlRecord
from podpath.evidence.records import MessageRecord, Reading, SettingsRecord, StatementRecord
from podpath.net.addresses import Address
from podpath.net.firewall import TypedRule
from podpath.net.messages import Message
from podpath.net.provenance import Gap, Source
from podpath.net.settings import SettingsFile
from podpath.net.statements import NameAnswer, NameReply, WarningEvent
from podpath.node.case import Alternative, Attempt, Case, ConfiguredSysctl, Stated
from podpath.node.node import HOST

MOST_ALTERNATIVES = 12
"""Alternatives of a case: each costs a walk of every connection, and past these nobody reads on."""


class _Built(NamedTuple):
    """One run of the assembly."""

    draft: NodeDraft
    sightings: Sightings
    attempts: tuple[Attempt, ...]
    disputes: Disputes


def assemble_case(read: Iterable[tuple[Source, Reading]], asked: tuple[Address, ...] = ()) -> Case:
    """Put together what was read, in the order of the evidence. Never raises for what readers give.

    The order tells which of two outputs that disagree comes first; of what agrees it changes
    nothing. `asked` are addresses that the user asks about: one in the subnet of a bridge is taken
    for that of a pod there.
    """
    evidence = ReadSources.gather(read, asked)
    netfilter = _assemble_netfilter(evidence)
    base = _build(evidence, netfilter, {})
    ways = [
        (fork, way)
        for fork in base.disputes.forks
        for way in range(len(fork.ways))
        if way != fork.taken
    ]
    ways.sort(key=lambda way: way[0].standings[way[1]])
    alternatives = [
        _make_alternative(fork, way, _build(evidence, netfilter, {fork.fact: way}, base.sightings))
        for fork, way in ways[:MOST_ALTERNATIVES]
    ]
    gaps: list[Gap] = [*evidence.gaps, *base.disputes.gaps]
    contradictions = list(base.disputes.contradictions)
    for part in netfilter.values():
        gaps += part.gaps
        contradictions += part.contradictions
    return Case(
        node=base.draft.freeze(),
        alternatives=tuple(alternatives),
        attempts=base.attempts,
        unplaced=tuple(list_unplaced(base.draft, evidence)),
        sightings=base.sightings.packets,
        arps=base.sightings.arps,
        contradictions=tuple(contradictions),
        change_commands=list_change_commands(evidence),
        messages=tuple(_list_messages(evidence)),
        stated=tuple(_list_statements(evidence)),
        shifts=list_shifts(evidence),
        turns=list_turns(evidence),
        configured=tuple(_list_configured(evidence)),
        files=tuple(_list_files(evidence)),
        objects=tuple(list_objects(evidence)),
        printed=tuple(_list_printed(evidence)),
        gaps=tuple(gaps),
    )


def _list_statements(evidence: ReadSources) -> Iterator[Stated]:
    """Yield what outputs state of the host beside its facts, but for those of a later state; what
    was done stays done, and an answer that came is no good state for that.
    """
    for scene, record in evidence.records(StatementRecord):
        lasting = isinstance(record.statement, TypedRule | NameAnswer | NameReply)
        done = lasting and not scene.is_elsewhere
        if done or scene.standing < StateLikelihood.AFTER:
            yield Stated(statement=record.statement, span=record.span, netns=scene.netns)
    for scene, event in evidence.records(EventRecord):
        if event.type == "Warning" and scene.standing < StateLikelihood.GOOD:
            told = WarningEvent(event.object or "", event.reason)
            yield Stated(statement=told, span=event.span, netns=scene.netns)


def _list_printed(evidence: ReadSources) -> Iterator[str]:
    """Yield the commands whose outputs are there as the programs printed them."""
    for scene in evidence.scenes:
        in_question = scene.netns == HOST and scene.standing < StateLikelihood.AFTER
        if scene.source.command and in_question and scene.is_unabridged:
            yield scene.source.command


def _list_configured(evidence: ReadSources) -> Iterator[ConfiguredSysctl]:
    """Yield what files set sysctls to, but for those of a later or a good state."""
    for scene, record in evidence.records(SysctlRecord):
        if record.configured and scene.standing < StateLikelihood.AFTER:
            yield ConfiguredSysctl(
                key=record.key.replace("/", "."), value=record.value.strip(), span=record.span
            )


def _list_files(evidence: ReadSources) -> Iterator[SettingsFile]:
    """Yield configuration files, but for those of a good one: what is wrong in a later file is
    wrong still.
    """
    for scene, record in evidence.records(SettingsRecord):
        if scene.standing < StateLikelihood.GOOD:
            yield replace(record.file, netns=scene.netns)


def _list_messages(evidence: ReadSources) -> Iterator[Message]:
    """Yield what was said on the host that the case is about."""
    for scene, record in evidence.records(MessageRecord):
        if not scene.is_elsewhere:
            yield Message(
                record.kind,
                record.values,
                record.span,
                record.times,
                scene.netns,
                record.speaker,
            )


def _assemble_netfilter(evidence: ReadSources) -> Mapping[str, NetfilterAssembly]:
    """Read rules once: they are the bulk of a node, and no way that a fork may take changes
    them.
    """
    names = dict.fromkeys(["host", *(scene.netns for scene in evidence.scenes)])
    assembled: dict[str, NetfilterAssembly] = {}
    for name in names:
        inside = [scene for scene in evidence.scenes if scene.netns == name]
        read = ((scene.source, scene.reading) for scene in inside)
        assembled[name] = assemble_netfilter(read, netns=name)
    return assembled


def _build(
    evidence: ReadSources,
    netfilter: Mapping[str, NetfilterAssembly],
    selection: Mapping[str, int],
    sightings: Sightings | None = None,
) -> _Built:
    """Run the assembly once, taking the named ways at forks and the likeliest elsewhere.

    What was seen and tried is the same whatever way is taken: an alternative takes the frames as
    they were placed first.
    """
    draft, disputes = NodeDraft(), Disputes(selection)
    tables, effects = TableNumbers(evidence), read_effects(evidence)
    for scene in evidence.scenes:
        if scene.reading.records and not scene.is_elsewhere:
            draft.netns(scene.netns)
    assemble_links(draft, evidence, disputes)
    assemble_ovs(draft, evidence, disputes)
    assemble_peers(draft, evidence)
    assemble_wireguard(draft, evidence)
    assemble_addresses(draft, evidence, disputes)
    assemble_routes(draft, evidence, disputes, tables, effects)
    assemble_rules(draft, evidence, disputes, tables)
    assemble_neighbours(draft, evidence, disputes)
    assemble_hooks(draft, evidence)
    assemble_bridge_tables(draft, evidence, disputes)
    assemble_sysctls(draft, evidence, disputes, effects)
    assemble_sockets(draft, evidence, disputes)
    assemble_counters(draft, evidence)
    assemble_kubernetes(draft, evidence, disputes)
    assemble_manifest(draft, evidence)
    for name, part in netfilter.items():
        if (
            part.netfilter
            or part.conntrack.items
            or part.conntrack.complete
            or part.nftables.items
            or part.nftables.complete
        ):
            netns = draft.netns(name)
            netns.netfilter, netns.conntrack = part.netfilter, part.conntrack
            netns.nftables = part.nftables
    settle_completeness(draft, evidence)
    if sightings is not None:
        infer_topology(draft, evidence, sightings, disputes)
        return _Built(draft, sightings, (), disputes)
    sightings = assemble_sightings(draft, evidence, disputes)
    infer_topology(draft, evidence, sightings, disputes)
    attempts = assemble_tries(draft, evidence, find_failures(sightings.connections), disputes)
    return _Built(draft, sightings, attempts, disputes)


def _make_alternative(fork: Fork, way: int, built: _Built) -> Alternative:
    chosen, base = fork.ways[way], fork.ways[fork.taken]
    return Alternative(
        fact=fork.fact,
        meaning=chosen.meaning,
        instead_of=base.meaning,
        ask=fork.ask,
        node=built.draft.freeze(),
        span=chosen.span,
        good=fork.standings[way]
        in {StateLikelihood.AFTER, StateLikelihood.GOOD, StateLikelihood.ELSEWHERE},
    )

"""Connections that somebody tried, before and after it is known where they started.

A try names its destination; its source is rarely printed. It is the pod's address for what ran in a
pod, and for what ran on the host the address that the host would take toward the destination.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from podpath.assembly.attempts.captured import CapturedFailure
from podpath.assembly.attempts.tracked import find_tracked
from podpath.assembly.drafts.disputes import Disputes
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.assembly.inference.bridge_pods import AddressMention
from podpath.assembly.inference.captures import is_private
from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.assembly.scenes.scene import ReadSource, ReadSources, name_netns
from podpath.evidence.attempts.outcome import UNADDRESSED
from podpath.evidence.records import AttemptRecord, ChangeCommandRecord
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import NAMES, Ending, FailureKind, Result, is_failure
from podpath.net.packet import endpoint
from podpath.net.probe import EPHEMERAL, Probe
from podpath.net.protocols import protocol_name
from podpath.net.provenance import Span
from podpath.node.case import Attempt, Unplaced
from podpath.node.node import HOST

POD = "pod"
_OF_API_SERVER = re.compile(
    r"\bError from server\b|https?://\S+:10250/(?:containerLogs|exec|attach)/"
)
"""What the API server says of its own connections, wherever it runs: to a kubelet, to a webhook."""


class AttemptStart(NamedTuple):
    """Where a connection starts."""

    netns: str | None
    address: Address | None


def local_pods(draft: NodeDraft, evidence: ReadSources) -> Iterator[tuple[Address, AddressMention]]:
    """Yield the addresses of pods that must live on this node: the kubelet probes its own alone,
    and logs of them stand here.
    """
    described = {
        pod.address: pod
        for pod in draft.pods
        if pod.address is not None and _is_here(draft, pod.node)
    }
    for scene, record in evidence.records(AttemptRecord):
        if scene.is_elsewhere:
            continue
        if is_probe(record) and not _is_hosts(draft, record.dst):
            yield (
                record.dst,
                AddressMention(record.span, f"{record.who or 'a probe'} goes to", certain=True),
            )
        elif record.dst in described:
            yield (
                record.dst,
                AddressMention(
                    described[record.dst].span, "a pod of this node is described with", certain=True
                ),
            )
        if record.src is not None and (record.origin == POD or record.src in described):
            yield (
                record.src,
                AddressMention(
                    record.span, f"{record.who or 'a connection'} comes from", certain=True
                ),
            )


def _is_hosts(draft: NodeDraft, address: Address) -> bool:
    """Tell whether an address is the host's own: the kubelet probes pods of the host's network
    there.
    """
    owner = draft.owner(address)
    return (
        address.is_loopback or address in draft.hinted or (owner is not None and owner.name == HOST)
    )


def tried_pod(draft: NodeDraft, evidence: ReadSources) -> Iterator[tuple[Address, AddressMention]]:
    """Yield the pod of a log whose address nothing shows: the one address that was tried by hand on
    the host.

    Who looks for the fault of a pod that cannot connect tries the pod from its node.
    """
    records = [
        (scene, record)
        for scene, record in evidence.records(AttemptRecord)
        if not scene.is_elsewhere
    ]
    nameless = any(record.origin == POD and record.src is None for _, record in records)
    tried: dict[Address, Span] = {}
    for scene, record in records:
        by_hand = scene.netns == HOST and _ran_here(scene)
        if by_hand and is_private(record.dst) and draft.host.on_link(record.dst) is None:
            tried[record.dst] = record.span
    shown = any(netns.name != HOST and netns.addresses for netns in draft.namespaces.values())
    if not nameless or len(tried) != 1 or shown:
        return
    words = "a pod's log fails too, and the one address tried by hand is"
    for address, span in tried.items():
        yield address, AddressMention(span, words, certain=True)


def is_probe(record: AttemptRecord) -> bool:
    """Tell whether the kubelet made the attempt: it probes the pods of its own node."""
    who = record.who.lower()
    return "kubelet" in who or "probe" in who


def list_unplaced(draft: NodeDraft, evidence: ReadSources) -> Iterator[Unplaced]:
    """Yield the failures of which an end is not known."""
    for scene, record in evidence.records(AttemptRecord):
        start = find_start(draft, scene, record)
        if (
            start.address is None
            and record.result is not Ending.OK
            and not is_good(scene.standing, record.result)
        ):
            missing, ask = _missing(start)
            yield Unplaced(
                target=f"{protocol_name(record.protocol)} {_spell_target(record)}",
                result=record.result,
                span=record.span,
                missing=missing,
                ask=ask,
                who=record.who,
                dst=record.dst,
                dport=record.dport,
            )
    for scene in evidence.scenes:
        for gap in scene.reading.gaps:
            if gap.why == UNADDRESSED and not is_good(scene.standing, None):
                yield _nameless(gap.span)


def _nameless(span: Span) -> Unplaced:
    """Return a failure whose destination is only a name: what its line says of how it failed says
    what to ask.
    """
    from podpath.evidence.attempts.failures import parse_result  # noqa: PLC0415 - slow to load

    result = parse_result(span.text)
    if result in NAMES or result is FailureKind.NAME_NOT_RESOLVED:
        return Unplaced(
            target="",
            result=result,
            span=span,
            missing="the name server that was asked",
            ask="cat /etc/resolv.conf",
        )
    ask = "the same command with the address instead of the name"
    return Unplaced(
        target="", result=result, span=span, missing="the address of its destination", ask=ask
    )


def _spell_target(record: AttemptRecord) -> str:
    if record.protocol != protocols.ICMP:
        return endpoint(record.dst, record.dport)
    return str(record.dst)


def _missing(start: AttemptStart) -> tuple[str, str]:
    """Say what a walk from an unknown start lacks, and the command that tells."""
    if start.netns is None:
        return "where it ran", "the same command with its prompt, and `ip addr` there"
    kind, _, name = start.netns.partition("/")
    namespace, _, pod = name.partition("/")
    if kind == "pod" and pod and namespace != "?":
        described = f"kubectl get pod -n {namespace} {pod} -o wide"
    else:
        described = "ip addr"
    where = "" if described != "ip addr" else f" (in {start.netns})"
    return f"the address that it started from in {start.netns}", f"{described}{where}"


def assemble_tries(
    draft: NodeDraft,
    evidence: ReadSources,
    failures: Iterable[CapturedFailure],
    disputes: Disputes,
) -> tuple[Attempt, ...]:
    """Return all attempts of the case, those that captures show last."""
    found: list[Attempt] = []
    changes = [
        record.span
        for scene, record in evidence.records(ChangeCommandRecord)
        if not scene.is_elsewhere
    ]
    for scene, record in evidence.records(AttemptRecord):
        start = find_start(draft, scene, record)
        if start.address is None:
            disputes.gap(
                record.span,
                f"an attempt to reach {record.dst}, but no output shows {_missing(start)[0]}",
            )
            continue
        if start.address.family != record.dst.family:
            disputes.gap(
                record.span,
                (
                    f"an attempt to reach {record.dst}, but only {start.address} is known of its "
                    "source"
                ),
            )
            continue
        port = record.dport if record.protocol != protocols.ICMP else 0
        probe = Probe(
            record.protocol,
            start.address,
            record.dst,
            EPHEMERAL,
            port,
            netns=start.netns,
            sending=record.sending,
        )
        cured = record.result is Ending.OK and _is_cured(found, probe, record.span, changes)
        good = cured or is_good(scene.standing, record.result)
        found.append(
            Attempt(probe=probe, result=record.result, span=record.span, who=record.who, good=good)
        )
    found.extend(_place_failure(draft, failure) for failure in _nearest(draft, failures))
    found.extend(find_tracked(draft, evidence, found))
    return tuple(found)


def _is_cured(before: Iterable[Attempt], probe: Probe, span: Span, changes: Iterable[Span]) -> bool:
    """Tell whether the same connection failed above, and a command that changes the node stands
    between the two.
    """
    file = span.source.name
    changed = [change.line for change in changes if change.source.name == file]
    for old in before:
        if old.probe != probe or not is_failure(old.result) or old.span.source.name != file:
            continue
        if any(old.span.line < line < span.line for line in changed):
            return True
    return False


def find_start(draft: NodeDraft, scene: ReadSource, record: AttemptRecord) -> AttemptStart:
    """Say where a try started: as its line says, else in the namespace that its command ran in."""
    if record.src is not None:
        owner = draft.owner(record.src)
        return AttemptStart(owner.name if owner is not None else None, record.src)
    if is_probe(record) or (
        record.origin in {None, HOST} and scene.netns == HOST and _ran_here(scene)
    ):
        return AttemptStart(HOST, _source_towards(draft.host, record.dst))
    if record.origin not in {None, HOST, POD}:
        named = name_netns(record.origin)
        netns = draft.namespaces.get(named)
        return AttemptStart(named, None if netns is None else _source_towards(netns, record.dst))
    if scene.netns != HOST:
        netns = draft.namespaces.get(scene.netns)
        if netns is not None and _source_towards(netns, record.dst) is not None:
            return AttemptStart(netns.name, _source_towards(netns, record.dst))
    if _OF_API_SERVER.search(record.span.text):
        return AttemptStart(None, None)
    return _only_pod(draft, record)


def is_good(standing: StateLikelihood, result: Result | None) -> bool:
    """Tell whether the evidence says that an attempt was made on a good node, or after the cure."""
    return standing in {StateLikelihood.ELSEWHERE, StateLikelihood.AFTER} or (
        standing is StateLikelihood.GOOD and result is Ending.OK
    )


def _ran_here(scene: ReadSource) -> bool:
    """Tell whether the line was printed by a command typed at a prompt, and so on the host; a log
    line was not.
    """
    return scene.source.prompt is not None or bool(scene.command.program)


def _only_pod(draft: NodeDraft, record: AttemptRecord) -> AttemptStart:
    """Return the one pod that the case is about, for what ran in a pod that is not named."""
    pods = list(_list_others(draft, record.dst))
    return pods[0] if len(pods) == 1 else AttemptStart(None, None)


def _list_others(draft: NodeDraft, target: Address) -> Iterator[AttemptStart]:
    """Yield the global addresses of pods that could reach a target of the same family."""
    for netns in draft.namespaces.values():
        if netns.name == HOST:
            continue
        for own in netns.addresses:
            fits = own.address.family == target.family and own.address != target
            if fits and own.scope == "global":
                yield AttemptStart(netns.name, own.address)


def _source_towards(netns: NetnsDraft, target: Address) -> Address | None:
    """Return the address that a namespace takes toward a target: of the route, of the subnet, of
    the device, or any.
    """
    route = netns.route_to(target)
    if route is not None and route.prefsrc is not None:
        return route.prefsrc
    on_link = netns.on_link(target)
    if on_link is not None and (route is None or route.prefix.length <= on_link.length):
        return on_link.address
    usable = [
        own
        for own in netns.addresses
        if own.address.family == target.family
        and own.scope in {"global", "site"}
        and not own.address.is_loopback
    ]
    device = route.nexthops[0].link if route is not None else None
    same = [own for own in usable if own.link == device]
    defaults = {
        hop.link for other in netns.routes if other.prefix.length == 0 for hop in other.nexthops
    }
    for group in (same, [own for own in usable if own.link in defaults], usable):
        if group:
            return group[0].address
    return None


def _nearest(draft: NodeDraft, failures: Iterable[CapturedFailure]) -> list[CapturedFailure]:
    """Keep, of a connection that several captures show, the one that was taken nearest to its
    client.
    """
    best: dict[tuple[object, ...], tuple[bool, CapturedFailure]] = {}
    for failure in failures:
        owner = draft.owner(failure.client[0])
        at_home = owner is not None and owner.name == failure.start.netns
        key = (failure.protocol, failure.client[0], failure.server, failure.result)
        if key not in best or (at_home and not best[key][0]):
            best[key] = (at_home, failure)
    return [failure for _, failure in best.values()]


def _place_failure(draft: NodeDraft, failure: CapturedFailure) -> Attempt:
    owner = draft.owner(failure.client[0])
    is_unshown = owner is None and failure.start.netns == HOST
    leaves = is_unshown and _leaves(draft, failure)
    inward = failure.start.link if is_unshown and not leaves else None
    probe = Probe(
        failure.protocol,
        failure.client[0],
        failure.server[0],
        _port_of(draft, failure),
        failure.server[1] if failure.protocol != protocols.ICMP else 0,
        netns=None if owner is None else owner.name,
        in_dev=inward,
    )
    good = is_good(judge_source(failure.seen.span.source), failure.result)
    who = f"a capture: {failure.why}"
    return Attempt(
        probe=probe,
        result=failure.result,
        span=failure.seen.span,
        who=who,
        good=good,
        passed=leaves,
    )


def _leaves(draft: NodeDraft, failure: CapturedFailure) -> bool:
    """Tell whether the host sends on what was captured, where the capture says no direction: the
    client is in the network of another device, and the way to the server is by this one. Where
    nothing tells the host's networks or filters, no host forwards by the card that a packet came in
    on.
    """
    start, server = failure.start, failure.server[0]
    if start.direction is not None:
        return start.direction == "out"
    home = draft.host.on_link(failure.client[0])
    route = draft.host.route_to(server)
    known = any(own.scope == "global" and not own.inferred for own in draft.host.addresses)
    known |= any(
        table.name == "filter" for one in draft.host.netfilter.values() for table in one.tables
    )
    if home is None and not known and route is not None and route.inferred:
        return start.link in {hop.link for hop in route.nexthops}
    if home is None or home.link == start.link or draft.owner(server) is not None:
        return False
    beside, route = draft.host.on_link(server), draft.host.route_to(server)
    if beside is not None and (route is None or route.prefix.length <= beside.length):
        return beside.link == start.link
    return route is not None and start.link in {hop.link for hop in route.nexthops}


def _port_of(draft: NodeDraft, failure: CapturedFailure) -> int:
    """Return the client's port, unless a tracked connection of another port has it: the two lines
    are of different times.

    A walk would take that entry for a rival and have the port changed, which the capture does not
    show.
    """
    client, server = failure.client, failure.server
    tracked = draft.host.conntrack.items if draft.host.conntrack is not None else ()
    for entry in tracked:
        rival = (entry.reply.dst, entry.reply.dport) == client and entry.original.dst == server[0]
        if rival and entry.original.src == client[0] and entry.original.sport != client[1]:
            return EPHEMERAL
    return client[1] or EPHEMERAL


def _is_here(draft: NodeDraft, node: str | None) -> bool:
    return node is None or draft.name == "node" or node.partition("/")[0] == draft.name

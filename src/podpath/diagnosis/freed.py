"""A packet that the kernel freed, held against the model: the step that ends it there, with its
line, or that the model would have let it pass.

The kernel says for certain that it dropped the packet, and why in one word. The model is walked
with the same packet from where it came in, and the branch is taken that ends it in the same
namespace for the same reason: of what is not known, what happened decides. Where no branch does,
and the reason is one of those that the model has, the two disagree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from podpath.checks.owned import NOBODY, OwnerPlaces, place_drop
from podpath.datapath.conversations.arrival import ArrivalBranch, PacketPlace, follow
from podpath.datapath.reasons.failures import NobodyListens
from podpath.datapath.routing.reasons import REASONS
from podpath.datapath.tracing.trace import Dropped, Rejected, Step, Transmitted, Undecided
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.unmodelled import list_unwalked
from podpath.drops.events import UNNAMED, DropKey, HeardDrop
from podpath.net.owners import Owner
from podpath.net.packet import Packet
from podpath.net.provenance import Known, Span
from podpath.node.node import Netns

FILTERED = "NETFILTER_DROP"
_TTL = "IP_INHDR"
_LOOPBACK = "lo"
_TRANSPORT = ("tcp_", "udp", "__udp", "raw", "unix_", "sk_", "sctp_", "packet_", "tpacket_")
"""How functions begin that work for sockets: what they free without a reason has passed the
model.
"""
_OF_SOCKETS = "TRANSPORT"
"""What the lack of a reason comes to where such a function freed the packet."""
_OF_QUEUES = "QDISC_DROP"
"""What a full queue gives too, which the model does not have: noop_enqueue and every qdisc's limit
(net/sched/sch_generic.c).
"""
_MODELED_CAUSES = frozenset(name for names in REASONS.values() for _, name in names)
_OF_NETWORKS = "VXLAN_VNI_NOT_FOUND"
"""What the kernel says of an outer packet: the network stands in what it wraps."""
MODELED = (_MODELED_CAUSES | {FILTERED}) - {_OF_QUEUES, _OF_NETWORKS}
"""The kernel's reasons that nothing but what the model ends packets for gives."""
CHECKSUMS = frozenset({"IP_CSUM", "TCP_CSUM", "UDP_CSUM", "ICMP_CSUM", "SKB_CSUM"})
_SOCKETS = frozenset(
    {
        "SOCKET_RCVBUFF", "SOCKET_BACKLOG", "TCP_LISTEN_OVERFLOW", "PROTO_MEM", "NO_SOCKET",
        _OF_SOCKETS,
    }
)  # fmt: skip
_NEIGHBORS = frozenset({"NEIGH_FAILED", "NEIGH_DEAD", "NEIGH_QUEUEFULL"})
_GENERIC_XDP = "do_xdp_generic"
"""The function that frees what an XDP program drops, without a reason up to v6.18."""
_OF_BRIDGES = "BRIDGE_CHAIN"
"""What the kernel's word for Netfilter comes to where nothing but a bridge's chains may be meant:
no walk goes through them.
"""
_COUNT, _MAXIMUM = "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max"


class DropAgreement(StrEnum):
    """How the model's word stands to what the kernel did."""

    NAMED = "named"
    """The model ends the packet there, for that reason."""
    OTHERWISE = "otherwise"
    """The model ends the packet, but elsewhere or for another reason."""
    UNDECIDED = "undecided"
    """The walk met something that is not modeled or not known."""
    OUTSIDE = "outside"
    """The reason is none that the model has: a full queue, a bad checksum, a TCP state."""
    DISAGREES = "disagrees"
    """The model lets the packet pass."""
    ELSEWHERE = "elsewhere"
    """The packet, or the namespace that it was in, is none that the model has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropExplanation:
    """What the model makes of a drop."""

    agreement: DropAgreement
    netns: str = ""
    """The namespace's name; empty where it is none of the node's."""
    link: str = ""
    """The device that the packet was on when it was freed; empty where none."""
    reason: str = ""
    """What the kernel's reason comes to: its own word, or that of the function that has none."""
    step: Step | None = None
    """The step that ended the packet in the model, or left it undecided."""
    unheard: NobodyListens | None = None
    """That nobody listens where the packet arrived."""
    spans: tuple[Span, ...] = ()
    """The lines that decide, the deciding one first: of the step, else of what the reason is
    about.
    """
    owner: Owner | None = None
    """Whose the line is that decided; None where nobody is known."""
    owners: OwnerPlaces = NOBODY
    """Whose what its lines hold is."""


def explain_drop(
    engine: Engine, netns: str, drop: HeardDrop, function: str = ""
) -> DropExplanation:
    """Say which step of the model did what the kernel did to a packet, in a namespace of the node.

    `function` is the kernel's that freed it; empty where that is not known.
    """
    namespace = engine.node.namespaces[netns]
    link = _find_link(namespace, drop.key.ifindex)
    came = _find_link(namespace, drop.key.input)
    if came != link:
        drop = drop._replace(packet=_without_own_frame(engine, netns, link, drop.packet))
    if function.startswith(_GENERIC_XDP):
        drop = drop._replace(key=drop.key._replace(reason="XDP"))
    elif drop.key.reason == UNNAMED and function.startswith(_TRANSPORT):
        drop = drop._replace(key=drop.key._replace(reason=_OF_SOCKETS))
    strange = drop.packet is None or (drop.key.input and not came)
    if strange and drop.key.reason in MODELED:
        return DropExplanation(agreement=DropAgreement.ELSEWHERE, netns=netns, link=link)
    # what came in on lo was sent by the namespace itself
    start = None if came == _LOOPBACK else came or None
    place = PacketPlace(netns=netns, link=start, mark=drop.mark)
    agreement, branch, step = _explain(engine, place, drop)
    if agreement is DropAgreement.DISAGREES and drop.key.reason == FILTERED and link:
        bridging = any(_list_bridge_rules(namespace))
        if bridging and _is_bridged(namespace, link):
            agreement = DropAgreement.OUTSIDE
            drop = drop._replace(key=drop.key._replace(reason=_OF_BRIDGES))
    unheard = branch.unheard if branch is not None else None
    spans = step.spans if step is not None else ()
    quoted = spans or tuple(_list_related(namespace, link, drop, filtered=step is None))
    owners = place_drop(engine, namespace, step, quoted)
    return DropExplanation(
        agreement=agreement,
        netns=netns,
        link=link,
        reason=drop.key.reason,
        step=step,
        unheard=unheard,
        owner=owners.of_step(step) if step is not None else None,
        spans=quoted,
        owners=owners,
    )


def _without_own_frame(
    engine: Engine, netns: str, link: str, packet: Packet | None
) -> Packet | None:
    """Return the packet without the MACs that the node itself wrote to send it by a device: they
    say nothing of the frame that came in.
    """
    if packet is None or not link:
        return packet
    namespace = engine.namespace(netns)
    if packet.smac != namespace.mac(namespace.link(link)):
        return packet
    return packet._replace(smac=None, dmac=None)


_Found = tuple[DropAgreement, ArrivalBranch | None, Step | None]
"""The branch where it ends the packet as the kernel did, and the step that ends it."""


def _explain(engine: Engine, place: PacketPlace, drop: HeardDrop) -> _Found:
    """Walk the packet as its connection began and as it was, for a walk that ends as it did."""
    if drop.packet is None:
        return DropAgreement.OUTSIDE, None, None
    if drop.key.reason in CHECKSUMS or drop.key.reason == _OF_SOCKETS:
        return DropAgreement.OUTSIDE, None, None
    tried = [
        _judge(follow(engine, place, packet), place.netns, drop.key)
        for packet in _list_packets(drop)
    ]
    named = (found for found in tried if found[0] is DropAgreement.NAMED)
    return next(named, tried[0])


def _list_packets(drop: HeardDrop) -> Iterator[Packet]:
    """Yield the packet as it may have come in: forwarding takes one off its TTL before FORWARD."""
    for packet in (drop.original, drop.packet):
        if packet is not None:
            ttl = packet.ttl if drop.key.reason == _TTL else max(packet.ttl, 2)
            yield packet._replace(ttl=ttl)


def _judge(branches: tuple[ArrivalBranch, ...], netns: str, key: DropKey) -> _Found:
    for branch in branches:
        step = _named_step(branch, netns, key)
        if step is not None:
            return DropAgreement.NAMED, branch, step
    for branch in branches:
        if isinstance(branch.trace.outcome, Undecided):
            return DropAgreement.UNDECIDED, None, branch.trace.deciding
    if key.reason not in MODELED:
        return DropAgreement.OUTSIDE, None, None
    for branch in branches:
        if isinstance(branch.trace.outcome, Dropped | Rejected):
            return DropAgreement.OTHERWISE, None, branch.trace.deciding
    leaves = any(isinstance(branch.trace.outcome, Transmitted) for branch in branches)
    if leaves and key.reason in _NEIGHBORS:
        return DropAgreement.OUTSIDE, None, None  # who answers on a wire is what no model knows
    return DropAgreement.DISAGREES, None, None


def _named_step(branch: ArrivalBranch, netns: str, key: DropKey) -> Step | None:
    """Return the step that ends the packet as the kernel did; None where the branch has none."""
    outcome = branch.trace.outcome
    if outcome.netns != netns or not branch.trace.steps:
        return None
    step = branch.trace.deciding
    match outcome:
        case Dropped() | Rejected():
            return step if outcome.reason == key.reason else None
        case _:
            return step if branch.unheard is not None and key.reason == "NO_SOCKET" else None


def _list_related(
    namespace: Netns, link: str, drop: HeardDrop, *, filtered: bool
) -> Iterator[Span]:
    """Yield the lines of what a reason is about, where no step has any: sockets, a device, a full
    table of connections.
    """
    key = drop.key
    if key.reason in _SOCKETS:
        for socket in namespace.sockets.items:
            if (socket.protocol, socket.port) == (key.protocol, key.dport) and socket.span:
                yield socket.span
    elif key.reason == _OF_NETWORKS:
        for each in namespace.links.items:
            if each.span is not None and each.vxlan is not None and each.vxlan.port == key.dport:
                yield each.span
    elif key.reason == _OF_BRIDGES:
        yield from _list_bridge_rules(namespace)
    elif key.reason == FILTERED and filtered:
        yield from _list_full_table(namespace)
    elif key.reason in _NEIGHBORS:
        listed = (each for each in namespace.neighbours.items if each.address == key.dst)
        yield from (each.span for each in listed if each.span is not None)
        yield from _list_links(namespace, link)
    elif key.reason not in CHECKSUMS:
        yield from _list_links(namespace, link)


def _list_links(namespace: Netns, link: str) -> Iterator[Span]:
    """Yield the line of a device."""
    named = (each for each in namespace.links.items if each.name == link)
    yield from (each.span for each in named if each.span is not None)


def _list_bridge_rules(namespace: Netns) -> Iterator[Span]:
    """Yield the lines of the bridges' own chains that may end a frame."""
    for table in list_unwalked(namespace):
        if table.family == "bridge":
            for chain in table.chains.values():
                if chain.policy == "drop" and chain.span is not None:
                    yield chain.span
                yield from (rule.span for rule in chain.rules)


def _is_bridged(namespace: Netns, link: str) -> bool:
    """Tell whether a device is a bridge or a port of one."""
    kinds = {str(each.name): each.kind for each in namespace.links.items}
    found = next((each for each in namespace.links.items if each.name == link), None)
    return found is not None and "bridge" in {found.kind, kinds.get(found.master or "")}


def _list_full_table(namespace: Netns) -> Iterator[Span]:
    """Yield the lines that say that conntrack's table is full."""
    facts = [namespace.sysctls.get(key) for key in (_COUNT, _MAXIMUM)]
    count, maximum = (fact if isinstance(fact, Known) else None for fact in facts)
    if count is None or maximum is None:
        return
    if count.value.isdigit() and maximum.value.isdigit() and int(count.value) >= int(maximum.value):
        yield from (fact.span for fact in (count, maximum) if fact.span is not None)


def _find_link(namespace: Netns, ifindex: int) -> str:
    names = (link.name for link in namespace.links.items if link.ifindex == ifindex)
    return next(names, "") if ifindex else ""

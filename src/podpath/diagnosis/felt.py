"""What the client of a walked connection gets to feel: what a branch can look like, by the table of
`checks.explains`.

The packet that ends, where it ends and what its sender is told determine the way; an error that
does not reach the client is a loss.
"""

from __future__ import annotations

from collections.abc import Mapping

from podpath.checks.explains import FELT, PacketEnd
from podpath.datapath.tracing.trace import Branch, Delivered, Dropped, Rejected, Trace, Transmitted
from podpath.datapath.vocabulary import ConversationFailure, Hook, HookStage, StageName
from podpath.net import protocols
from podpath.net.failures import VAGUE, FailureKind

ANSWERS: Mapping[str, PacketEnd] = {
    "EHOSTUNREACH": PacketEnd.NO_NEIGHBOUR, "icmp-net-unreachable": PacketEnd.NET_UNREACHABLE,
    "icmp6-no-route": PacketEnd.NET_UNREACHABLE,
    "icmp-host-unreachable": PacketEnd.HOST_UNREACHABLE,
    "icmp6-addr-unreachable": PacketEnd.HOST_UNREACHABLE,
    "icmp-net-prohibited": PacketEnd.NET_PROHIBITED,
    "icmp-host-prohibited": PacketEnd.HOST_PROHIBITED,
    "icmp-admin-prohibited": PacketEnd.HOST_PROHIBITED,
    "icmp-pkt-filtered": PacketEnd.HOST_PROHIBITED,
    "icmp6-adm-prohibited": PacketEnd.PROHIBITED_IPV6,
    "icmp6-policy-fail": PacketEnd.PROHIBITED_IPV6, "icmp6-reject-route": PacketEnd.PROHIBITED_IPV6,
    "icmp-port-unreachable": PacketEnd.PORT_UNREACHABLE,
    "icmp6-port-unreachable": PacketEnd.PORT_UNREACHABLE,
    "icmp-proto-unreachable": PacketEnd.PROTOCOL_UNREACHABLE, "tcp-reset": PacketEnd.RESET,
    "icmp-ttl-exceeded": PacketEnd.TTL_EXCEEDED, "icmp-frag-needed": PacketEnd.TOO_BIG,
    "EMSGSIZE": PacketEnd.TOO_BIG,
}  # fmt: skip
"""What an answer to a rejected packet stands for; one that is not here says nothing."""
OWN_ERRORS: Mapping[str, PacketEnd] = {
    "ENETUNREACH": PacketEnd.OWN_NO_ROUTE, "EHOSTUNREACH": PacketEnd.OWN_UNREACHABLE,
    "EACCES": PacketEnd.OWN_PROHIBIT, "EINVAL": PacketEnd.OWN_BLACKHOLE,
}  # fmt: skip
"""The same for an error number of the sender's own output routing."""
OUTPUT_HOOKS = frozenset({Hook.OUTPUT, Hook.POSTROUTING})
OPENING = frozenset({"SYN", "SYN-ACK"})
"""Packets of TCP before its connection stands; any packet of the other protocols counts as such."""
_ENDS: Mapping[ConversationFailure, PacketEnd] = {
    ConversationFailure.REFUSED: PacketEnd.RESET,
    ConversationFailure.STRAY: PacketEnd.LATER,
    ConversationFailure.UNTRANSLATED: PacketEnd.MISTAKEN,
}
"""By the kind of a branch, where no packet of it was dropped or rejected; what a stranger answers
is anything.
"""


def can_look_like(branch: Branch, kind: FailureKind | None) -> bool:
    """Tell whether a failure that somebody met may be this branch's; True where either says too
    little.
    """
    kinds = felt_by(branch)
    return kind is None or kind in VAGUE or kind not in _JUDGED or not kinds or kind in kinds


_JUDGED = frozenset(kind for kinds in FELT.values() for each in kinds.values() for kind in each)


def felt_by(branch: Branch) -> frozenset[FailureKind]:
    """Return the failures that the branch's client may meet; empty where it works, or the table
    does not say.
    """
    way = find_way(branch)
    if way is None:
        return frozenset()
    protocol = branch.traces[0].packet.protocol
    if way is PacketEnd.RESET and protocol != protocols.TCP:
        way = PacketEnd.PORT_UNREACHABLE
    return FELT[way][protocols.ICMP if protocol not in FELT[way] else protocol]


def find_way(branch: Branch) -> PacketEnd | None:
    """Return the way in which a branch's connection ends; None where it works or is undecided."""
    if branch.works is not False or not branch.traces:
        return None
    ended = branch.last
    if not isinstance(ended.outcome, Dropped | Rejected):
        return _ENDS.get(branch.kind)
    first = ended is branch.traces[0]
    if not first and ended.name not in OPENING and ended.packet.protocol == protocols.TCP:
        return PacketEnd.TOO_BIG if _is_too_big(ended) else PacketEnd.LATER
    if isinstance(ended.outcome, Dropped):
        return PacketEnd.DROPPED_BY_SENDER if first and _is_own_output(ended) else PacketEnd.LOST
    return _rejected(branch, ended, ended.outcome) if first else PacketEnd.LOST


def _rejected(branch: Branch, ended: Trace, outcome: Rejected) -> PacketEnd | None:
    """Return what the first packet's sender is told; an error that does not get back to it is a
    loss.
    """
    own = outcome.netns == ended.start
    if own and ended.deciding.stage in _ROUTING:
        return OWN_ERRORS.get(outcome.answer)
    if own and _is_own_output(ended) and outcome.answer != "tcp-reset":
        return PacketEnd.REJECTED_BY_SENDER
    told = not branch.answers or isinstance(branch.answers[0].outcome, Delivered | Transmitted)
    return ANSWERS.get(outcome.answer) if told or own else PacketEnd.LOST


_ROUTING = frozenset({StageName.ROUTE_OUTPUT, StageName.REROUTE})


def _is_own_output(trace: Trace) -> bool:
    """Tell whether a packet ended in a hook of output of the namespace that it started in."""
    stage = trace.deciding.stage
    own = trace.deciding.netns == trace.start
    return own and isinstance(stage, HookStage) and stage.hook in OUTPUT_HOOKS


def _is_too_big(trace: Trace) -> bool:
    return (
        isinstance(trace.outcome, Rejected)
        and ANSWERS.get(trace.outcome.answer) is PacketEnd.TOO_BIG
    )

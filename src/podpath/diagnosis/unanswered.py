"""Packets that leave the node with an address of a pod: whether anybody can answer them is beyond
what a walk sees.

A walk presumes that a host outside answers. Where a connection fails anyway, it may be that
the network has no route back.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.datapath.reasons.failures import LeftForOwnPod, LeftUntranslated
from podpath.datapath.tracing.trace import Branch, Conversation, Trace, Transmitted
from podpath.datapath.vocabulary import ConversationFailure, Direction, Reachability
from podpath.net.addresses import Address, Prefix
from podpath.node.node import Node

UNANSWERED = ConversationFailure.LEFT_UNTRANSLATED
"""The way in which such a conversation fails."""
PRIVATE = tuple(
    Prefix.parse(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
"""RFC 1918, RFC 6598, RFC 4193."""
NEAR = {4: 16, 6: 48}
"""Bits that two addresses of one cluster's pods share."""


LOST = ConversationFailure.LEFT_NODE
"""The way in which a conversation fails whose server is on the node, and whose packets go
elsewhere.
"""


def leave_unanswered(node: Node, conversation: Conversation) -> Conversation:
    """Return the conversation as it is where nobody outside answers for pods: neither their own
    address, nor in their place.
    """
    branches = tuple(_cut(node, branch) for branch in conversation.branches)
    works = {branch.works for branch in branches}
    verdict = conversation.verdict
    if len(works) == 1 and None not in works:
        verdict = Reachability.ALWAYS if True in works else Reachability.NEVER
    return replace(conversation, branches=branches, verdict=verdict)


def _cut(node: Node, branch: Branch) -> Branch:
    for place, trace in enumerate(branch.traces):
        if (
            not branch.works
            or trace.direction is not Direction.ORIGINAL
            or not isinstance(trace.outcome, Transmitted)
        ):
            continue
        kept = branch.traces[: place + 1]
        left = trace.outcome.packet
        if node.find_holder(left.dst, pods_only=True):
            failure = LeftForOwnPod(trace.name, trace.outcome.link, left.dst)
            return replace(branch, traces=kept, works=False, kind=LOST, failure=failure)
        if _is_unanswerable(node, trace):
            unanswered = LeftUntranslated(trace.name, left)
            return replace(branch, traces=kept, works=False, kind=UNANSWERED, failure=unanswered)
    return branch


def _is_unanswerable(node: Node, trace: Trace) -> bool:
    if not isinstance(trace.outcome, Transmitted) or trace.outcome.tunnel is not None:
        return False
    source, target = trace.outcome.packet.src, trace.outcome.packet.dst
    private = any(prefix.covers(source) for prefix in PRIVATE)
    return private and not node.host.holds(source) and not _is_near(source, target)


def _is_near(one: Address, other: Address) -> bool:
    return Prefix.of(one, NEAR[one.family]).covers(other)

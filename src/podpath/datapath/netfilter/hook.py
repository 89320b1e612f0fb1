"""A netfilter hook as a stage: the verdict of all that is registered there, as the walk's next
move.
"""

from __future__ import annotations

from podpath.datapath.netfilter.hooks import traverse
from podpath.datapath.netfilter.verdicts import ACCEPT, Accept, Drop, Queued, Reject
from podpath.datapath.routing import error_source
from podpath.datapath.tracing.trace import Dropped, Outcome, Rejected, Undecided
from podpath.datapath.vocabulary import Hook
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk


def pass_hook(walk: Walk, skb: Skb, hook: Hook) -> Outcome | Accept:
    """Send the packet through a hook: it goes on (perhaps to be routed again), or it ends."""
    verdict = traverse(walk, skb, hook)
    if verdict is ACCEPT:
        return ACCEPT
    match verdict:
        case Accept():
            return verdict
        case Drop(reason):
            return Dropped(netns=skb.netns.name, reason=reason)
        case Reject(answer, packet, reason):
            if packet is None:
                return Dropped(netns=skb.netns.name, reason=reason)
            skb.answer = (
                packet._replace(src=error_source(walk, skb))
                if packet.src.is_unspecified
                else packet
            )
            return Rejected(netns=skb.netns.name, reason=reason, answer=answer)
        case Queued(reason, ask):
            return Undecided(netns=skb.netns.name, reason=reason, ask=ask)

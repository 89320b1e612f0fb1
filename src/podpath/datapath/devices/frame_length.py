"""Frames that a device does not take because they are longer than its MTU: nobody is told.

A veth and a bridge's port let VLAN's four bytes pass above the MTU, whether a tag is there or not,
and several segments that go as one whatever their length (`net/core/dev.c:is_skb_forwardable
v6.18`). Where br_netfilter saw the frame, nothing above the MTU passes, and what may be fragmented
is (`net/bridge/br_netfilter_hooks.c:br_nf_dev_queue_xmit v6.18`).
"""

from __future__ import annotations

from podpath.datapath.reasons.devices import TooLongForEnd
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.trace import Dropped, Undecided
from podpath.datapath.vocabulary import BoundaryName, DropCause, StageName, StepDecision
from podpath.datapath.walk.not_modelled import boundary
from podpath.datapath.walk.pieces import send_in_pieces
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Inferred, Option
from podpath.node.links import Link

FUNCTION = "include/linux/netdevice.h:__is_skb_forwardable v6.12"
VLAN_TAG = 4
"""VLAN_HLEN, in bytes."""


def refuse_longer(
    walk: Walk, skb: Skb, link: Link, stage: StageName, *, filtered: bool = False
) -> Dropped | Undecided | None:
    """End a frame that `link` does not take; None where it fits.

    `filtered` says that br_netfilter saw it.
    """
    packet, length = skb.packet, skb.frame_length
    if length <= link.mtu + (0 if filtered else VLAN_TAG):
        return None
    if skb.may_be_gso and _goes_as_one(walk, skb, link):
        return None
    if filtered and packet.family == 6:
        return boundary(walk, skb, BoundaryName.FRAGMENTS, length, link.mtu)
    if filtered and not packet.dont_fragment:
        send_in_pieces(skb, link.mtu)
        return None
    return drop_longer(walk, skb, link, stage, rests_on=link.mtu_inferred)


def _goes_as_one(walk: Walk, skb: Skb, link: Link) -> bool:
    options = (
        Option(False, f"a full segment comes to {link.name} by itself"),
        Option(True, f"the segments that come to {link.name} are carried as one (TSO)"),
    )
    question = f"do full segments come to {link.name} in netns {skb.netns.name} as one"
    return bool(walk.choices.choose(question, options, random=True))


def drop_longer(
    walk: Walk, skb: Skb, link: Link, stage: StageName, *, rests_on: Inferred | None = None
) -> Dropped:
    """Drop a frame because it is too long for `link`."""
    walk.trace.step(
        stage,
        skb,
        FUNCTION,
        skb.packet,
        StepDecision.DROP,
        TooLongForEnd(link.name, skb.frame_length, link.mtu),
        spans=(link.span,) if link.span is not None else (),
        link=link.name,
        rests_on=rests_on,
    )
    reason = drop_reason(DropCause.FRAME_TOO_LONG, walk.engine.node.kernel)
    return Dropped(netns=skb.netns.name, reason=reason)

"""A tunnel's outer packet whose checksum is wrong: every UDP socket refuses it without a word."""

from __future__ import annotations

from podpath.datapath.reasons.devices import OuterChecksumWrong
from podpath.datapath.routing.reasons import drop_reason
from podpath.datapath.tracing.trace import Dropped
from podpath.datapath.vocabulary import DropCause, StageName, StepDecision
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.provenance import Option
from podpath.node.links import Link

RECEIVED = "net/ipv4/udp.c:__udp4_lib_rcv v6.12"


def refuse_wrong(walk: Walk, skb: Skb) -> Dropped | None:
    """Drop an outer packet whose checksum is wrong, where a socket, a tunnel's or another, would
    get it; no error is sent. None where it is right.
    """
    sender = skb.tunnel
    if not skb.packet.bad_checksum or sender is None or not _is_computed(walk, sender):
        return None
    walk.trace.step(
        StageName.TUNNEL,
        skb,
        RECEIVED,
        skb.packet,
        StepDecision.DROP,
        OuterChecksumWrong(sender.name),
        spans=(sender.span,) if sender.span is not None else (),
        link=sender.name,
    )
    kernel = walk.engine.node.home_of(skb.netns).kernel
    return Dropped(netns=skb.netns.name, reason=drop_reason(DropCause.UDP_CHECKSUM, kernel))


def _is_computed(walk: Walk, sender: Link) -> bool:
    """Tell whether the tunnel's device computes outer checksums, asking where no output tells."""
    if sender.vxlan is None or sender.vxlan.checksum is not None:
        return True
    options = (
        Option(False, "as flannel and Calico set it up (noudpcsum): NAT does no harm then"),
        Option(True, "the kernel's default (udpcsum): NAT has left the checksum wrong"),
    )
    fact = f"whether {sender.name} computes the checksums of its outer packets"
    return bool(walk.choices.choose(fact, options, ask=f"ip -d link show dev {sender.name}"))

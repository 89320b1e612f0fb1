"""A single packet as it stood at one place of the node, walked on from there: what the model says
becomes of one that the kernel was seen with.
"""

from __future__ import annotations

from dataclasses import dataclass

from podpath.datapath.conversations.single_packet import drive_packet, find_unheard
from podpath.datapath.reasons.failures import NobodyListens
from podpath.datapath.tracing import paths
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.datapath.tracing.trace import Assumption, Trace
from podpath.datapath.walk.compiled import Engine
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.packet import Packet

_LIMIT = 16
"""Branches that are walked of one packet: an answer is wanted while it is still asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketPlace:
    """Where a packet stood."""

    netns: str
    link: str | None
    """The device that it came in on; None for what the namespace itself sends."""
    mark: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalBranch:
    """The rest of its way, under one set of assumptions."""

    trace: Trace
    assumptions: tuple[Assumption, ...]
    unheard: NobodyListens | None = None
    """That nobody listens where it arrives; None where somebody may."""


def follow(engine: Engine, place: PacketPlace, packet: Packet) -> tuple[ArrivalBranch, ...]:
    """Walk a packet from a place, the branch with the likeliest answers first."""
    return explore(
        lambda choices: _run(engine, place, packet, choices), limit=_LIMIT, deviations=1
    ).results


def _run(engine: Engine, place: PacketPlace, packet: Packet, choices: Choices) -> ArrivalBranch:
    walk = Walk(engine, choices)
    netns = engine.node.namespaces[place.netns]
    if place.link is None:
        skb = Skb(packet, netns, uid=0, mark=place.mark)
    else:
        link = engine.namespace(place.netns).link(place.link)
        skb = Skb(packet, netns, link=link, mark=place.mark)
    path = paths.OUTPUT if place.link is None else paths.RECEIVE
    trace = drive_packet(walk, "packet", skb, packet, reply=False, path=path)
    unheard = find_unheard(walk, trace)
    return ArrivalBranch(trace=trace, assumptions=tuple(choices.made), unheard=unheard)

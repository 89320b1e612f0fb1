"""What a picture of a connection's path shows: namespaces as boxes, devices as their doors, and the
packets that pass them.

A packet is a row of stops at doors, each with the packet as it comes and as it goes on, so NAT
shows where it happens. The last packet of a branch that fails carries the break.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from podpath.datapath.tracing.trace import (
    Branch,
    Conversation,
    Delivered,
    Dropped,
    Rejected,
    Trace,
    Transmitted,
)
from podpath.datapath.vocabulary import Direction, StageName
from podpath.net.packet import Packet
from podpath.report.path import MOST_HOPS, describe_end
from podpath.report.style import Style
from podpath.report.walked_text import representative

MOST_PACKETS = 3
"""Packets that are drawn: the request, its reply beside it, and the one that broke the path."""
RECEIVED = StageName.DEVICE_RECEIVE
"""The stage that a packet from outside begins with; any other is a socket's."""

UNKNOWN = "?"
"""A device that no step names."""


class Door(NamedTuple):
    """Where a packet enters or leaves a namespace."""

    netns: str
    link: str
    """The device; empty for the namespace's sockets."""

    @property
    def label(self) -> str:
        """What it is called in a picture."""
        return self.link or "socket"


class Stop(NamedTuple):
    """A packet at a door."""

    door: Door
    came: Packet
    """As it came to the door."""
    left: Packet
    """As it went on from there, or ended."""
    outer: Packet | None = None
    """The packet that carries it on, where it leaves the node through a tunnel."""


class DrawnEnd(Enum):
    """How a drawn packet ends."""

    ARRIVED = "arrived"
    BROKEN = "broken"
    OPEN = "open"


class DrawnPacket(NamedTuple):
    """One packet's way from door to door."""

    name: str
    backward: bool
    """True for what goes back to the client."""
    stops: tuple[Stop, ...]
    ending: DrawnEnd
    words: str
    """How it ended, in words."""
    left_out: int = 0
    """Stops of a packet that goes round, before its last one, that are not drawn."""


class PathDrawing(NamedTuple):
    """All that is drawn of a branch."""

    doors: tuple[Door, ...]
    """In the order of the way, those of a namespace side by side."""
    packets: tuple[DrawnPacket, ...]

    @property
    def single(self) -> tuple[PathDrawing, ...]:
        """The same, a drawing for each packet: for a screen that has no room for columns."""
        return tuple(self._draw_alone(packet) for packet in self.packets)

    def _draw_alone(self, packet: DrawnPacket) -> PathDrawing:
        passed = {stop.door for stop in packet.stops}
        return PathDrawing(tuple(door for door in self.doors if door in passed), (packet,))

    @property
    def boxes(self) -> list[tuple[str, tuple[Door, ...]]]:
        """The namespaces with their doors, in the order of the way."""
        return _group(self.doors)


def choose_branch(conversations: Sequence[Conversation]) -> Branch | None:
    """Return the branch to draw: of the first connection that does not work, else of the first."""
    branches = [branch for one in conversations if (branch := representative(one)) is not None]
    walked = [branch for branch in branches if branch.traces]
    broken = [branch for branch in walked if not branch.works]
    return next(iter(broken or walked), None)


def draw_path(branch: Branch) -> PathDrawing:
    """Lay out the packets of a branch."""
    packets = tuple(_draw_packet(trace, branch) for trace in _choose_packets(branch.traces))
    doors = dict.fromkeys(stop.door for packet in packets for stop in packet.stops)
    return PathDrawing(tuple(door for _, group in _group(tuple(doors)) for door in group), packets)


def _choose_packets(traces: Sequence[Trace]) -> list[Trace]:
    """Return the first request, its reply, and the last packet, where it is another."""
    if len(traces) <= MOST_PACKETS:
        return list(traces)
    return [*traces[: MOST_PACKETS - 1], traces[-1]]


def _draw_packet(trace: Trace, branch: Branch) -> DrawnPacket:
    stops = list(_list_stops(trace))
    left_out = max(len(stops) - MOST_HOPS, 0)
    if left_out:
        stops = [*stops[: MOST_HOPS - 1], stops[-1]]
    words = describe_end(trace, Style())
    match trace.outcome:
        case Delivered() | Transmitted() if branch.works is False and trace is branch.last:
            ending = DrawnEnd.BROKEN
            words = f"{words}: {branch.kind}" if branch.kind else words
        case Delivered():
            ending, words = DrawnEnd.ARRIVED, "delivered"
        case Transmitted():
            ending = DrawnEnd.ARRIVED
        case Dropped() | Rejected():
            ending = DrawnEnd.BROKEN
        case _:
            ending = DrawnEnd.OPEN
    backward = trace.direction is Direction.REPLY
    return DrawnPacket(trace.name, backward, tuple(stops), ending, words, left_out)


def _list_stops(trace: Trace) -> Iterator[Stop]:
    """Name each door when the packet comes to it, with the packet there."""
    came = trace.packet
    door: Door | None = None
    if not trace.steps or trace.steps[0].stage != RECEIVED:
        door = Door(trace.start, "")
    for step in trace.steps:
        at = Door(step.netns, step.link) if step.link else door
        if at is None or at == door:
            continue
        if door is not None:
            yield Stop(door, came, step.before)
        door, came = at, step.before
    yield from _list_last(trace, door or Door(trace.start, UNKNOWN), came)


def _list_last(trace: Trace, door: Door, came: Packet) -> Iterator[Stop]:
    """Name the door where the packet ends, and the socket that takes it."""
    match trace.outcome:
        case Delivered(netns=netns, packet=left):
            yield Stop(door, came, left)
            yield Stop(Door(netns, ""), left, left)
        case Transmitted(packet=left, outer=outer):
            yield Stop(door, came, left, outer)
        case _:
            yield Stop(door, came, trace.steps[-1].after if trace.steps else came)


def _group(doors: Sequence[Door]) -> list[tuple[str, tuple[Door, ...]]]:
    boxes: dict[str, list[Door]] = {}
    for door in doors:
        boxes.setdefault(door.netns, []).append(door)
    return [(netns, tuple(group)) for netns, group in boxes.items()]

"""Frames of a capture put together to TCP connections, with the copies that NAT on the way made of
their packets.

A capture on `any`, or on a bridge that a packet passes twice, shows a packet before and after its
addresses are rewritten. The copies share ports, sequence number and moment, so that a connection
and its translated twin are found as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from podpath.capture.observations import Endpoint, opening
from podpath.net import protocols
from podpath.node.case import Sighting

COPY_WITHIN = 0.1
"""Seconds between a packet and its copy on another device: forwarding takes microseconds, a
retransmission 200 ms or more.
"""


@dataclass(slots=True, kw_only=True)
class TcpCapture:
    """One TCP connection as one capture shows it, from its first SYN on. Mutable while it is
    gathered.
    """

    capture: int
    client: Endpoint
    server: Endpoint
    syn: Sighting
    forward: list[Sighting] = field(default_factory=list)
    """Frames from the client to the server, on the device of the first SYN."""
    backward: list[Sighting] = field(default_factory=list)
    """Frames from the server to the client."""
    elsewhere: list[Sighting] = field(default_factory=list)
    """The same connection's frames on other devices."""
    copy: TcpCapture | None = None
    """The connection that its packets become once an address is rewritten."""
    original: TcpCapture | None = None
    """The connection that it is such a copy of."""


def gather_connections(sightings: Iterable[Sighting]) -> list[TcpCapture]:
    """Return the TCP connections whose beginning a capture shows, in order of their first SYN,
    joined with their copies.
    """
    connections: dict[tuple[int, Endpoint, Endpoint], TcpCapture] = {}
    by_server: dict[tuple[int, Endpoint, Endpoint], TcpCapture] = {}
    for seen in sightings:
        packet = seen.packet
        if packet.protocol != protocols.TCP or packet.fragment:
            continue
        source, target = (packet.src, packet.sport), (packet.dst, packet.dport)
        if opening(packet) == protocols.SYN:
            known = connections.get((seen.capture, source, target))
            if known is None:
                known = TcpCapture(capture=seen.capture, client=source, server=target, syn=seen)
                connections[seen.capture, source, target] = by_server[
                    seen.capture, target, source
                ] = known
        owner = connections.get((seen.capture, source, target))
        if owner is not None:
            (owner.forward if seen.link == owner.syn.link else owner.elsewhere).append(seen)
            continue
        answered = by_server.get((seen.capture, source, target))
        if answered is not None:
            (answered.backward if seen.link == answered.syn.link else answered.elsewhere).append(
                seen
            )
    found = list(connections.values())
    _join_copies(found)
    return found


def is_copy(one: Sighting, other: Sighting, *, numbered: bool = True) -> bool:
    """Tell whether the second frame is the first one with its source or its target rewritten,
    further on its way.

    Without `numbered` their sequence numbers may differ.
    """
    if one is other or one.capture != other.capture or (one.time is None) != (other.time is None):
        return False
    if (
        one.time is not None
        and other.time is not None
        and not 0 <= other.time - one.time < COPY_WITHIN
    ):
        return False
    first, second = one.packet, other.packet
    same = (first.protocol, first.flags, first.payload) == (
        second.protocol,
        second.flags,
        second.payload,
    )
    if not same or (numbered and first.seq != second.seq):
        return False
    kept_source = (first.src, first.sport) == (second.src, second.sport)
    kept_target = (first.dst, first.dport) == (second.dst, second.dport)
    return kept_source != kept_target and (first.sport == second.sport or kept_target)


def _join_copies(connections: Sequence[TcpCapture]) -> None:
    by_syn: dict[tuple[int, int], list[TcpCapture]] = {}
    for connection in connections:
        by_syn.setdefault((connection.capture, connection.syn.packet.seq), []).append(connection)
    for same in by_syn.values():
        for one, other in pairwise(same):
            if other.original is None and is_copy(one.syn, other.syn):
                one.copy, other.original = other, one


def foreign_answers(connection: TcpCapture, answers: Iterable[Sighting]) -> list[Sighting]:
    """Return those SYN-ACKs to the connection's client that come from another address than the one
    it spoke to.
    """
    syn = connection.syn.packet
    return [
        seen
        for seen in answers
        if (seen.packet.src, seen.packet.sport) != connection.server
        and seen.packet.ack in {syn.seq + 1, 1}
    ]

"""Connections that a capture shows to fail, as attempts: what the client got to feel, at the point
nearest to it.

Each way to fail is a row: what the frames look like, and what the client's program says then. A
capture that ends early proves no failure, so a loss counts only where it was waited for: something
was sent again, or a later packet went further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedConnection, CapturedFlow, Endpoint, is_forwarded
from podpath.capture.frames import (
    counted,
    opening,
    same_segments,
    times_sent,
)
from podpath.net import protocols
from podpath.net.failures import Ending, FailureKind, Result
from podpath.net.packet import Packet
from podpath.node.case import Sighting


class CapturedFailure(NamedTuple):
    """A connection that fails in a capture, or that works."""

    protocol: int
    client: Endpoint
    server: Endpoint
    result: Result
    why: str
    seen: Sighting
    """The frame that shows it."""
    start: Sighting
    """The connection's first frame."""


class _View(NamedTuple):
    connection: CapturedConnection[Sighting]
    answers: Sequence[Sighting]
    """SYN-ACKs that its client gets in the same capture, from anybody."""

    @property
    def start(self) -> CapturedFlow[Sighting]:
        """How the point nearest to the client shows it."""
        return self.connection.start


_Told = tuple[Sighting, str]
"""The frame that shows how a connection ends, and what it shows."""


def find_failures(connections: Iterable[CapturedConnection[Sighting]]) -> list[CapturedFailure]:
    """Return every connection of the captures that fails, and those that plainly work, once for
    each pair of ends.
    """
    connections = tuple(connections)
    answers: dict[tuple[int, Endpoint], list[Sighting]] = {}
    for connection in connections:
        for flow in connection.flows:
            answers.setdefault((flow.point.capture, flow.client), []).extend(flow.syn_acks)
    opened = [connection for connection in connections if connection.start.syns]
    judged = [
        _judge(_View(one, answers[one.start.point.capture, one.start.client])) for one in opened
    ]
    found: dict[tuple[object, ...], CapturedFailure] = {}
    for failure in (*judged, *map(_find_unanswered, connections)):
        if failure is not None:
            found.setdefault(_pair(failure), failure)
    return list(found.values())


def _pair(failure: CapturedFailure) -> tuple[object, ...]:
    return failure.protocol, failure.client[0], failure.server, failure.result, failure.seen.netns


def _judge(view: _View) -> CapturedFailure | None:
    start = view.start
    for result, test in _TESTS:
        told = test(view)
        if told is not None:
            seen, why = told
            return CapturedFailure(
                protocols.TCP, start.client, start.server, result, why, seen, start.syns[0]
            )
    return None


def _is_foreign_answer(view: _View) -> _Told | None:
    """Look for a SYN-ACK from an address that the client never spoke to."""
    server = view.start.server
    first = view.start.syns[0].packet.seq
    for answer in view.answers:
        packet = answer.packet
        source = (packet.src, packet.sport)
        if source != server and counted(packet.ack, first) == 1:
            stranger, asked = (f"{address}:{port}" for address, port in (source, server))
            return answer, f"the SYN-ACK comes from {stranger}, but the client spoke to {asked}"
    return None


def _is_refused(view: _View) -> _Told | None:
    resets = [seen for seen in view.start.backward if seen.packet.flags & protocols.RST]
    if resets and not view.start.syn_acks:
        return resets[0], "the SYN is answered by a reset"
    return None


def _is_client_reset(view: _View) -> _Told | None:
    if not view.start.syn_acks:
        return None
    sent = _after_syn(view.start)
    if sent and sent[0].packet.flags & protocols.RST:
        return sent[0], "the client resets the connection right after the SYN-ACK"
    return None


def _is_syn_repeated(view: _View) -> _Told | None:
    again = _sent_again(view.start.syns)
    if again is None:
        return None
    if view.start.syn_acks:
        return again, "the SYN is sent again: the SYN-ACK does not reach the client"
    return again, "the SYN is sent again and no SYN-ACK comes"


def _is_syn_ack_repeated(view: _View) -> _Told | None:
    again = _sent_again(view.start.syn_acks)
    if again is not None and view.start.acks:
        return again, "the SYN-ACK comes again: the server did not get the handshake's ACK"
    return None


def _is_data_repeated(view: _View) -> _Told | None:
    for copies in same_segments(view.start.forward):
        again = _sent_again(copies)
        if again is None or len(copies) < 3 or view.start.acknowledges(copies[0]):
            continue
        return again, "the data is sent again and again and is never acknowledged"
    return None


def _is_lost_inside(view: _View) -> _Told | None:
    """Look for packets that come in on the client's device and, other than its SYN, leave by
    none.
    """
    start = view.start
    if start.point.link is None or start.syns[0].direction != "in":
        return None
    others = view.connection.flows[1:]
    renamed = [flow for flow in others if flow.ends != start.ends]
    further = [
        seen
        for flow in renamed or others
        for seen in flow.forward
        if seen.link != start.point.link and seen.direction == "out"
    ]
    later = _after_syn(start)
    if not further or len(later) < 2 or any(is_forwarded(seen, further) for seen in later):
        return None
    inside, out = start.point.link, further[0].link
    return later[0], f"after the SYN nothing that comes in on {inside} leaves by {out}"


def _is_working(view: _View) -> _Told | None:
    answered = [seen for seen in view.start.backward if seen.packet.payload]
    sent = any(seen.packet.payload for seen in view.start.forward)
    closed = any(seen.packet.flags & protocols.FIN for seen in view.start.backward)
    if answered and (sent or closed):
        return answered[0], "data goes both ways"
    return None


_TESTS: tuple[tuple[Result, Callable[[_View], _Told | None]], ...] = (
    (FailureKind.RESET, _is_foreign_answer),
    (FailureKind.REFUSED, _is_refused),
    (FailureKind.RESET, _is_client_reset),
    (FailureKind.TIMEOUT, _is_syn_repeated),
    (FailureKind.TIMEOUT, _is_syn_ack_repeated),
    (FailureKind.TIMEOUT, _is_data_repeated),
    (FailureKind.TIMEOUT, _is_lost_inside),
    (Ending.OK, _is_working),
)
"""What the client's program gets to feel, and how the frames show it; the first that fits
counts.
"""


def _after_syn(flow: CapturedFlow[Sighting]) -> list[Sighting]:
    """Return what the client sends besides its SYN."""
    return [seen for seen in flow.forward if opening(seen.packet) != protocols.SYN]


def _sent_again(same: Sequence[Sighting]) -> Sighting | None:
    """Return the first of the frames that is no copy of an earlier one on its way through, but sent
    anew.
    """
    sent = times_sent(same)
    return sent[1] if len(sent) > 1 else None


def _find_unanswered(connection: CapturedConnection[Sighting]) -> CapturedFailure | None:
    """Tell whether datagrams or echo requests are sent again while nothing comes back."""
    start = connection.start
    sent = start.forward or start.backward
    packet = sent[0].packet
    answered = any(flow.forward and flow.backward for flow in connection.flows)
    again = _sent_again(sent)
    if answered or again is None or not _is_question(packet):
        return None
    if len(sent) < (2 if packet.protocol == protocols.UDP else 3):
        return None
    client, server = (packet.src, packet.sport), (packet.dst, packet.dport)
    why = "it is sent again and nothing comes back"
    return CapturedFailure(
        packet.protocol, client, server, FailureKind.TIMEOUT, why, again, sent[0]
    )


def _is_question(packet: Packet) -> bool:
    if packet.dst.is_multicast or packet.dst.value == 0xFFFFFFFF:
        return False
    if packet.protocol == protocols.UDP:
        return packet.dport not in _ONE_WAY and packet.sport not in _ONE_WAY
    return packet.protocol == protocols.ICMP and packet.icmp_type == 8


_ONE_WAY = frozenset({67, 68, 123, 137, 138, 514, 4789, 5353, 6081, 8472, 1900, 51820})
"""Datagrams to these ports need no answer, or are tunnels."""

"""Connections that a capture shows to fail, as attempts: what the client got to feel, at the point
nearest to it.

Each way to fail is a row: what the frames look like, and what the client's program says then. A
capture that ends early proves no failure, so a loss counts only where it was waited for: something
was sent again, or a later packet went further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from podpath.assembly.captures.conversations import TcpCapture, foreign_answers, is_copy
from podpath.capture.observations import RESEND_AFTER, opening
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.failures import Ending, FailureKind, Result
from podpath.net.packet import Packet
from podpath.node.case import Sighting

_SYN_ACK = protocols.SYN | protocols.ACK


class Failure(NamedTuple):
    """A connection that fails in a capture, or that works."""

    protocol: int
    client: tuple[Address, int]
    server: tuple[Address, int]
    result: Result
    why: str
    seen: Sighting
    """The frame that shows it."""
    start: Sighting
    """The connection's first frame."""


class _View(NamedTuple):
    connection: TcpCapture
    answers: Sequence[Sighting]
    """SYN-ACKs that its client gets in the same capture, from anybody."""


def find_failures(connections: Iterable[TcpCapture], packets: Sequence[Sighting]) -> list[Failure]:
    """Return every connection of the captures that fails, and those that plainly work, once for
    each pair of ends.
    """
    found: dict[tuple[object, ...], Failure] = {}
    answers: dict[tuple[int, Address, int], list[Sighting]] = {}
    for seen in packets:
        if opening(seen.packet) == _SYN_ACK:
            answers.setdefault((seen.capture, seen.packet.dst, seen.packet.dport), []).append(seen)
    for connection in connections:
        if connection.original is not None:
            continue
        failure = _judge(
            _View(connection, answers.get((connection.capture, *connection.client), ()))
        )
        if failure is not None:
            found.setdefault(_pair(failure), failure)
    for failure in _find_unanswered(packets):
        found.setdefault(_pair(failure), failure)
    return list(found.values())


def _pair(failure: Failure) -> tuple[object, ...]:
    return failure.protocol, failure.client[0], failure.server, failure.result, failure.seen.netns


def _judge(view: _View) -> Failure | None:
    for result, test in _TESTS:
        told = test(view)
        if told is not None:
            seen, why = told
            connection = view.connection
            return Failure(
                protocols.TCP,
                connection.client,
                connection.server,
                result,
                why,
                seen,
                connection.syn,
            )
    return None


def _is_foreign_answer(view: _View) -> tuple[Sighting, str] | None:
    """Look for a reset by the client after a SYN-ACK from an address that it never spoke to."""
    for answer in foreign_answers(view.connection, view.answers):
        source = f"{answer.packet.src}:{answer.packet.sport}"
        server = f"{view.connection.server[0]}:{view.connection.server[1]}"
        return answer, f"the SYN-ACK comes from {source}, but the client spoke to {server}"
    return None


def _is_refused(view: _View) -> tuple[Sighting, str] | None:
    for seen in view.connection.backward:
        if seen.packet.flags & protocols.RST and not _answered(view.connection):
            return seen, "the SYN is answered by a reset"
    return None


def _is_client_reset(view: _View) -> tuple[Sighting, str] | None:
    if not _answered(view.connection):
        return None
    sent = [seen for seen in view.connection.forward if opening(seen.packet) != protocols.SYN]
    if sent and sent[0].packet.flags & protocols.RST:
        return sent[0], "the client resets the connection right after the SYN-ACK"
    return None


def _is_syn_repeated(view: _View) -> tuple[Sighting, str] | None:
    syns = [seen for seen in view.connection.forward if opening(seen.packet) == protocols.SYN]
    again = _sent_again(syns)
    if again is None:
        return None
    if _answered(view.connection):
        return again, "the SYN is sent again: the SYN-ACK does not reach the client"
    return again, "the SYN is sent again and no SYN-ACK comes"


def _is_syn_ack_repeated(view: _View) -> tuple[Sighting, str] | None:
    answers = [seen for seen in view.connection.backward if opening(seen.packet) == _SYN_ACK]
    acks = [seen for seen in view.connection.forward if opening(seen.packet) == protocols.ACK]
    again = _sent_again(answers)
    if again is not None and acks:
        return again, "the SYN-ACK comes again: the server did not get the handshake's ACK"
    return None


def _is_data_repeated(view: _View) -> tuple[Sighting, str] | None:
    sent: dict[tuple[int, int], list[Sighting]] = {}
    for seen in view.connection.forward:
        if seen.packet.payload:
            sent.setdefault((seen.packet.seq, seen.packet.payload), []).append(seen)
    for copies in sent.values():
        again = _sent_again(copies)
        first = copies[0]
        if again is not None and len(copies) > 2 and not _acknowledged(view.connection, first):
            return again, "the data is sent again and again and is never acknowledged"
    return None


def _is_lost_inside(view: _View) -> tuple[Sighting, str] | None:
    """Look for packets that come in on the client's device and, other than its SYN, leave by none."""
    connection = view.connection
    if connection.syn.link is None or connection.syn.direction != "in":
        return None
    further = (
        connection.copy.forward + connection.copy.elsewhere
        if connection.copy is not None
        else connection.elsewhere
    )
    further = [
        seen for seen in further if seen.link != connection.syn.link and seen.direction == "out"
    ]
    later = [seen for seen in connection.forward if opening(seen.packet) != protocols.SYN]
    if not further or len(later) < 2 or any(_goes_on(seen, further) for seen in later):
        return None
    out = further[0].link
    return later[0], f"after the SYN nothing that comes in on {connection.syn.link} leaves by {out}"


def _is_working(view: _View) -> tuple[Sighting, str] | None:
    answered = [seen for seen in view.connection.backward if seen.packet.payload]
    sent = [seen for seen in view.connection.forward if seen.packet.payload]
    closed = any(seen.packet.flags & protocols.FIN for seen in view.connection.backward)
    if answered and (sent or closed):
        return answered[0], "data goes both ways"
    return None


_TESTS: tuple[tuple[Result, Callable[[_View], tuple[Sighting, str] | None]], ...] = (
    (FailureKind.RESET, _is_foreign_answer),
    (FailureKind.REFUSED, _is_refused),
    (FailureKind.RESET, _is_client_reset),
    (FailureKind.TIMEOUT, _is_syn_repeated),
    (FailureKind.TIMEOUT, _is_syn_ack_repeated),
    (FailureKind.TIMEOUT, _is_data_repeated),
    (FailureKind.TIMEOUT, _is_lost_inside),
    (Ending.OK, _is_working),
)
"""What the client's program gets to feel, and how the frames show it; the first that fits counts."""


def _answered(connection: TcpCapture) -> bool:
    return any(opening(seen.packet) == _SYN_ACK for seen in connection.backward)


def _acknowledged(connection: TcpCapture, sent: Sighting) -> bool:
    """Tell whether the server acknowledged data: relative numbers count from the SYN, absolute ones
    from themselves.
    """
    end = sent.packet.seq + sent.packet.payload
    return any(
        seen.packet.flags & protocols.ACK and seen.packet.ack == end for seen in connection.backward
    )


def _sent_again(same: Sequence[Sighting]) -> Sighting | None:
    """Return the first of the frames that is no copy of an earlier one on its way through, but sent
    anew.
    """
    for one, other in pairwise(same):
        if one.time is None or other.time is None:
            continue
        if abs(other.time - one.time) >= RESEND_AFTER:
            return other
    timeless = [seen for seen in same if seen.time is None]
    return timeless[-1] if len(timeless) > 2 else None


def _goes_on(seen: Sighting, further: Sequence[Sighting]) -> bool:
    """Tell whether a packet is among those further on; tcpdump may number it from 0 here and from
    the SYN there.
    """
    return any(
        is_copy(seen, other, numbered=False) or _is_same_packet(seen, other) for other in further
    )


def _is_same_packet(one: Sighting, other: Sighting) -> bool:
    first, second = one.packet, other.packet
    ends = (first.src, first.sport, first.dst, first.dport) == (
        second.src,
        second.sport,
        second.dst,
        second.dport,
    )
    return ends and (first.flags, first.payload) == (second.flags, second.payload)


def _find_unanswered(packets: Sequence[Sighting]) -> Iterator[Failure]:
    """Yield datagrams and echo requests that are sent again while nothing comes back."""
    asked: dict[tuple[object, ...], list[Sighting]] = {}
    answered: set[tuple[object, ...]] = set()
    for seen in packets:
        packet = seen.packet
        if not _is_question(packet):
            continue
        key = (seen.capture, packet.protocol, packet.src, packet.sport, packet.dst, packet.dport)
        back = (seen.capture, packet.protocol, packet.dst, packet.dport, packet.src, packet.sport)
        if back in asked:
            answered.add(back)
        else:
            asked.setdefault(key, []).append(seen)
    for question, sent in asked.items():
        again = _sent_again(sent)
        packet = sent[0].packet
        needed = 3 if packet.protocol != protocols.UDP else 2
        if again is not None and question not in answered and len(sent) >= needed:
            ends = ((packet.src, packet.sport), (packet.dst, packet.dport))
            yield Failure(
                packet.protocol,
                *ends,
                FailureKind.TIMEOUT,
                "it is sent again and nothing comes back",
                again,
                sent[0],
            )


def _is_question(packet: Packet) -> bool:
    if packet.dst.is_multicast or packet.dst.value == 0xFFFFFFFF or packet.fragment:
        return False
    if packet.protocol == protocols.UDP:
        return packet.dport not in _ONE_WAY and packet.sport not in _ONE_WAY
    return packet.protocol == protocols.ICMP and packet.icmp_type in {0, 8}


_ONE_WAY = frozenset({67, 68, 123, 137, 138, 514, 4789, 5353, 6081, 8472, 1900, 51820})
"""Datagrams to these ports need no answer, or are tunnels."""

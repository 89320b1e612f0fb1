"""Name lookups and pings one by one: a client that keeps its port, or its identifier, for all of
them is one flow, and that some are answered says nothing of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.capture.connections import CapturedFlow
from podpath.capture.frames import F
from podpath.net import protocols
from podpath.net.packet import Packet

PATIENCE = 2.0
"""Seconds after which an answer that is not there is late: resolvers take milliseconds."""


def number_of(packet: Packet) -> int | None:
    """Return the number that a request and its answer have in common; None where it is not known,
    or the packet is neither.
    """
    if packet.protocol == protocols.UDP:
        return packet.query or None
    kinds = (protocols.ECHO_REQUESTS, protocols.ECHO_REPLIES)
    echo = any(kind.get(packet.protocol) == packet.icmp_type for kind in kinds)
    return packet.seq & 0xFFFF if echo else None


def list_numbers(frames: Sequence[F]) -> frozenset[int]:
    """Return the numbers of all requests, or all answers, of one direction."""
    numbers = (number_of(seen.packet) for seen in frames)
    return frozenset(number for number in numbers if number is not None)


def list_unheard(flow: CapturedFlow[F], end: float, *, lossy: bool) -> list[F]:
    """Return the requests that nothing answers, each once, where others of the flow are answered;
    those that were sent too soon before the capture's `end` to tell are none. None either where an
    answer does not show its number: it may be theirs.

    In a `lossy` capture, which leaves out packets and does not say so, only those that were sent
    again count.
    """
    answered = list_numbers(flow.backward)
    asked: dict[int, list[F]] = {}
    for seen in flow.forward:
        number = number_of(seen.packet)
        if number is not None and number not in answered and seen.time is not None:
            asked.setdefault(number, []).append(seen)
    if not answered or any(number_of(seen.packet) is None for seen in flow.backward):
        return []
    return [sent[0] for sent in asked.values() if _is_late(sent, end, lossy=lossy)]


def _is_late(sent: Sequence[F], end: float, *, lossy: bool) -> bool:
    first, last = sent[0].time or 0.0, sent[-1].time or 0.0
    return last - first >= PATIENCE / 2 or (not lossy and end - first >= PATIENCE)

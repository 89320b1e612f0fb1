"""one-way: for a while nothing comes from the other side, although packets to it go out.

What it is
    A capture shows two hosts talking to each other. Then one of them keeps sending packets that
    demand an answer (retransmitted segments, echo requests), and nothing comes back; later the
    answers resume, or the capture ends.

Why it breaks
    Somewhere on the path, one direction is lost for a while: a switch or neighbor learned a wrong
    MAC (see foreign-arp), a path failed over, a tunnel's key or address changed, a filter was
    loaded. Connections that live longer than the outage hang and then go on; the others time out.

How to confirm
    ping -D PEER                                 # from both hosts: which one stops getting replies
    tcpdump -nei DEVICE host PEER  # on both hosts: does the peer answer, and to which MAC
    journalctl --since START --until END         # what else happened when it began

How to fix
    Find out what happened when it started: `podpath timeline` lists what the logs show for that
    time. To repair a wrong MAC at once: arping -U -I DEVICE ADDRESS

References
    tcp_retransmit_timer (net/ipv4/tcp_timer.c); neigh_timer_handler (net/core/neighbour.c); RFC
    1122, 4.2.3.5
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from podpath.capture.frames import (
    RESEND_AFTER,
    CapturePoint,
    clock,
    is_error,
    point_of,
    spell_point,
)
from podpath.checks.captured import SHOWN, CapturedTraffic, quote, words_of
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.node.case import Case, Sighting, ThinnedCapture

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "one-way"
SHORTEST = 1.0
"""Seconds of silence that count: less is a lost packet, which its sender repeats after 0.2 s."""
LONG = 3.0
"""Seconds from which on programs feel it."""
ASKS = 3
"""Frames that have to be answered and are not, within the silence; before it one is an answer."""
SEGMENT = 1460
"""Bytes of TCP that a frame holds by custom."""
_REPLIES = ((protocols.ICMP, 0), (protocols.ICMPV6, 129))
_ASKING = (protocols.TCP, protocols.ICMP, protocols.ICMPV6)
"""Whose frames show by themselves that they have to be answered."""


class Silence(NamedTuple):
    """A time in which nothing came from one host, though it was asked."""

    before: Sighting
    """The last frame that came."""
    after: Sighting | None
    """The first that came again; None where the capture ends in silence."""
    asks: tuple[Sighting, ...]


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each pair of hosts one of which fell silent for a while at some point, after it had
    answered.

    Of a long capture not all packets are here: a silence begins where none is left out behind the
    last one. There single connections are looked at, too.
    """
    told: set[tuple[Address, Address]] = set()
    for (point, _), frames in _pairs(case.sightings).items():
        if len(frames) <= ASKS:
            continue
        cut = case.thinned.get(frames[0].span.source.name, ThinnedCapture()).pairs
        for near, far in _directions(frames):
            silences = list(_find_silences(frames, near, far, cut))
            if silences and (near, far) not in told:
                told.add((near, far))
                yield _report(spell_point(point, frames[0]), near, far, silences)
    for flow in traffic.flows if case.thinned else ():
        if flow.protocol not in _ASKING or len(flow.forward) + len(flow.backward) <= ASKS:
            continue
        frames = [seen for seen in flow.frames if seen.time is not None]
        if not frames or frames[0].span.source.name not in case.thinned:
            continue
        cut = case.thinned[frames[0].span.source.name].flows
        for near, far in _directions(frames):
            silences = list(_find_silences(frames, near, far, cut))
            if silences and (near, far) not in told:
                told.add((near, far))
                yield _report(flow.where, near, far, silences, flow.words)


def _pairs(
    sightings: Sequence[Sighting],
) -> dict[tuple[CapturePoint, frozenset[Address]], list[Sighting]]:
    found: dict[tuple[CapturePoint, frozenset[Address]], list[Sighting]] = defaultdict(list)
    for seen in sightings:
        packet = seen.packet
        if seen.time is not None and not is_error(packet) and not packet.dst.is_multicast:
            found[point_of(seen), frozenset((packet.src, packet.dst))].append(seen)
    return found


def _directions(frames: Sequence[Sighting]) -> Iterator[tuple[Address, Address]]:
    first = frames[0].packet
    if first.src != first.dst:
        yield first.src, first.dst
        yield first.dst, first.src


def _find_silences(
    frames: Sequence[Sighting], near: Address, far: Address, cut: AbstractSet[int]
) -> Iterator[Silence]:
    """Yield the times in which `far` was silent at this point, though `near` asked it; behind the
    lines of `cut` packets are left out.
    """
    wanting = [seen for seen in frames if seen.packet.src == near and _wants_answer(seen)]
    if len(wanting) < ASKS:
        return
    heard = sorted((seen for seen in frames if seen.packet.src == far), key=_time)
    wanted_to = max(map(_time, wanting)) + SHORTEST
    if not any(end - start >= SHORTEST for start, end in pairwise((*map(_time, heard), wanted_to))):
        return
    asked = sorted(_answered_kinds(wanting, heard), key=_time)
    if len(asked) < ASKS:
        return
    for before, after in pairwise((*heard, None)):
        if before is None:
            continue
        end = _time(after) if after is not None else _time(asked[-1]) + SHORTEST
        if end - _time(before) < SHORTEST or before.span.line in cut:
            continue
        asks = tuple(seen for seen in asked if _time(before) < _time(seen) <= end - SHORTEST)
        if len(asks) < ASKS or not _answered_before(frames, near, before):
            continue
        served = _list_served(asks, wanting, heard)
        asks = tuple(seen for seen in asks if (seen.packet.sport, seen.packet.dport) not in served)
        long = len(asks) >= ASKS and _time(asks[-1]) - _time(asks[0]) >= SHORTEST
        if long and _is_missed(asks, wanting):
            yield Silence(before, after, asks)


def _answered_kinds(asked: Sequence[Sighting], heard: Sequence[Sighting]) -> Iterator[Sighting]:
    """Yield the frames whose kind of answer this point shows: pings where a reply is seen, data of
    TCP where the same connection's acknowledgments are.

    A host may drop pings, and acknowledgments may take another path or not pass the filter.
    """
    pings, acknowledged = False, set()
    for seen in heard:
        packet = seen.packet
        pings |= (packet.protocol, packet.icmp_type) in _REPLIES
        if packet.flags & (protocols.ACK | protocols.RST) == protocols.ACK:
            acknowledged.add((packet.dport, packet.sport))
    for seen in asked:
        packet = seen.packet
        if packet.protocol != protocols.TCP:
            if pings:
                yield seen
        elif (packet.sport, packet.dport) in acknowledged:
            yield seen


def _is_beyond(number: int, than: int) -> bool:
    return 0 < (number - than) & 0xFFFFFFFF < 1 << 31


def _list_served(
    asks: Sequence[Sighting], sent: Sequence[Sighting], heard: Sequence[Sighting]
) -> set[tuple[int, int]]:
    """Return the ports of connections that get answers which are not captured: they acknowledge
    data that is not seen; what they send again is not their oldest data, which a timer sends first
    (RFC 6298, 5.4); or they go on with more than one segment after that (RFC 5681, 3.1).
    """
    seen_to: dict[tuple[int, int], int] = {}
    for seen in heard:
        packet, ports = seen.packet, (seen.packet.dport, seen.packet.sport)
        size = packet.payload + bool(packet.flags & protocols.FIN)
        end = packet.seq + size
        if (
            size
            and not packet.flags & protocols.SYN
            and _is_beyond(end, seen_to.get(ports, end - 1))
        ):
            seen_to[ports] = end
    first: dict[tuple[int, int, int], float] = {}
    for seen in sorted(sent, key=_time):
        first.setdefault(_data(seen), _time(seen))
    oldest: dict[tuple[int, int], int] = {}
    repeated: dict[tuple[int, int], int] = {}
    served: set[tuple[int, int]] = set()
    for seen in asks:
        packet, ports = seen.packet, (seen.packet.sport, seen.packet.dport)
        unseen = ports in seen_to and _is_beyond(packet.ack, seen_to[ports])
        if _time(seen) - first[_data(seen)] >= RESEND_AFTER:
            repeated.setdefault(ports, packet.seq)
            if not _is_beyond(packet.seq, repeated[ports]):
                repeated[ports] = packet.seq
            new = False
        else:
            oldest.setdefault(ports, packet.seq)
            ahead = packet.seq + packet.payload - SEGMENT
            new = ports in repeated and _is_beyond(ahead, repeated[ports])
        if packet.protocol == protocols.TCP and (unseen or new):
            served.add(ports)
    return served | {
        ports for ports, seq in repeated.items() if _is_beyond(seq, oldest.get(ports, seq))
    }


def _is_missed(asks: Sequence[Sighting], sent: Sequence[Sighting]) -> bool:
    """Tell whether the sender misses the answers: it sends pings, or data again. One that goes on
    with new data gets its acknowledgments.
    """
    if any(seen.packet.protocol != protocols.TCP for seen in asks):
        return True
    return any(
        _data(seen) == _data(one) and _time(seen) - _time(one) >= RESEND_AFTER
        for seen in asks
        for one in sent
    )


def _data(seen: Sighting) -> tuple[int, int, int]:
    return seen.packet.sport, seen.packet.dport, seen.packet.seq


def _wants_answer(seen: Sighting) -> bool:
    """Tell whether a frame has to be answered."""
    packet = seen.packet
    if packet.protocol == protocols.TCP:
        return packet.payload > 0 and not packet.flags & protocols.RST
    return (packet.protocol, packet.icmp_type) in ((protocols.ICMP, 8), (protocols.ICMPV6, 128))


def _answered_before(frames: Sequence[Sighting], near: Address, before: Sighting) -> bool:
    """Tell whether both had talked by then: an answer that is not part of a handshake, to something
    that was asked.
    """
    packet = before.packet
    if packet.protocol == protocols.TCP and packet.flags & (
        protocols.SYN | protocols.RST | protocols.FIN
    ):
        return False
    return any(
        seen.packet.src == near and _wants_answer(seen) and _time(seen) <= _time(before)
        for seen in frames
    )


def _time(seen: Sighting) -> float:
    return seen.time if seen.time is not None else 0.0


def _report(
    point: str, near: Address, far: Address, silences: Sequence[Silence], words: str = ""
) -> Finding:
    longest = max(
        silences,
        key=lambda one: (
            (_time(one.after) if one.after else _time(one.asks[-1])) - _time(one.before)
        ),
    )
    end = longest.after.time if longest.after is not None else None
    lasted = (end if end is not None else _time(longest.asks[-1])) - _time(longest.before)
    asked = f"{len(longest.asks)} packets from {near} that {far} has to answer"
    reasons = [f"{point} shows {asked}, and none from {far}, {words_of(longest.before.time, end)}."]
    reasons.append(
        f"Then {far} is heard from again: one direction was lost in between."
        if end is not None
        else "The capture ends that way."
    )
    reasons += [
        f"Silent as well: {words_of(one.before.time, one.after.time if one.after else None)}."
        for one in silences
        if one is not longest
    ][:SHOWN]
    of = f" on {words}" if words else ""
    until = f"until {clock(end)}" if end is not None else "to the end of the capture"
    return Finding(
        check=NAME,
        severity=Severity.FAULT if lasted >= LONG else Severity.RISK,
        claim=(
            f"Nothing from {far} reaches {near} at {point}{of} from "
            f"{clock(_time(longest.before))} {until} ({lasted:.1f} s), although {near} keeps "
            "sending."
        ),
        evidence=quote(
            [longest.before], longest.asks, [longest.after] if longest.after is not None else []
        ),
        reasoning=tuple(reasons),
        breaks=(f"what {far} sends to {near}, for {lasted:.0f} s",),
        marks=(str(near), str(far)),
    )

"""lost-between: packets of a connection are seen at one point and never at the next one.

What it is
    A capture of several devices, or captures of several points, show a connection: its first packet passes both points, and
    later packets of the same direction pass the first point alone. Between the two they are lost.

Why it breaks
    The first packet of a connection and the later ones are treated differently by what keeps state. The place where a packet
    is seen last and the place where it should be seen next enclose what dropped it: a rule, a route, a device, a switch.

How to confirm
    tcpdump -nni any 'host SERVER and tcp'       # the devices that the ACK comes to
    iptables-save -c; nft list ruleset           # counters that grow meanwhile
    nstat -az | grep -i drop; ip -s link

How to fix
    What stands between the two points decides: `podpath diagnose` with the node's rules, routes and sysctls walks the packet
    from the one to the other.

References
    dev_queue_xmit_nit, __netif_receive_skb_core (net/core/dev.c): where a capture sees a packet; packet(7)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.observations import Connection, Talk, gather_connections, opening, times_sent
from podpath.checks.captured import Talks, order_of, quote, times
from podpath.checks.finding import Finding
from podpath.net import protocols
from podpath.node.case import Case, Sighting

NAME = "lost-between"
PASSES_WITHIN = 0.1
"""Seconds from one device of a host to the next: forwarding takes microseconds."""


class Loss(NamedTuple):
    """Where packets of one direction were seen last, and where they should have been seen next."""

    near: Talk[Sighting]
    far: Talk[Sighting]
    lost: Sequence[Sighting]
    """At the near point."""
    passed: tuple[Sighting, Sighting]
    """The SYN at both points."""


def look(case: Case, talks: Talks) -> Iterator[Finding]:
    """Report each connection whose later packets do not pass where its SYN did."""
    _ = case
    for connection in gather_connections(talks):
        loss = find_loss(connection)
        if loss is not None:
            yield _report(loss)


def find_loss(connection: Connection[Sighting]) -> Loss | None:
    """Give the last two points of one capture between which all that follows the SYN is lost; None where something passes."""
    if len(connection.talks) < 2 or any(_takes_part(talk) for talk in connection.talks):
        return None
    found = None
    for near, far in zip(connection.talks, connection.talks[1:], strict=False):
        if near.point.capture != far.point.capture or near.point == far.point or not (near.syns and far.syns):
            continue
        later = [seen for seen in near.forward if opening(seen.packet) & (protocols.SYN | protocols.RST) == 0]
        if len(later) > 1 and not any(_passes(seen, far.forward) for seen in later):
            found = Loss(near, far, later, (near.syns[0], far.syns[0]))
    return found


def _takes_part(talk: Talk[Sighting]) -> bool:
    """Tell whether the server answers anything but the SYN: then its packets arrive, wherever they were captured."""
    return any(not seen.packet.flags & (protocols.SYN | protocols.RST) for seen in talk.backward)


def _passes(seen: Sighting, further: Sequence[Sighting]) -> bool:
    packet = seen.packet
    for other in further:
        apart = None if seen.time is None or other.time is None else other.time - seen.time
        soon = order_of(other) >= order_of(seen) if apart is None else 0 <= apart < PASSES_WITHIN
        if soon and (packet.flags, packet.payload) == (other.packet.flags, other.packet.payload):
            return True
    return False


def _report(loss: Loss) -> Finding:
    near, far = loss.near, loss.far
    again = max((times_sent([one for one in loss.lost if _same(one, seen)]) for seen in loss.lost), key=len)
    reasons = [
        f"The SYN comes to {near.point} and goes on to {far.point}" + (f", as {far.words}." if far.words != near.words else "."),
        f"Of the {len(loss.lost)} packets that come to {near.point} after it none is seen at {far.point}.",
    ]
    if len(again) > 1:
        reasons.append(f"One of them is sent {times(len(again))}: whoever sends it gets no answer.")
    what = "the handshake's ACK and all that follows" if not loss.lost[0].packet.payload else "all that follows its handshake"
    return Finding(
        check=NAME,
        severity="fault",
        claim=f"Of {near.words} {what} is lost between {near.point} and {far.point}: the SYN passed both.",
        evidence=quote(loss.lost[:2], loss.passed, far.syn_acks[:1]),
        reasoning=tuple(reasons),
        breaks=(near.words,),
        marks=(str(near.client[0]), str(near.server[0]), *(str(point.link) for point in (near.point, far.point) if point.link)),
    )


def _same(one: Sighting, other: Sighting) -> bool:
    return (one.packet.flags, one.packet.seq, one.packet.payload) == (other.packet.flags, other.packet.seq, other.packet.payload)

"""lost-between: packets of a connection are seen at one point and never at the next.

What it is
    A capture of several devices, or captures at several points, show a connection: its first packet
    passes both points, but later packets in the same direction pass only the first. They are lost
    in between.

Why it breaks
    Whatever keeps state treats the first packet of a connection differently from the later ones.
    What dropped them lies between the point where the packet is last seen and the point where it
    should be seen next: a rule, a route, a device, a switch.

How to confirm
    tcpdump -nni any 'host SERVER and tcp'       # the devices that the ACK reaches
    iptables-save -c; nft list ruleset           # counters that grow meanwhile
    nstat -az | grep -i drop; ip -s link

How to fix
    Look at what lies between the two points: `podpath diagnose` with the node's rules, routes and
    sysctls walks the packet from one to the other.

References
    dev_queue_xmit_nit, __netif_receive_skb_core (net/core/dev.c): where a capture sees a packet;
    packet(7)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedConnection, CapturedFlow, is_forwarded
from podpath.capture.frames import opening, times_sent
from podpath.checks.captured import SHOWN, CapturedTraffic, quote, times
from podpath.checks.captures.lost_ack import find_lost_ack
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.node.case import Case, LostPacket, Sighting

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "lost-between"
NAMED = 4
"""Lost packets that a claim names."""
_BASES = {
    "same direction": "Other packets in the same direction pass {}.",
    "reverse direction": "The other direction of the connection passes {}.",
    "neighbours": "Other connections with the same server pass {}.",
}


class LostBetween(NamedTuple):
    """Where packets of one direction were seen last, and where they should have been seen next."""

    near: CapturedFlow[Sighting]
    far: CapturedFlow[Sighting]
    lost: Sequence[Sighting]
    """At the near point."""
    passed: tuple[Sighting, Sighting]
    """The SYN at both points."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report what is lost between capture points, and each connection whose later packets do not
    pass where its SYN did.
    """
    groups: dict[tuple[str, bool, str, str], list[LostPacket]] = defaultdict(list)
    for lost in case.lost:
        groups[lost.connection, lost.forward, lost.seen[-1][0], lost.missing_at].append(lost)
    followed = traffic.flows if groups else ()
    going_on = {flow.words for flow in followed if _takes_part(flow)}
    untaken = {flow.words for flow in followed if find_lost_ack(flow) is not None}
    for (name, forward, *_), found in groups.items():
        spare = name in going_on and all(lost.what == "ACK" for lost in found)
        yield _report_lost(found, spare=spare, confirmed=forward and name in untaken)
    told = {span.source.name for lost in case.lost for _, span in lost.seen}
    for connection in traffic.connections:
        loss = find_loss(connection)
        if loss is not None and loss.lost[0].span.source.name not in told:
            yield _report(loss)


def _report_lost(found: Sequence[LostPacket], *, spare: bool, confirmed: bool) -> Finding:
    """Tell of the packets of one direction that are lost between the same two points; what passed
    in another copy is a note.

    So is a bare ACK (`spare`) of a connection that goes on: the next one says the same. A loss is
    `confirmed` where the server sends its SYN-ACK again.
    """
    found = sorted(found, key=lambda lost: lost.seen[-1][1].line)
    first = found[0]
    gone = [lost for lost in found if not lost.repeated] or list(found)
    healed = spare or all(lost.repeated for lost in found)
    doubtful = not confirmed and all(lost.doubtful for lost in gone)
    last_seen, span = gone[0].seen[-1]
    way = "" if first.forward else ", on its way back"
    shown, verb = _name_lost(gone)
    basis = _BASES.get(first.basis, f"It should have been seen there: {first.basis}.")
    reasons = [
        f"{last_seen} shows {shown}{way}, as {span}; {first.missing_at} does not show it.",
        basis.format(first.missing_at),
        (
            f"{first.missing_at} was capturing then: it shows packets before ({first.before}) and "
            f"after ({first.after})."
        ),
    ]
    if healed:
        reasons.append("Other copies of it passed: the loss was recovered.")
    elif doubtful:
        reasons.append(
            "A capture of all devices leaves out packets when it cannot keep up, and nobody sends "
            "these again: it may merely not show them."
        )
    elif confirmed:
        reasons.append("The server sends its SYN-ACK again, so it did not get the handshake's ACK.")
    spans = [lost.seen[-1][1] for lost in gone[:SHOWN]]
    spans += [at for _, at in gone[0].seen]
    return Finding(
        check=NAME,
        severity=Severity.NOTE if healed or doubtful else Severity.FAULT,
        claim=(
            f"{first.connection}: {shown} {verb} lost between {last_seen} and "
            f"{first.missing_at}{way}."
        ),
        evidence=tuple(dict.fromkeys((*spans, first.before, first.after))),
        reasoning=tuple(reasons),
        breaks=() if healed or doubtful else (first.connection,),
    )


def _name_lost(gone: Iterable[LostPacket]) -> tuple[str, str]:
    """Name what is lost, the first kinds of it, with the verb that goes with it."""
    kinds = list(dict.fromkeys(lost.what for lost in gone))
    shown = ", ".join(kinds[:NAMED])
    if len(kinds) > NAMED:
        shown += f" and {len(kinds) - NAMED} more"
    return shown, "is" if len(kinds) == 1 else "are"


def find_loss(connection: CapturedConnection[Sighting]) -> LostBetween | None:
    """Return the last two points of one capture between which all that follows the SYN is lost;
    None where something passes.
    """
    if len(connection.flows) < 2 or any(_takes_part(flow) for flow in connection.flows):
        return None
    found = None
    for near, far in zip(connection.flows, connection.flows[1:], strict=False):
        if (
            near.point.capture != far.point.capture
            or near.point == far.point
            or not (near.syns and far.syns)
        ):
            continue
        later = [
            seen
            for seen in near.forward
            if opening(seen.packet) & (protocols.SYN | protocols.RST) == 0
        ]
        if len(later) > 1 and not any(is_forwarded(seen, far.forward) for seen in later):
            found = LostBetween(near, far, later, (near.syns[0], far.syns[0]))
    return found


def _takes_part(flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether the server answers anything but the SYN: then its packets arrive, wherever they
    were captured.
    """
    return any(not seen.packet.flags & (protocols.SYN | protocols.RST) for seen in flow.backward)


def _report(loss: LostBetween) -> Finding:
    near, far = loss.near, loss.far
    again: Sequence[Sighting] = ()
    for seen in loss.lost:
        sent = times_sent([one for one in loss.lost if _same(one, seen)])
        again = max(again, sent, key=len)
    reasons = [
        f"The SYN reaches {near.where} and goes on to {far.where}"
        + (f", as {far.words}." if far.words != near.words else "."),
        (
            f"None of the {len(loss.lost)} packets that reach {near.where} after it is seen at "
            f"{far.where}."
        ),
    ]
    if len(again) > 1:
        reasons.append(f"One of them is sent {times(len(again))}: its sender gets no answer.")
    what = (
        "the handshake's ACK and everything after it"
        if not loss.lost[0].packet.payload
        else "everything after the handshake"
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{near.words}: {what} is lost between {near.where} and {far.where}; "
            "the SYN passed both."
        ),
        evidence=quote(loss.lost[:2], loss.passed, far.syn_acks[:1]),
        reasoning=tuple(reasons),
        breaks=(near.words,),
        marks=(
            str(near.client[0]),
            str(near.server[0]),
            *(str(point.link) for point in (near.point, far.point) if point.link),
        ),
    )


def _same(one: Sighting, other: Sighting) -> bool:
    return (one.packet.flags, one.packet.seq, one.packet.payload) == (
        other.packet.flags,
        other.packet.seq,
        other.packet.payload,
    )

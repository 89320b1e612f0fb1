"""lost-ack: the last packet of a TCP handshake is sent but does not reach the server.

What it is
    A capture shows the SYN, the SYN-ACK and the client's ACK, and later the same SYN-ACK again: the
    server is still waiting. Data that the client sends meanwhile is not acknowledged either.

Why it breaks
    The client considers the connection open and sends its request; for the server, the connection
    never began. The program waits until its own timeout, which looks like a slow server. The
    connection's first packet passed, but later ones in the same direction do not: either something
    on the path that tracks connections treats the ACK as stray (conntrack marks it INVALID if it
    has not seen the SYN or the SYN-ACK), or the later packets take another path.

How to confirm
    tcpdump -nni any 'host SERVER and tcp'       # on which device the ACK is seen last
    iptables-save -c | grep INVALID              # a counter that grows with each try
    conntrack -S                                 # invalid
    conntrack -L -d SERVER                       # SYN_RECV, or no entry at all

How to fix
    Find the last device that shows the ACK, and what decides there: `podpath diagnose` with the
    node's rules, routes and sysctls walks it. A server that waits for data before it accepts
    (TCP_DEFER_ACCEPT) also retransmits its SYN-ACK, but accepts the client's data.

References
    tcp_rtx_synack, tcp_check_req (net/ipv4/tcp_minisocks.c); nf_conntrack_in
    (net/netfilter/nf_conntrack_core.c); RFC 9293, 3.5
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.capture.connections import CapturedFlow
from podpath.capture.frames import (
    repeated_data,
    same_segments,
    seconds_between,
    times_sent,
)
from podpath.checks.captured import SHOWN, CapturedTraffic, list_scanners, order_of, quote, times
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "lost-ack"
CROSSING = 0.05
"""Seconds: an ACK that is seen no earlier before the SYN-ACK's repetition may still have been on
its way.
"""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each connection whose SYN-ACK comes again after the client's ACK was seen."""
    scanners = list_scanners(traffic)
    ends: dict[int, float] = {}
    for seen in case.sightings:
        ends[seen.capture] = max(seen.time or 0.0, ends.get(seen.capture, 0.0))
    for connection in traffic.connections:
        if connection.start.client[0] in scanners:
            continue
        for flow in connection.flows:
            found = find_lost_ack(flow)
            if found is not None:
                yield _report(flow, *found, ends[flow.point.capture])
                break


def find_lost_ack(flow: CapturedFlow[Sighting]) -> tuple[Sighting, list[Sighting]] | None:
    """Return the client's ACK, and the SYN-ACKs that show that it was not taken; None where nothing
    shows that.
    """
    answers = flow.syn_acks
    if len(answers) < 2:
        return None
    sent = times_sent([seen for seen in answers if seen.packet.seq == answers[0].packet.seq])
    if len(sent) < 2:
        return None
    for ack in flow.acks:
        after = [seen for seen in sent[1:] if _well_before(ack, seen)]
        if after and order_of(ack) > order_of(sent[0]):
            return None if is_taken(flow, after[0]) else (ack, after)
    return None


def is_taken(flow: CapturedFlow[Sighting], again: Sighting) -> bool:
    """Tell whether data that left before the SYN-ACK came again was acknowledged without being
    repeated: then the server had the ACK, and its repetition had only crossed it.
    """
    for copies in same_segments(flow.forward):
        early = order_of(copies[0]) < order_of(again)
        if early and len(times_sent(copies)) == 1 and flow.acknowledges(copies[0]):
            return True
    return False


def _well_before(ack: Sighting, again: Sighting) -> bool:
    apart = seconds_between(ack, again)
    return order_of(ack) < order_of(again) and (apart is None or apart >= CROSSING)


def _report(
    flow: CapturedFlow[Sighting], ack: Sighting, again: list[Sighting], end: float
) -> Finding:
    resent = [copies for copies in repeated_data(flow.forward) if not flow.acknowledges(copies[0])]
    recovered = _goes_on(flow, again[0])
    server, client = endpoint(*flow.server), endpoint(*flow.client)
    wait = seconds_between(ack, again[0])
    after = f" {wait:.1f} s after it" if wait is not None else " after it"
    reasons = [
        (
            f"{flow.where} shows the handshake's ACK from {client}, and{after} the same SYN-ACK "
            f"from {server} again."
        )
    ]
    reasons.append(
        "A server retransmits its SYN-ACK only while it waits for the ACK: the ACK was lost beyond "
        "this point."
    )
    if resent:
        reasons.append(
            f"The next data from {client} is sent {times(len(resent[0]))} and never acknowledged: "
            "it is lost as well."
        )
    settled = not recovered and _is_settled(flow, again[-1], end)
    if recovered:
        reasons.append("Later packets do arrive: the connection is established in the end.")
    elif settled:
        reasons.append(
            "It is answered and does not come once more: the server has the connection, and may "
            "wait for data before it accepts (TCP_DEFER_ACCEPT)."
        )
    return Finding(
        check=NAME,
        severity=Severity.NOTE if recovered or settled else Severity.FAULT,
        claim=(
            f"The handshake's ACK of {flow.words} is lost beyond {flow.where}: {server} sends its "
            "SYN-ACK again."
        ),
        evidence=quote(
            again[:1],
            [ack],
            flow.syn_acks[:1],
            *(copies[-1:] for copies in resent[:SHOWN]),
            flow.syns[:1],
        ),
        reasoning=tuple(reasons),
        breaks=()
        if recovered or settled
        else (f"{flow.words}: the client considers the connection open, the server does not",),
        marks=(f"{flow.client[0]}.{flow.client[1]}", f"{flow.server[0]}.{flow.server[1]}"),
    )


def _goes_on(flow: CapturedFlow[Sighting], again: Sighting) -> bool:
    """Tell whether the server takes part in the connection after all."""
    later = [seen for seen in flow.backward if order_of(seen) > order_of(again)]
    takes = [seen for seen in later if not seen.packet.flags & (protocols.SYN | protocols.RST)]
    return bool(takes)


def _is_settled(flow: CapturedFlow[Sighting], last: Sighting, end: float) -> bool:
    """Tell whether the server repeats its SYN-ACK no more once it is answered, though the capture
    goes on for long enough, and the client waits for nothing else.
    """
    before = [seen for seen in flow.syn_acks if order_of(seen) < order_of(last)]
    wait = seconds_between(before[-1], last) if before else None
    answered = any(order_of(seen) > order_of(last) for seen in flow.acks)
    silent = not any(seen.packet.payload for seen in flow.forward)
    return answered and silent and wait is not None and (last.time or 0.0) + 3 * wait < end

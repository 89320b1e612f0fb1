"""handshake-repeated: a SYN or a SYN-ACK is retransmitted because nothing came back.

What it is
    A capture shows the same SYN, or the same SYN-ACK, more than once, a second or more apart.

Why it breaks
    A client retransmits its SYN because the SYN was lost, the answer was lost, or nothing answers.
    It waits 1 s, then 2 s, then 4 s (since Linux 6.5, 1 s five times before the wait doubles), and
    gives up after about two minutes, or when its program does. If a SYN-ACK is retransmitted and
    this point shows no ACK, either the SYN-ACK was lost on its way to the client, or the client's
    ACK was lost before it got here.

How to confirm
    # on which device the SYN is seen last
    tcpdump -nni any 'host SERVER and tcp[tcpflags] & tcp-syn != 0'
    nstat -az TcpExtTCPSynRetrans TcpExtListenDrops TcpExtListenOverflows
    ss -ltn  # on the server: Recv-Q at its limit means a full queue

How to fix
    Capture further along the path until the SYN no longer shows up; the fault lies between the last
    two points. If it reaches the server's own device and gets no answer, look for a filter there,
    rp_filter, or a full accept queue.

References
    tcp_retransmit_timer (net/ipv4/tcp_timer.c); net.ipv4.tcp_syn_retries, tcp_synack_retries
    (tcp(7)); RFC 6298
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.capture.connections import CapturedConnection, CapturedFlow
from podpath.capture.frames import times_sent
from podpath.checks.captured import CapturedTraffic, list_scanners, order_of, quote, times
from podpath.checks.captures import lost_ack, untranslated_reply
from podpath.checks.captures.icmp_error import is_refused_by_error
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "handshake-repeated"


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each connection whose SYN or SYN-ACK had to be sent again, where nothing else says
    why.
    """
    scanners = list_scanners(traffic)
    for connection in traffic.connections:
        start = connection.start
        if start.client[0] in scanners:
            continue
        syns = times_sent(start.syns)
        found = next(
            (answered for flow in connection.flows if (answered := _repeated_answer(flow))), None
        )
        if len(syns) < 2 and (found is None or not start.opened):
            continue
        if any(lost_ack.find_lost_ack(flow) is not None for flow in connection.flows):
            continue
        if untranslated_reply.find_foreign_answer(
            case, start, traffic
        ) is not None or is_refused_by_error(case, start):
            continue
        if len(syns) > 1:
            yield _report_syn(connection, syns)
        elif found is not None:
            yield _report_answer(*found)


def _repeated_answer(
    flow: CapturedFlow[Sighting],
) -> tuple[CapturedFlow[Sighting], list[Sighting]] | None:
    answers = times_sent(
        [seen for seen in flow.syn_acks if seen.packet.seq == flow.syn_acks[0].packet.seq]
    )
    return (flow, answers) if len(answers) > 1 else None


def _report_syn(connection: CapturedConnection[Sighting], syns: list[Sighting]) -> Finding:
    start, last = connection.start, connection.flows[-1]
    client, server = endpoint(*start.client), endpoint(*start.server)
    established = bool(start.acks)
    answers = [answer for flow in connection.flows for answer in flow.syn_acks]
    sent = f"{client} sends its SYN to {server} {times(len(syns))}"
    took = (syns[-1].time or 0.0) - (syns[0].time or 0.0)
    reasons = [
        f"The same SYN is seen {times(len(syns))} at {start.where}"
        + (f", over {took:.1f} s." if took else ".")
    ]
    if last is not start:
        reasons.append(f"It gets as far as {last.where}, as {last.words}.")
    if established:
        claim, reasons = (
            f"{sent}: a SYN or its answer was lost, then the connection is established.",
            [*reasons, "A later one is answered."],
        )
    elif start.syn_acks:
        claim = (
            f"{sent}, although {start.where} shows the SYN-ACK: the answer does not reach the "
            "client."
        )
    elif answers:
        point = next(flow.where for flow in connection.flows if flow.syn_acks)
        claim = (
            f"{sent}, although {point} shows the SYN-ACK: the answer is not seen at {start.where}."
        )
    elif any(flow.backward for flow in connection.flows):
        claim = f"{sent} and gets no SYN-ACK."
    else:
        claim = f"{sent}, and nothing comes back."
    return Finding(
        check=NAME,
        severity=Severity.NOTE if established else Severity.FAULT,
        claim=claim,
        evidence=quote(syns[-1:], syns[:1], answers[:1], last.syns[:1]),
        reasoning=tuple(reasons),
        breaks=() if established else (f"{start.words}",),
        marks=(f"{start.client[0]}.{start.client[1]}", f"{start.server[0]}.{start.server[1]}"),
    )


def _report_answer(flow: CapturedFlow[Sighting], answers: list[Sighting]) -> Finding:
    server, client = endpoint(*flow.server), endpoint(*flow.client)
    later = [seen for seen in flow.acks if order_of(seen) > order_of(answers[-1])]
    lost = (
        "the ACK comes late, after the SYN-ACK was retransmitted"
        if later
        else "no ACK from the client is seen"
    )
    return Finding(
        check=NAME,
        severity=Severity.NOTE if later else Severity.FAULT,
        claim=(
            f"{server} sends its SYN-ACK to {client} {times(len(answers))}, and {lost} at "
            f"{flow.where}."
        ),
        evidence=quote(answers[-1:], answers[:1], flow.syns[:1], later[:1]),
        reasoning=(
            (
                "The SYN-ACK is lost on its way to the client, or the client's ACK before it gets "
                "here."
            ),
        ),
        breaks=() if later else (flow.words,),
        marks=(f"{flow.client[0]}.{flow.client[1]}", f"{flow.server[0]}.{flow.server[1]}"),
    )

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

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from podpath.capture.connections import CapturedConnection, CapturedFlow, Endpoint
from podpath.capture.frames import errors_about, times_sent
from podpath.checks.captured import SHOWN, CapturedTraffic, list_scanners, order_of, quote, times
from podpath.checks.captures import lost_ack, untranslated_reply
from podpath.checks.captures.icmp_error import is_refused_by_error
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "handshake-repeated"
DOUBTED = 0.5
"""The certainty where the capture shows a reason of its own for the loss."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each connection whose SYN or SYN-ACK had to be sent again, where nothing else says
    why; those to one server together.
    """
    yield from _report_groups(case, list(_find_repeated(case, traffic)), frozenset())


def look_alone(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """As `look`, where nothing else tells of what fails: what one client sends in vain to many
    servers is one finding. One that scans the network has hundreds, and so has one that is cut off.
    """
    found = list(_find_repeated(case, traffic))
    asked: dict[tuple[Address, _Kind], set[Endpoint]] = defaultdict(set)
    for one in found:
        if one.kind in (_Kind.SILENT, _Kind.UNANSWERED):
            asked[one.client[0], one.kind].add(one.server)
    many = frozenset(client for client, servers in asked.items() if len(servers) > SHOWN)
    yield from _report_groups(case, found, many)


def _find_repeated(case: Case, traffic: CapturedTraffic) -> Iterator[_Repeated]:
    scanners = list_scanners(traffic)
    errors = [*errors_about(case.sightings)]
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
        ) is not None or is_refused_by_error(errors, start):
            continue
        if len(syns) > 1:
            kind = _kind_of(connection, syns)
            report = _report_syn(connection, syns, kind)
            yield _Repeated(start.client, start.server, kind, report)
        elif found is not None:
            flow, answers = found
            late = any(order_of(seen) > order_of(answers[-1]) for seen in flow.acks)
            kind = _Kind.LATE_ACK if late else _Kind.NO_ACK
            yield _Repeated(flow.client, flow.server, kind, _report_answer(flow, answers))


def _report_groups(
    case: Case, repeated: Iterable[_Repeated], many: AbstractSet[tuple[Address, _Kind]]
) -> Iterator[Finding]:
    """Yield one finding for each server and kind, or for each client of those with `many`
    servers.
    """
    groups: dict[tuple[Address | Endpoint, _Kind], list[_Repeated]] = defaultdict(list)
    for one in repeated:
        client = one.client[0]
        groups[client if (client, one.kind) in many else one.server, one.kind].append(one)
    damaged = [seen for seen in case.sightings if seen.wrong_sum]
    for alike in groups.values():
        summed = alike[0].finding if len(alike) == 1 else _sum_up(alike)
        yield _doubt_by_sum(summed, damaged) if damaged else summed


def _doubt_by_sum(found: Finding, damaged: list[Sighting]) -> Finding:
    """Return the finding, possible only: packets with a wrong checksum are in the same capture,
    which a receiver drops, and the network between is not to blame for.
    """
    return replace(
        found,
        certainty=min(found.certainty, DOUBTED),
        evidence=(*found.evidence, *quote(damaged[:1])),
    )


def _sum_up(alike: Sequence[_Repeated]) -> Finding:
    """Make one finding of those that differ by their clients alone, or by their servers."""
    client, server, kind, first = alike[0]
    shown = [one.finding for one in alike[:SHOWN]]
    spans = [span for one in shown for span in one.evidence[:2]]
    servers = len({one.server for one in alike})
    claim = f"{len(alike)} connections to {endpoint(*server)} {kind.value}."
    if servers > 1:
        claim = (
            f"{len(alike)} connections of {client[0]} to {servers} servers {kind.value}; the first "
            f"is to {endpoint(*server)}."
        )
    return replace(
        first,
        claim=claim,
        evidence=tuple(dict.fromkeys((*spans, *first.evidence))),
        reasoning=(f"The first: {first.claim}", *first.reasoning),
        breaks=tuple(word for one in shown for word in one.breaks),
    )


class _Repeated(NamedTuple):
    """A connection whose handshake is repeated, and what is found of it by itself."""

    client: Endpoint
    server: Endpoint
    kind: _Kind
    finding: Finding


class _Kind(Enum):
    """What becomes of a handshake that is repeated, in words for several."""

    ESTABLISHED = "are established only after their SYN is sent again"
    ANSWERED = "send their SYN again and are answered only then"
    IN_VAIN = "send their SYN again although its SYN-ACK is seen"
    ELSEWHERE = "send their SYN again although another point shows its SYN-ACK"
    UNANSWERED = "send their SYN again and get no SYN-ACK"
    SILENT = "send their SYN again, and nothing comes back"
    LATE_ACK = "get their SYN-ACK again before they acknowledge it"
    NO_ACK = "get their SYN-ACK again and again, and no ACK is seen"


def _kind_of(connection: CapturedConnection[Sighting], syns: list[Sighting]) -> _Kind:
    """Say what becomes of a connection whose SYN is sent again."""
    start = connection.start
    if start.acks:
        return _Kind.ESTABLISHED
    if start.syn_acks:
        first = min(map(order_of, start.syn_acks))
        return _Kind.IN_VAIN if order_of(syns[-1]) > first else _Kind.ANSWERED
    if any(flow.syn_acks for flow in connection.flows):
        return _Kind.ELSEWHERE
    if any(flow.backward for flow in connection.flows):
        return _Kind.UNANSWERED
    return _Kind.SILENT


def _repeated_answer(
    flow: CapturedFlow[Sighting],
) -> tuple[CapturedFlow[Sighting], list[Sighting]] | None:
    answers = times_sent(
        [seen for seen in flow.syn_acks if seen.packet.seq == flow.syn_acks[0].packet.seq]
    )
    if len(answers) < 2 or lost_ack.is_taken(flow, answers[1]):
        return None
    return flow, answers


def _report_syn(
    connection: CapturedConnection[Sighting], syns: list[Sighting], kind: _Kind
) -> Finding:
    start, last = connection.start, connection.flows[-1]
    client, server = endpoint(*start.client), endpoint(*start.server)
    healed = kind in (_Kind.ESTABLISHED, _Kind.ANSWERED)
    answers = [answer for flow in connection.flows for answer in flow.syn_acks]
    took = (syns[-1].time or 0.0) - (syns[0].time or 0.0)
    reasons = [
        f"The same SYN is seen {times(len(syns))} at {start.where}"
        + (f", over {took:.1f} s." if took else ".")
    ]
    if last is not start:
        reasons.append(f"It gets as far as {last.where}, as {last.words}.")
    if healed:
        reasons.append("A later one is answered.")
    point = next((flow.where for flow in connection.flows if flow.syn_acks), "")
    ends = {
        _Kind.ESTABLISHED: ": a SYN or its answer was lost, then the connection is established.",
        _Kind.ANSWERED: ": a SYN or its answer was lost, then one is answered.",
        _Kind.IN_VAIN: f", although {start.where} shows the SYN-ACK: the answer does not reach the "
        "client.",
        _Kind.ELSEWHERE: f", although {point} shows the SYN-ACK: the answer is not seen at "
        f"{start.where}.",
        _Kind.UNANSWERED: " and gets no SYN-ACK.",
    }
    sent = f"{client} sends its SYN to {server} {times(len(syns))}"
    return Finding(
        check=NAME,
        severity=Severity.NOTE if healed else Severity.FAULT,
        claim=sent + ends.get(kind, ", and nothing comes back."),
        evidence=quote(syns[-1:], syns[:1], answers[:1], last.syns[:1]),
        reasoning=tuple(reasons),
        breaks=() if healed else (f"{start.words}",),
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

"""untranslated-reply: the client gets a reply from an address other than the one it sent to.

What it is
    The destination of a connection was rewritten on its way (a service's address to an endpoint's),
    but the reply bypassed the host that would have restored the original address.

Why it breaks
    To the client, the reply belongs to no known connection: it answers with a TCP reset, and keeps
    retransmitting its SYN until it times out. Replies take another path if client and endpoint
    share a network segment (see br-netfilter, hairpin), if routing is asymmetric, or if the
    conntrack entry is gone.

How to confirm
    tcpdump -ni any host CLIENT              # a SYN-ACK from the endpoint's address, then a reset
    conntrack -L -d SERVICE                  # SYN_SENT [UNREPLIED]

How to fix
    Make the reply take the same path back: masquerade the connection, let netfilter see bridged
    frames, or fix the routes.

References
    nf_nat_manip_pkt (net/netfilter/nf_nat_proto.c); tcp_v4_rcv (net/ipv4/tcp_ipv4.c)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.capture.connections import FORWARDED_WITHIN, CapturedFlow
from podpath.capture.frames import SYN_ACK, counted, opening, seconds_between
from podpath.checks.captured import CapturedTraffic, is_bridge, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import BRIDGE_CALLS, known_sysctl
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.ASYMMETRIC_PATH, Category.BRIDGE_NETFILTER, Category.HAIRPIN)
NAME = "untranslated-reply"
SERVERS = 3
"""To so many servers a SYN may go that is translated on its way, at one point."""


class ForeignAnswer(NamedTuple):
    """A SYN-ACK from an address that the client never spoke to."""

    answer: Sighting
    reset: Sighting | None
    """The client's reset of it; None where the capture shows none."""
    translated: Sighting | None
    """The SYN as it was sent on to who answers, where the capture shows it."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each connection that is answered from another address than the client spoke to, and
    fails for it.
    """
    for connection in traffic.connections:
        for flow in connection.flows:
            found = find_foreign_answer(case, flow, traffic)
            if found is not None:
                yield _report(flow, found)
                break


def find_foreign_answer(
    case: Case, flow: CapturedFlow[Sighting], traffic: CapturedTraffic
) -> ForeignAnswer | None:
    """Return the foreign SYN-ACK that a connection got at its point, where the client's reset or
    silence confirms it.

    A bridge shows packets halfway through their translation while netfilter sees bridged frames
    (br_netfilter), so there only the client's reset counts, and not where the node is known to have
    that switched on.
    """
    if not flow.syns or flow.acks or flow.syn_acks:
        return None
    syn = flow.syns[0].packet
    answers = [
        (other, seen)
        for other in traffic.flows
        if other.point == flow.point
        and other.protocol == flow.protocol
        and other.client == flow.client
        and other.server != flow.server
        for seen in other.syn_acks
        if (seen.packet.ack - syn.seq) & 0xFFFFFFFF == 1
    ]
    answers = [(other, seen) for other, seen in answers if not _is_asked(flow, other)]
    if not answers or _is_answered(flow, traffic) or _is_scanning(flow, traffic):
        return None
    stranger, answer = answers[0]
    reset = next((seen for seen in stranger.forward if _resets(seen, answer, syn.seq)), None)
    bridged = is_bridge(case, flow.point)
    if (bridged and _is_seen_by_netfilter(case)) or (reset is None and (bridged or stranger.acks)):
        return None
    return ForeignAnswer(answer, reset, stranger.syns[0] if stranger.syns else None)


def _is_answered(flow: CapturedFlow[Sighting], traffic: CapturedTraffic) -> bool:
    """Tell whether the right answer is seen anywhere: then the foreign one was caught before its
    translation.
    """
    ends = (flow.client, flow.server)
    return any((other.client, other.server) == ends and other.syn_acks for other in traffic.flows)


def _is_asked(flow: CapturedFlow[Sighting], stranger: CapturedFlow[Sighting]) -> bool:
    """Tell whether the client itself asked who answers, from the same port with the same number: a
    SYN that is no copy of the first one on its way.
    """
    if not stranger.syns:
        return False
    apart = seconds_between(flow.syns[0], stranger.syns[0])
    return apart is not None and not 0 <= apart < FORWARDED_WITHIN


def _is_scanning(flow: CapturedFlow[Sighting], traffic: CapturedTraffic) -> bool:
    """Tell whether the client sends one SYN to many servers, as scanners without state do."""
    first = flow.syns[0].packet.seq
    asked = {
        other.server
        for other in traffic.flows
        if other.protocol == flow.protocol
        and other.client == flow.client
        and other.syns
        and other.syns[0].packet.seq == first
    }
    return len(asked) > SERVERS


def _resets(seen: Sighting, answer: Sighting, first: int) -> bool:
    packet = seen.packet
    return packet.flags & protocols.RST != 0 and counted(packet.seq, first) == counted(
        answer.packet.ack, first
    )


def _is_seen_by_netfilter(case: Case) -> bool:
    switch = known_sysctl(case.node.host, BRIDGE_CALLS)
    return switch is not None and switch.value == "1"


def _report(flow: CapturedFlow[Sighting], found: ForeignAnswer) -> Finding:
    answer = found.answer.packet
    stranger, server, client = (
        endpoint(answer.src, answer.sport),
        endpoint(*flow.server),
        endpoint(*flow.client),
    )
    reasons = [
        (
            f"{client} sends its SYN to {server}; the SYN-ACK that acknowledges it comes from "
            f"{stranger}."
        )
    ]
    if found.translated is not None:
        reasons.append(
            f"The same SYN is seen with {stranger} as its destination: it was rewritten (DNAT), "
            "but the reply was not."
        )
    if found.reset is not None:
        reasons.append(f"{client} has no connection to {stranger} and sends a reset.")
    else:
        reasons.append(f"{client} never acknowledges it.")
    again = [seen for seen in flow.syns[1:] if opening(seen.packet) != SYN_ACK]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The reply to {flow.words} is not translated back: the SYN-ACK comes from {stranger}, "
            f"not {server}."
        ),
        evidence=quote(
            [found.answer],
            [found.reset] if found.reset else [],
            flow.syns[:1],
            [found.translated] if found.translated else [],
            again[-1:],
        ),
        reasoning=tuple(reasons),
        breaks=(f"{flow.words}: the client resets the answer and retries until it gives up",),
        marks=(f"{answer.src}.{answer.sport}", f"{flow.server[0]}.{flow.server[1]}"),
    )

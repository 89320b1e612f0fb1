"""untranslated-reply: the client gets a reply from another address than it sent to.

What it is
    The destination of a connection was rewritten on its way (a service's address to an endpoint's),
    but its reply came back past the place that would have put the first address back.

Why it breaks
    To the client the reply belongs to no connection of its own: TCP answers it with a reset, and
    goes on sending its SYN until it times out. Replies take another way where client and endpoint
    share a network segment (see br-netfilter, hairpin), where routing is asymmetric, or where the
    conntrack entry is gone.

How to confirm
    tcpdump -ni any host CLIENT              # a SYN-ACK from the endpoint's address, then a reset
    conntrack -L -d SERVICE                  # SYN_SENT [UNREPLIED]

How to fix
    Make the reply take the same way: masquerade the connection, let netfilter see bridged frames,
    or mend the routes.

References
    nf_nat_manip_pkt (net/netfilter/nf_nat_proto.c); tcp_v4_rcv (net/ipv4/tcp_ipv4.c)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.capture.observations import Talk, counted, gather_connections, opening
from podpath.checks.captured import Talks, is_bridge, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.topology import BRIDGE_CALLS, known_sysctl
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.ASYMMETRIC_PATH, Category.BRIDGE_NETFILTER, Category.HAIRPIN)
NAME = "untranslated-reply"
_SYN_ACK = protocols.SYN | protocols.ACK


class ForeignAnswer(NamedTuple):
    """A SYN-ACK from an address that the client never spoke to."""

    answer: Sighting
    reset: Sighting | None
    """The client's reset of it; None where the capture shows none."""
    translated: Sighting | None
    """The SYN as it was sent on to who answers, where the capture shows it."""


def look(case: Case, talks: Talks) -> Iterator[Finding]:
    """Report each connection that is answered from another address than the client spoke to, and
    fails for it.
    """
    for connection in gather_connections(talks):
        for talk in connection.talks:
            found = find_foreign_answer(case, talk, talks)
            if found is not None:
                yield _report(talk, found)
                break


def find_foreign_answer(case: Case, talk: Talk[Sighting], talks: Talks) -> ForeignAnswer | None:
    """Return the foreign SYN-ACK that a connection got at its point, where the client's reset or
    silence confirms it.

    A bridge shows packets halfway through their translation while netfilter sees bridged frames
    (br_netfilter), so there only the client's reset counts, and not where the node is known to have
    that switched on.
    """
    if not talk.syns or talk.acks or talk.syn_acks:
        return None
    syn = talk.syns[0].packet
    answers = [
        (other, seen)
        for other in talks
        if other.point == talk.point
        and other.protocol == talk.protocol
        and other.client == talk.client
        and other.server != talk.server
        for seen in other.syn_acks
        if (seen.packet.ack - syn.seq) & 0xFFFFFFFF == 1
    ]
    if not answers or _is_answered(talk, talks):
        return None
    stranger, answer = answers[0]
    reset = next((seen for seen in stranger.forward if _resets(seen, answer, syn.seq)), None)
    bridged = is_bridge(case, talk.point)
    if (bridged and _is_seen_by_netfilter(case)) or (reset is None and (bridged or stranger.acks)):
        return None
    return ForeignAnswer(answer, reset, stranger.syns[0] if stranger.syns else None)


def _is_answered(talk: Talk[Sighting], talks: Talks) -> bool:
    """Tell whether the right answer is seen anywhere: then the foreign one was caught before its
    translation.
    """
    ends = (talk.client, talk.server)
    return any((other.client, other.server) == ends and other.syn_acks for other in talks)


def _resets(seen: Sighting, answer: Sighting, first: int) -> bool:
    packet = seen.packet
    return packet.flags & protocols.RST != 0 and counted(packet.seq, first) == counted(
        answer.packet.ack, first
    )


def _is_seen_by_netfilter(case: Case) -> bool:
    switch = known_sysctl(case.node.host, BRIDGE_CALLS)
    return switch is not None and switch.value == "1"


def _report(talk: Talk[Sighting], found: ForeignAnswer) -> Finding:
    answer = found.answer.packet
    stranger, server, client = (
        endpoint(answer.src, answer.sport),
        endpoint(*talk.server),
        endpoint(*talk.client),
    )
    reasons = [
        f"{client} sends its SYN to {server}; the SYN-ACK that acknowledges it comes from {stranger}."
    ]
    if found.translated is not None:
        reasons.append(
            f"The same SYN is seen with {stranger} as its destination: it was rewritten (DNAT), and the reply was not."
        )
    if found.reset is not None:
        reasons.append(f"{client} knows no connection to {stranger} and resets it.")
    else:
        reasons.append(f"{client} never acknowledges it.")
    again = [seen for seen in talk.syns[1:] if opening(seen.packet) != _SYN_ACK]
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The reply to {talk.words} is not translated back: the SYN-ACK comes from {stranger}, not from {server}.",
        evidence=quote(
            [found.answer],
            [found.reset] if found.reset else [],
            talk.syns[:1],
            [found.translated] if found.translated else [],
            again[-1:],
        ),
        reasoning=tuple(reasons),
        breaks=(f"{talk.words}: the client resets the answer and tries until it gives up",),
        marks=(f"{answer.src}.{answer.sport}", f"{talk.server[0]}.{talk.server[1]}"),
    )

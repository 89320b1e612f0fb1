"""answered-from-elsewhere: a UDP packet is answered from an address other than the one it was sent
to.

What it is
    A capture shows a packet to A:PORT, and an answer from B:PORT to the same client port; the
    client rejects it with `udp port ... unreachable`.

Why it breaks
    The client's socket is connected to A and accepts nothing from B. A server that listens on all
    addresses and does not look up each packet's destination (IP_PKTINFO) answers from the address
    that its route to the client prefers; on a container host that is the bridge's address. Or A was
    rewritten to B on the way there, and the answer bypassed the host that would have rewritten it
    back.

How to confirm
    ip route get CLIENT                     # src: the address that the answer comes from
    ss -lunp                                # the server listens on 0.0.0.0 or [::]
    conntrack -L -p udp -s CLIENT; sysctl net.bridge.bridge-nf-call-iptables

How to fix
    Bind the server to the address that clients ask, or use IP_PKTINFO and answer from that address.
    If a service's address was rewritten: load br_netfilter, or masquerade.

References
    ip(7), IP_PKTINFO; udp(7); udp_rcv (net/ipv4/udp.c)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from podpath.capture.frames import CapturePoint, errors_about, point_of, seconds_between
from podpath.checks.captured import CapturedTraffic, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.told import list_failing_addresses
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.SOURCE_ADDRESS, Category.BRIDGE_NETFILTER, Category.ASYMMETRIC_PATH)
NAME = "answered-from-elsewhere"
POSSIBLE = 0.5
"""Of another conversation than the one that people complain of, or where not all packets are
here.
"""
PATIENCE = 30.0
"""Seconds in which a client waits for an answer."""
LIMITED_BROADCAST = Address.parse("255.255.255.255")


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each client that refuses an answer since it comes from where it did not send to."""
    _ = traffic
    asked: dict[tuple[CapturePoint, Address, int, int], list[Sighting]] = defaultdict(list)
    for seen in case.sightings:
        packet = seen.packet
        if packet.protocol == protocols.UDP and not _reaches_many(packet.dst):
            asked[point_of(seen), packet.src, packet.sport, packet.dport].append(seen)
    told: set[tuple[Address, Address]] = set()
    for error in errors_about(case.sightings):
        client, stranger = error.packet.src, error.packet.dst
        quoted = error.packet.quoted
        if quoted is None or quoted.dst != client or (client, stranger) in told:
            continue
        for answer in case.sightings:
            ends = (answer.packet.src, answer.packet.dst, answer.packet.dport)
            if answer.packet.protocol != protocols.UDP or ends != (stranger, client, quoted.dport):
                continue
            sent = asked[point_of(answer), client, answer.packet.dport, answer.packet.sport]
            before = [one for one in sent if _is_before(one, answer)]
            if before and all(one.packet.dst != stranger for one in sent):
                if _is_answered(case, before[-1], answer):
                    continue
                told.add((client, stranger))
                found = _report(before[-1], answer, error)
                meant = _is_meant(case, before[-1], answer)
                meant &= answer.span.source.name not in case.thinned
                yield found if meant else replace(found, certainty=POSSIBLE)
                break


def _reaches_many(address: Address) -> bool:
    """Tell whether whoever answers for an address does so from one of its own."""
    return address.is_multicast or address == LIMITED_BROADCAST


def _is_answered(case: Case, request: Sighting, answer: Sighting) -> bool:
    """Tell whether the request was not the one that the stranger answers: who was asked answers
    it, or it was sent long before.
    """
    apart = seconds_between(request, answer)
    if apart is not None and apart > PATIENCE:
        return True
    asked = request.packet
    back = (asked.dst, asked.dport, asked.src, asked.sport)
    return any(
        seen.packet.protocol == protocols.UDP
        and (seen.packet.src, seen.packet.sport, seen.packet.dst, seen.packet.dport) == back
        and point_of(seen) == point_of(answer)
        for seen in case.sightings
    )


def _is_meant(case: Case, request: Sighting, answer: Sighting) -> bool:
    """Tell whether people name none of what fails by its address, or one of these."""
    named = list_failing_addresses(case)
    ends = {request.packet.src, request.packet.dst, answer.packet.src}
    return not named or not named.isdisjoint(ends)


def _is_before(one: Sighting, other: Sighting) -> bool:
    if one.time is None or other.time is None:
        return one.span.line < other.span.line
    return one.time <= other.time


def _report(request: Sighting, answer: Sighting, error: Sighting) -> Finding:
    client = endpoint(request.packet.src, request.packet.sport)
    server = endpoint(request.packet.dst, request.packet.dport)
    stranger = endpoint(answer.packet.src, answer.packet.sport)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{client} asks {server}, but the answer comes from {stranger}: the client rejects it."
        ),
        evidence=quote([answer], [error], [request]),
        reasoning=(
            f"{request.packet.src} sent nothing to {answer.packet.src} and rejects its packet.",
            (
                "Either the server answers from the address that its route prefers, or the answer "
                "was not translated back."
            ),
        ),
        breaks=(f"UDP requests from {request.packet.src} to {server}",),
        prevention="Bind UDP servers to the address that clients ask, or use IP_PKTINFO to answer.",
        marks=(str(answer.packet.src), str(request.packet.dst)),
    )

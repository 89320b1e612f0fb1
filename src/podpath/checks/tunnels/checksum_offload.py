"""checksum-offload: checksums are wrong where the capture is taken, but correct on the wire.

What it is
    A capture shows packets that this machine sends, or that pass between its namespaces, with a
    wrong TCP or UDP checksum (tcpdump -v: `incorrect`).

Why it breaks
    For packets that this machine sends, nothing breaks: the kernel leaves the checksum to the NIC
    (or, between veth devices, leaves it out, since nothing needs it), and the capture sees the
    packet before that. Look for the fault elsewhere. A wrong checksum matters only in packets that
    come in from outside (see checksum-received and vxlan-outer). If the capture does not show which
    side it was taken on, podpath says so.

How to confirm
    ethtool -k DEVICE | grep checksum
    nstat -az TcpInCsumErrors UdpInCsumErrors    # what the kernel did drop for its checksum

How to fix
    Nothing has to be fixed. To see correct checksums in a capture: ethtool -K DEVICE tx off
    (slower).

References
    skb_checksum_help (net/core/dev.c); CHECKSUM_PARTIAL in
    Documentation/networking/checksum-offloads.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.captured import CapturedTraffic, count, is_received, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import LOSSES, SERVICES, find_told, list_lost
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint
from podpath.net.failures import FailureKind
from podpath.net.packet import Packet
from podpath.net.provenance import Span
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.TUNNEL_CHECKSUM,)
NAME = "checksum-offload"
_AHEAD = 1 << 20
"""How far behind what it acknowledges an ACK may say so: past this, numbers are of two kinds."""
TUNNELS = (4789, 8472, 6081)
"""Ports of VXLAN and Geneve."""
ASK = FollowUp(
    fact="whether the receiver counts them as damaged",
    command=(
        "nstat -az UdpInCsumErrors (on the receiver); ethtool -k DEVICE | grep "
        "tx-checksum (on the sender, of the tunnel's device)"
    ),
    decides="the counter grows: turn off the offload of the tunnel's device at the sender",
)


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Note wrong checksums that are none on the wire, so that nobody blames them."""
    _ = traffic
    own = frozenset(
        item.address for item in case.node.host.addresses.items if item.span is not None
    )
    wrong = [seen for seen in case.sightings if seen.wrong_sum and not is_received(seen, own)]
    sent = [
        seen
        for seen in wrong
        if seen.direction == "out" or (seen.packet.src in own and seen.packet.dst not in own)
    ]
    at_receiver = find_told(case, Circumstance.AT_RECEIVER)
    outer = [seen for seen in wrong if seen not in sent and seen.packet.dport in TUNNELS]
    if outer and at_receiver is not None and list_lost(case):
        across = any(one.same_node is False for one in list_lost(case))
        yield _report_outer(outer, at_receiver, across=across)
    elif outer and any(map(_is_across, list_lost(case))):
        yield _report_across(outer, works=_find_ping(case))
    elif unknown := [seen for seen in _without_accepted(wrong, case) if seen not in sent]:
        yield _report_open(unknown)
    elif wrong:
        yield Finding(
            check=NAME,
            severity=Severity.NOTE,
            claim=(
                f"{count(len(wrong), 'packet')} with a wrong checksum here: the NIC fills it in "
                "later, nothing is wrong."
            ),
            evidence=quote(wrong[:1]),
            reasoning=(
                "The kernel leaves checksums to the NIC; a capture sees the packet before that.",
                *(() if len(sent) == len(wrong) else ("The other end answers such packets.",)),
            ),
            marks=("incorrect", "cksum"),
        )


def _without_accepted(wrong: list[Sighting], case: Case) -> list[Sighting]:
    """Leave out what one host sends to another where the capture shows that one such packet was
    accepted: its data acknowledged, its SYN or datagram answered.
    """
    waiting: dict[tuple[object, ...], Packet] = {}
    accepted: set[tuple[Address, Address]] = set()
    suspected = {id(seen) for seen in wrong}
    for seen in case.sightings:
        packet = seen.packet
        there = (packet.protocol, packet.src, packet.sport, packet.dst, packet.dport)
        back = (packet.protocol, packet.dst, packet.dport, packet.src, packet.sport)
        if back in waiting and _answers(packet, waiting[back]):
            accepted.add((packet.dst, packet.src))
        asks = packet.protocol == protocols.UDP or packet.payload or packet.flags & protocols.SYN
        if asks and id(seen) in suspected:
            waiting[there] = packet
    return [seen for seen in wrong if (seen.packet.src, seen.packet.dst) not in accepted]


def _answers(packet: Packet, asked: Packet) -> bool:
    """Tell whether a packet says that what was sent the other way arrived."""
    if packet.protocol == protocols.UDP:
        return True
    if not packet.flags & protocols.ACK or packet.flags & protocols.RST:
        return False
    if asked.flags & protocols.SYN:
        answers_syn = packet.flags & protocols.SYN != 0
        return answers_syn is not bool(asked.flags & protocols.ACK)
    return 0 <= packet.ack - asked.seq - (asked.payload or 0) & 0xFFFFFFFF < _AHEAD


def _is_across(complaint: Complaint) -> bool:
    """Tell whether what gets no answer goes between nodes, or by a service's address."""
    return complaint.same_node is False or complaint.target in SERVICES


def _find_ping(case: Case) -> Span | None:
    """Return the sentence that says that pings get through; None where none does."""
    pings = (one.span for one in case.complaints if one.works and one.protocol == protocols.ICMP)
    return next(pings, None)


def _report_across(outer: list[Sighting], works: Span | None) -> Finding:
    """Report tunnel packets with a wrong sum, wherever they were captured: pings in them have no
    sum that an offload has to fill in.
    """
    packet = outer[0].packet
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Tunnel packets from {packet.src} to {packet.dst} have a wrong UDP checksum.",
        evidence=(*quote(outer[:1]), *((works,) if works is not None else ())),
        reasoning=("At the receiver, a checksum is final; at the sender, a card may fill it in.",),
        breaks=(f"the tunnel from {packet.src} to {packet.dst}",),
        prevention="Turn off the checksum offload of the tunnel's device.",
        certainty=0.7,
        proves=frozenset() if works is None else frozenset({FailureKind.TIMEOUT, *LOSSES}),
        marks=("cksum",),
        asks=(ASK,),
    )


def _report_outer(outer: list[Sighting], told: Span, *, across: bool) -> Finding:
    packet = outer[0].packet
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Tunnel packets from {packet.src} arrive at {packet.dst} with a wrong UDP checksum, "
            "so the receiver drops them."
        ),
        evidence=(*quote(outer[:1]), told),
        reasoning=("At the receiver, a checksum is final.",),
        breaks=(f"the tunnel from {packet.src} to {packet.dst}",),
        prevention="Turn off the checksum offload of the tunnel's device.",
        certainty=1.0 if across else 0.8,
        marks=("cksum",),
        asks=() if across else (ASK,),
    )


def _report_open(wrong: list[Sighting]) -> Finding:
    sender = wrong[0].packet.src
    return Finding(
        check=NAME,
        severity=Severity.RISK,
        claim=f"{count(len(wrong), 'packet')} with a wrong checksum, and the capture does not show "
        "whether it was taken at the sender: there it is normal; at the receiver they are "
        "dropped.",
        evidence=quote(wrong[:1]),
        reasoning=(
            (
                "The kernel leaves checksums to the NIC; a capture at the sender sees the packet "
                "before that."
            ),
        ),
        certainty=0.4,
        marks=("incorrect", "cksum"),
        asks=(
            FollowUp(
                fact=f"whether packets from {sender} have correct checksums where they arrive",
                command=(
                    "tcpdump -vvni DEVICE (on the receiver); nstat -az TcpInCsumErrors "
                    "UdpInCsumErrors (there)"
                ),
                decides=(
                    "they are wrong there too, and the counters grow: an offload does not "
                    "complete them"
                ),
            ),
        ),
    )

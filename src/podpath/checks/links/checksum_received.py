"""checksum-received: packets arrive with a wrong checksum and get no answer.

What it is
    A capture at the receiver (the packets come in, or go to an address that a listing shows on this
    machine) has TCP or UDP packets with a wrong checksum and no answer to them. Or it has DHCP
    messages with a wrong checksum, wherever it was taken.

Why it breaks
    The receiver drops such a packet silently. On the sender a wrong checksum is normal, because the
    card fills it in after the capture. At the receiver it should be complete: a virtual card, an
    emulated switch or a tunnel's offload failed to do so. A DHCP client or server reads frames from
    a raw socket, before anything completes the checksum: between namespaces and guests of one host,
    it sees the incomplete checksum and discards the message.

How to confirm
    ethtool -k DEVICE | grep checksum        # on the sender
    nstat -az TcpInCsumErrors UdpInCsumErrors IpInHdrErrors    # on the receiver: they grow

How to fix
    Let the sender compute it: ethtool -K DEVICE tx off (for a tunnel: tx-checksum-ip-generic off).
    For DHCP also:
        iptables -t mangle -A POSTROUTING -p udp --dport 68 -j CHECKSUM --checksum-fill

References
    tcp_v4_rcv (net/ipv4/tcp_ipv4.c); Documentation/networking/checksum-offloads.rst;
    iptables-extensions(8), CHECKSUM
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.captured import CapturedTraffic, count, is_received, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.topology import listed_addresses
from podpath.net.failures import FailureKind
from podpath.net.protocols import UDP
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.NIC_DRIVER, Category.TUNNEL_CHECKSUM)
NAME = "checksum-received"
DHCP = frozenset({67, 68})
TUNNELS = (4789, 8472, 6081)
"""Ports of VXLAN and Geneve, whose outer sums `vxlan-outer` judges."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report wrong checksums at the receiver that nobody answers, and DHCP's."""
    _ = traffic
    wrong = [seen for seen in case.sightings if seen.wrong_sum and seen.packet.dport not in TUNNELS]
    leases = [
        seen
        for seen in wrong
        if seen.packet.protocol == UDP and {seen.packet.sport, seen.packet.dport} <= DHCP
    ]
    if leases:
        yield _report_dhcp(case, leases)
    own = listed_addresses(case.node)
    answered = {(seen.packet.src, seen.packet.dst) for seen in case.sightings}
    lost = [seen for seen in wrong if seen not in leases and is_received(seen, own)]
    dropped = [seen for seen in lost if (seen.packet.dst, seen.packet.src) not in answered]
    if dropped:
        yield _report(dropped)


def _report(dropped: list[Sighting]) -> Finding:
    packet = dropped[0].packet
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{count(len(dropped), 'packet')} from {packet.src} to {packet.dst} arrived with a "
        "wrong checksum and got no answer: the receiver drops them.",
        evidence=quote(dropped),
        reasoning=("At the receiver, a checksum is final: a wrong one means a damaged packet.",),
        breaks=(f"packets from {packet.src} to {packet.dst}",),
        repairs=(
            Repair(
                title=f"let {packet.src} compute checksums in software",
                commands=("ethtool -K DEVICE tx off",),
            ),
        ),
        prevention=(
            "Turn the offload off wherever a virtual card or switch does not complete checksums."
        ),
        marks=("incorrect", "cksum"),
    )


def _report_dhcp(case: Case, leases: list[Sighting]) -> Finding:
    said = any(one.failure is FailureKind.NO_ADDRESS and not one.works for one in case.complaints)
    ask = FollowUp(
        fact="whether the DHCP client accepts the answers",
        command="tcpdump -vvni DEVICE udp port 67 or udp port 68",
        decides="answers arrive with a bad checksum and it keeps asking: the checksum is the cause",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{count(len(leases), 'DHCP message')} with a wrong UDP checksum: clients that read "
            "from a raw socket drop them."
        ),
        evidence=quote(leases),
        reasoning=("Nothing completes the checksum of a packet between devices of one host.",),
        breaks=("leases: the client keeps asking",),
        repairs=(
            Repair(
                title="fill in the checksum, or turn off the offload",
                commands=(
                    (
                        "iptables -t mangle -A POSTROUTING -p udp --dport 68 -j CHECKSUM "
                        "--checksum-fill"
                    ),
                    "ethtool -K DEVICE tx off",
                ),
            ),
        ),
        prevention=(
            "Keep the CHECKSUM rule wherever a DHCP server serves guests or namespaces of its own "
            "host."
        ),
        certainty=1.0 if said else 0.8,
        marks=("cksum",),
        asks=() if said else (ask,),
    )

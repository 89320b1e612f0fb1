"""vxlan-outer: the outer packets of a tunnel arrive damaged: with a wrong UDP checksum, or in
fragments.

What it is
    A capture of what comes in shows VXLAN or Geneve packets whose outer UDP checksum is wrong, or
    outer packets in fragments; or a walk finds that NAT rewrites the outer packets of a VXLAN
    device with `udpcsum`.

Why it breaks
    The receiver drops a UDP packet with a wrong checksum that is not zero. Some kernels and NICs
    leave it unfinished if an outer packet is also translated (checksum offload together with
    MASQUERADE --random-fully, kernels before 5.7, and with `udpcsum` all kernels; some VMware and
    cloud NICs): the tunnel loses every packet, or only those of services, while pings pass, whose
    checksum is not left to a NIC. Fragments of outer packets mean that the tunnel's MTU is too
    large for the network below; many networks drop them (see vxlan-mtu). On the sending side, a
    wrong checksum is normal: the NIC finishes it after the capture has seen it (checksum-offload).

How to confirm
    tcpdump -nvvi UPLINK udp port 8472 or udp port 4789    # on the receiver: bad udp cksum
    nstat -az UdpInCsumErrors IpReasmFails

How to fix
    ethtool -K VXLAN tx-checksum-ip-generic off    # on the sender, until its kernel is fixed
    iptables -t nat -I POSTROUTING -p udp --dport 8472 -j ACCEPT    # or make VXLAN with noudpcsum
    ip link set VXLAN mtu UPLINK_MTU-50

References
    udp_manip_pkt (net/netfilter/nf_nat_proto.c); vxlan_build_skb (drivers/net/vxlan/vxlan_core.c);
    kernel commit ea64d8d6c675
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from podpath.capture.frames import point_of
from podpath.checks.captured import CapturedTraffic, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.net import protocols
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.TUNNEL_ENDPOINT, Category.TUNNEL_CONFIGURATION, Category.TUNNEL_BLOCKED)
NAME = "vxlan-outer"
PORTS = (4789, 8472, 6081)
"""Of VXLAN, of VXLAN where Linux chose first (flannel, Cilium), of Geneve."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report tunnels whose outer packets come in with wrong checksums, and those whose outer
    packets are in fragments.
    """
    _ = traffic
    wrong: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    whole: dict[tuple[object, ...], int] = defaultdict(int)
    torn: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    for seen in case.sightings:
        packet = seen.packet
        ends = (packet.src, packet.dst)
        if packet.protocol == protocols.UDP and packet.dport in PORTS and seen.direction == "in":
            wrong[(point_of(seen), *ends)] += [seen] if seen.wrong_sum else []
            whole[(point_of(seen), *ends)] += 1
        if packet.protocol == protocols.UDP and packet.fragment:
            torn[ends].append(seen)
    tunnels = {(seen.packet.src, seen.packet.dst) for seen in case.sightings if _is_outer(seen)}
    for key, found in wrong.items():
        answered = _is_answered(case, found[0]) if found else True
        if answered is not True:
            yield _report_sums(found, whole[key], shown=answered is False)
    for pair, pieces in torn.items():
        if pair in tunnels:
            yield _report_fragments(pieces)


def _is_outer(seen: Sighting) -> bool:
    return seen.packet.protocol == protocols.UDP and seen.packet.dport in PORTS


def _is_answered(case: Case, outer: Sighting) -> bool | None:
    """Tell whether what comes through the tunnel is answered: then it was taken, and the sum was
    only not finished yet.

    Between machines of one host nobody finishes it. None where the capture does not show what the
    tunnel carries.
    """
    carried = [
        seen.packet
        for seen in case.sightings
        if seen.tunnel and seen.direction == "in" and seen.capture == outer.capture
    ]
    if not carried:
        return None
    back = {(seen.packet.src, seen.packet.dst) for seen in case.sightings}
    return any((packet.dst, packet.src) in back for packet in carried)


def _report_sums(found: Sequence[Sighting], count: int, *, shown: bool) -> Finding:
    packet = found[0].packet
    return Finding(
        check=NAME,
        severity=Severity.FAULT if shown else Severity.RISK,
        claim=(
            f"Tunnel packets from {packet.src} come in on {found[0].link} with wrong UDP "
            f"checksums: {packet.dst} drops them."
        ),
        evidence=quote(found),
        reasoning=(
            (
                f"{len(found)} of {count} packets to port {packet.dport} that come in have a wrong "
                "outer checksum."
            ),
            *(("Nothing that they carry gets an answer.",) if shown else ()),
        ),
        breaks=(f"the tunnel from {packet.src} to {packet.dst}",),
        repairs=(
            Repair(
                title=f"have {packet.src} compute checksums itself",
                commands=("ethtool -K VXLAN_DEVICE tx-checksum-ip-generic off",),
            ),
        ),
        marks=("cksum", str(packet.src)),
    )


def _report_fragments(found: Sequence[Sighting]) -> Finding:
    packet = found[0].packet
    return Finding(
        check=NAME,
        severity=Severity.RISK,
        claim=(
            f"Tunnel packets from {packet.src} to {packet.dst} are sent in fragments: the tunnel's "
            "MTU is too large."
        ),
        evidence=quote(found),
        reasoning=(
            (
                f"{len(found)} fragments of outer packets are seen; networks that drop fragments "
                "lose full-sized packets."
            ),
        ),
        breaks=("full-sized packets through the tunnel, if a network on the path drops fragments",),
        marks=(str(packet.src), str(packet.dst)),
    )

"""tunnel-checksum-offload: an overlay's device leaves checksums to an offload, which some kernels
and NICs get wrong.

What it is
    `ethtool -k` shows tx-checksum-ip-generic (or tx-checksumming) on for an overlay's device,
    such as flannel.1, vxlan.calico or a geneve device, or for the uplink under it.

Why it breaks
    With some kernels (before 5.9, and later regressions with VXLAN and NAT of the same packet) and
    some NICs and hypervisors (vmxnet3, certain virtio), the inner checksum is wrong on the wire.
    The receiver drops the packet: TCP and UDP to other nodes' pods and services time out, or take a
    minute, while ping works.

How to confirm
    ethtool -k DEVICE | grep tx-checksum    # the tunnel's device, and the uplink under it
    nstat -az UdpInCsumErrors TcpInCsumErrors; tcpdump -vvni any udp port 8472

How to fix
    ethtool -K DEVICE tx-checksum-ip-generic off on all nodes (Calico:
    FELIX_FEATUREDETECTOVERRIDE=ChecksumOffloadBroken=true).

References
    udp_set_csum, skb_checksum_help (net/ipv4/udp_offload.c v6.12); ethtool(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.stated import is_tunnel, statements_of
from podpath.net.statements import OffloadFeature
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_CHECKSUM,
    Category.NIC_DRIVER,
)
NAME = "tunnel-checksum-offload"


FEATURES = ("tx-checksum-ip-generic", "tx-checksumming")


def check(case: Case) -> Iterator[Finding]:
    """Report the first device of an overlay, else the first device at all, with the offload on: it
    is possible, no more.
    """
    on = [
        (offload, stated)
        for offload, stated in statements_of(case, OffloadFeature)
        if offload.on and offload.feature in FEATURES
    ]
    on.sort(key=lambda pair: (not is_tunnel(pair[0].link), FEATURES.index(pair[0].feature)))
    for offload, stated in on[:1]:
        inner = is_tunnel(offload.link)
        same = [other.span for one, other in on if one.link == offload.link]
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{offload.link} leaves transmit checksums to an offload, which may corrupt them."
            ),
            evidence=tuple(dict.fromkeys((stated.span, *same))),
            reasoning=(
                "If the offload does not compute them, receivers silently drop the packets.",
            ),
            breaks=("TCP and UDP over this device, while ping works",),
            repairs=(
                Repair(
                    title="compute checksums in software",
                    commands=(f"ethtool -K {offload.link} {offload.feature} off",),
                ),
            ),
            prevention=(
                "Turn it off in a udev rule or a unit, since the agent recreates the device."
            ),
            certainty=0.6 if inner else 0.4,
            marks=(offload.feature,),
        )

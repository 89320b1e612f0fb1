"""checksum-fails: the kernel sees packets with wrong checksums.

What it is
    `hw csum failure` or `UDP: bad checksum`: the card's or the packet's own sum does not fit.

Why it breaks
    An offload that the driver, the tunnel or the virtual card gets wrong: such packets are dropped by their receiver.

How to confirm
    ethtool -k DEV | grep -E 'checksum|offload'; nstat -az UdpInCsumErrors TcpInCsumErrors; tcpdump -vv | grep 'bad
      .*cksum'

How to fix
    ethtool -K DEV tx-checksum-ip-generic off (flannel.1, vxlan.calico), or rx off on the card; update driver and
    kernel.

References
    net/core/dev.c, netdev_rx_csum_fault; net/ipv4/udp.c, __udp4_lib_rcv
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_CHECKSUM,
    Category.NIC_DRIVER,
)
NAME = "checksum-fails"
KINDS = (MessageKind.CHECKSUM_FAILED,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device", "src")
    device = f" ({device})" if device else ""
    meaning = Meaning(
        claim=f"Packets arrive with wrong checksums{device}: an offload computes them wrongly.",
        breaks="packets of that path: they are dropped by their receiver",
        cure="switch the checksum offload of the tunnel or card off",
        commands=("ethtool -K DEV tx-checksum-ip-generic off",),
    )
    yield tell(NAME, said, meaning)

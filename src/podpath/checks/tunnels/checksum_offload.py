"""checksum-offload: checksums are wrong where the capture is taken, and right on the wire.

What it is
    A capture shows packets that this machine sends, or that pass between its namespaces, with a wrong TCP or UDP checksum
    (tcpdump -v: `incorrect`).

Why it breaks
    It breaks nothing: the kernel leaves the checksum to the network card (or, between veth devices, to nobody, since nobody
    needs it), and the capture sees the packet before. Whoever looks for a fault should look elsewhere. A wrong checksum counts
    only in what comes in from outside (see vxlan-outer).

How to confirm
    ethtool -k DEVICE | grep checksum
    nstat -az TcpInCsumErrors UdpInCsumErrors    # what the kernel did drop for its checksum

How to fix
    Nothing has to be fixed. To see right checksums in a capture: ethtool -K DEVICE tx off (slower).

References
    skb_checksum_help (net/core/dev.c); CHECKSUM_PARTIAL in Documentation/networking/checksum-offloads.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.captured import Talks, count, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.tunnels.vxlan_outer import PORTS
from podpath.node.case import Case

CATEGORIES = (Category.TUNNEL_CHECKSUM,)
NAME = "checksum-offload"


def look(case: Case, talks: Talks) -> Iterator[Finding]:
    """Note wrong checksums that are none on the wire, so that nobody blames them."""
    _ = talks
    wrong = [seen for seen in case.sightings if seen.wrong_sum and not (seen.direction == "in" and seen.packet.dport in PORTS)]
    if wrong:
        yield Finding(
            check=NAME,
            severity="note",
            claim=f"{count(len(wrong), 'packet')} with a wrong checksum here: the network card sets it later, nothing is wrong.",
            evidence=quote(wrong[:1]),
            reasoning=("The kernel leaves checksums to the card; a capture sees the packet before that.",),
            marks=("incorrect", "cksum"),
        )

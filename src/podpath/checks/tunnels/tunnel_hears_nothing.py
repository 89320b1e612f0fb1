"""tunnel-hears-nothing: a tunnel's device sent packets and never received one.

What it is
    The counters of a tunnel's device (`ip -s link`, ifconfig, /proc/net/dev) show packets sent and
    not one received.

Why it breaks
    A conversation through a tunnel needs both directions. What was sent did not arrive, or was not
    answered, or the answers are lost on their way to this host: a firewall, a security group or a
    router drops the tunnel's own packets (UDP 8472 or 4789 for VXLAN, UDP 6081 for Geneve, IP
    protocol 4 for IPIP, 47 for GRE), the other end has another port, network identifier, key or
    address of this host, or a wrong checksum makes the receiver drop them. A packet that is dropped
    before the tunnel's device gets it does not count there.

How to confirm
    tcpdump -ni UPLINK 'udp port 8472 or udp port 4789 or udp port 6081 or proto 4 or proto 47'
    on both nodes: do the outer packets leave, do they arrive, does an answer leave?
    ip -s link show DEVICE

How to fix
    Let the tunnel's packets pass in both directions, in the cloud's rules and in the host's; make
    both ends agree on port, identifier and addresses.

References
    drivers/net/vxlan/vxlan_core.c:vxlan_rcv v6.12; net/ipv4/ip_tunnel.c:ip_tunnel_rcv v6.12
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.device_traffic import list_traffic
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import is_tunnel
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_BLOCKED,
    Category.TUNNEL_CONFIGURATION,
    Category.TUNNEL_ENDPOINT,
    Category.CLOUD_NETWORK,
)
NAME = "tunnel-hears-nothing"


def check(case: Case) -> Iterator[Finding]:
    """Report each tunnel's device that sent and never received."""
    for traffic in list_traffic(case):
        if not is_tunnel(traffic.link) or not traffic.hears_nothing:
            continue
        sent = traffic.count("tx_packets")
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"{traffic.link} has sent {sent} packets into its tunnel and never received one."
            ),
            evidence=(traffic.span("rx_packets"), traffic.span("tx_packets")),
            reasoning=(
                "The tunnel's own packets do not arrive at this host, or nobody answers them.",
            ),
            breaks=(f"everything through {traffic.link}",),
            prevention="Test the tunnel's port between all nodes when one joins.",
            certainty=0.7,
            marks=("RX packets 0", "RX packets:0", "RX:"),
            asks=(
                FollowUp(
                    fact=(
                        "whether the tunnel's packets reach this host: a firewall or security "
                        "group may drop its UDP port"
                    ),
                    command=(
                        "tcpdump -ni UPLINK 'udp port 8472 or udp port 4789 or udp port 6081 "
                        "or proto 4' on both nodes"
                    ),
                    decides=(
                        "answers leave the other node and do not arrive here: what is between "
                        "drops them; they arrive: ports, identifiers or checksums differ"
                    ),
                ),
            ),
        )

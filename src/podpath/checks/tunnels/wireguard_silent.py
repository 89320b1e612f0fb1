"""wireguard-silent: a WireGuard peer never answered: packets are sent to it, and nothing comes
back.

What it is
    `wg show` lists a peer with an endpoint, with bytes sent and none received, and no latest
    handshake.

Why it breaks
    WireGuard carries nothing before its handshake. The other side does not get the packets (a
    firewall or NAT on UDP, a wrong endpoint or port, the route to the endpoint leads into the
    tunnel itself), does not know the key, or its reply does not get back (rp_filter, a firewall's
    reverse-path rule).

How to confirm
    wg show; tcpdump -ni any udp port 51820
    ip route get ENDPOINT

How to fix
    Open the UDP port, compare keys on both sides, exclude the endpoint from the tunnel's routes;
    see rp-filter and rpfilter-rule.

References
    wg(8); www.wireguard.com/protocol
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import WireguardPeer
from podpath.node.case import Case

CATEGORIES = (
    Category.TUNNEL_BLOCKED,
    Category.TUNNEL_CONFIGURATION,
    Category.REVERSE_PATH_FILTER,
    Category.IPV6,
)
NAME = "wireguard-silent"


def check(case: Case) -> Iterator[Finding]:
    """Report each peer that is sent to and never answered."""
    for peer, stated in statements_of(case, WireguardPeer):
        silent = (
            peer.endpoint and not peer.handshake and peer.sent and not peer.sent.startswith("0 ")
        )
        if not silent or not peer.received.startswith("0 "):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The WireGuard peer {peer.endpoint} on {peer.link} never answered: {peer.sent} "
                "sent, nothing received."
            ),
            evidence=(stated.span,),
            reasoning=("Without a handshake the tunnel carries nothing.",),
            breaks=(f"everything over {peer.link}",),
            prevention="Set persistent-keepalive, and monitor the age of handshakes.",
            certainty=0.7,
            marks=("0 B received",),
        )

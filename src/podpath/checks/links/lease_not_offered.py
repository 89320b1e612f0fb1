"""lease-not-offered: a DHCP client gets no lease.

What it is
    No DHCPOFFER came, or the server answered with DHCPNAK.

Why it breaks
    Broadcasts do not reach a server, or its answer does not come back: a VLAN, a switch that drops MACs it does not
    know, a firewall of the bridge, wrong checksums; a NAK means that the address does not fit the network where the
    client is now.

How to confirm
    tcpdump -nn -e -i DEV port 67 or port 68     # on each hop

How to fix
    Mend the hop at which the request or the answer is seen last.

References
    RFC 2131
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Ask, Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.MAC_NOT_ALLOWED,
    Category.VLAN,
    Category.OUTSIDE_NODE,
    Category.TUNNEL_BLOCKED,
    Category.HOST_FIREWALL,
    Category.IPAM,
)
NAME = "lease-not-offered"
KINDS = (
    MessageKind.LEASE_NOT_OFFERED,
    MessageKind.LEASE_REFUSED,
)
ASK = Ask(
    "where the DHCP request or its answer is lost",
    "tcpdump -nn -e -i DEV port 67 or port 68   # on the bridge, the uplink and the server",
    "the last place that shows the request or the answer is before the fault",
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="A DHCP client gets no lease: no server answers it, or it refuses the address.",
        breaks="the host or pod that has no address",
        cure="find the hop at which request or answer is lost",
        certainty=0.2,
        ask=ASK,
    )
    yield tell(NAME, said, meaning)

"""lease-unanswered: a capture shows a client ask for a lease repeatedly, and no server answers.

What it is
    tcpdump prints two or more DHCP requests (`BOOTP/DHCP, Request`), on one line or on the lines
    that -v adds, and no reply, wherever it was taken.

Why it breaks
    The client gets no address, or picks one from 169.254.0.0/16. The request does not reach a
    server (VLAN, a missing bridge port, a hypervisor or access point that drops unknown MACs, a
    firewall on the bridge), the server has no range for this network, or its answer is lost on the
    way back.

How to confirm
    tcpdump -nn -e -i DEVICE port 67 or port 68     # at the client, the bridge and the server
    journalctl -u isc-dhcp-server -u dnsmasq -u kea-dhcp4-server

How to fix
    Fix the hop where the request or the answer is last seen.

References
    RFC 2131; tcpdump(8)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing
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
NAME = "lease-unanswered"
LEAST = 2


def check(case: Case) -> Iterator[Finding]:
    """Report the client that asks most often, where nothing shows that anybody is answered."""
    asked = find_said(case, MessageKind.LEASE_ASKED)
    answers = find_said(case, MessageKind.LEASE_ANSWERED, MessageKind.LEASE_REFUSED)
    if answers or not any(True for _ in list_failing(case)):
        return
    times: Counter[str] = Counter()
    for one in asked:
        times[one.values.get("mac", "")] += one.times
    for mac, count in times.most_common(1):
        if count >= LEAST:
            first = next(one for one in asked if one.values.get("mac", "") == mac)
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=f"No DHCP server answers {mac or 'the client'}, which asks {count} times.",
                evidence=(first.span,),
                reasoning=("The capture shows requests and no reply.",),
                breaks=("the host or pod that has no address",),
                certainty=0.3,
                asks=(
                    FollowUp(
                        "where the DHCP request or its answer is lost",
                        "tcpdump -nn -e -vv -i DEV port 67 or port 68 (at the client, the bridge, "
                        "the uplink and the server); the DHCP server's log",
                        "the fault is after the last point that shows the request or the answer",
                    ),
                ),
                marks=(mac,) if mac else (),
            )

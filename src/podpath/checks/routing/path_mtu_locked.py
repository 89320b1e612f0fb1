"""path-mtu-locked: the kernel believes that the path to an address has a tiny MTU.

What it is
    `ip route get` or `ip route show cache` prints `mtu lock 552` for an address: somebody answered
    with an ICMP error (fragmentation needed) whose next-hop MTU is smaller than
    net.ipv4.route.min_pmtu, often 0.

Why it breaks
    The kernel then uses min_pmtu and locks it for ten minutes: it rejects larger packets to that
    address that must not be fragmented, including those that it forwards. Downloads stall, while
    small requests go through. No sane network has such an MTU: old routers, sandboxes (gVisor) and
    middleboxes that send such errors leave the field 0.

How to confirm
    ip route show cache; ip route get ADDRESS
    tcpdump -nv 'icmp[0] = 3 and icmp[1] = 4'     # mtu 0, and who sends it

How to fix
    Update or replace what sends the error. Until then drop it, and forget the path:
        iptables -I INPUT -p icmp --icmp-type fragmentation-needed -s SENDER -j DROP
        ip route flush cache

References
    __ip_rt_update_pmtu (net/ipv4/route.c v6.12); RFC 1191, 4; ip-sysctl, min_pmtu
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.failures import FailureKind
from podpath.net.statements import RouteAnswer
from podpath.node.case import Case

CATEGORIES = (Category.MTU,)
NAME = "path-mtu-locked"
LEAST = 552
"""net.ipv4.route.min_pmtu where nobody changed it. A route may lock a larger MTU on purpose."""
POSSIBLE = 0.8


def check(case: Case) -> Iterator[Finding]:
    """Report each such answer."""
    for answer, stated in statements_of(case, RouteAnswer):
        if not answer.mtu_locked or answer.mtu is None or answer.mtu > LEAST:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The kernel believes that the path to {answer.dst} carries {answer.mtu} bytes: "
                "an ICMP error reported even less."
            ),
            evidence=(stated.span,),
            reasoning=(
                "The kernel locks the MTU only if an error names one below the minimum (min_pmtu).",
            ),
            breaks=(f"packets of more than {answer.mtu} bytes to {answer.dst}",),
            prevention="Find out what sends ICMP errors with a next-hop MTU of 0.",
            certainty=POSSIBLE,
            proves=frozenset({FailureKind.HANGS}),
            asks=(
                FollowUp(
                    f"what reported the MTU of the path to {answer.dst}, and what fails with it",
                    f"tcpdump -nv -i any 'icmp[0] = 3 and icmp[1] = 4'; ip route get {answer.dst}",
                    "an error with mtu 0: its sender is at fault, and large packets are lost",
                ),
            ),
            marks=("mtu lock",),
        )

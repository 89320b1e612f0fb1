"""arp-answered-twice: two MAC addresses answer ARP for one IP address.

What it is
    Two different MAC addresses answer one arping.

Why it breaks
    Two machines have the address, or one answers for another (proxy ARP, two cards on one network
    with arp_ignore=0). The last answer wins, so senders reach sometimes one, sometimes the other.

How to confirm
    arping -c 4 -I DEVICE ADDRESS
    ip neigh show ADDRESS; sysctl net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.proxy_arp

How to fix
    Remove the address from the machine that should not have it. With two cards on one network, set
    arp_ignore=1 and arp_announce=2.

References
    arp_process (net/ipv4/arp.c v6.12); RFC 5227; Documentation/networking/ip-sysctl.rst, arp_ignore
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import ArpAnswer
from podpath.node.case import Case

CATEGORIES = (
    Category.DUPLICATE_ADDRESS,
    Category.ARP_WRONG_ANSWER,
)
NAME = "arp-answered-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report each arping with more than one owner."""
    for answer, stated in statements_of(case, ArpAnswer):
        if len(answer.macs) < 2:
            continue
        *others, last = answer.macs
        every = "both" if len(answer.macs) == 2 else "all"
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=f"{', '.join(others)} and {last} {every} answer ARP for {answer.target}.",
            evidence=(stated.span,),
            reasoning=(
                (
                    "The last answer wins. They are hosts that have one address, or the cards of "
                    "one host that answers on each of them."
                ),
            ),
            breaks=(f"connections to {answer.target}, intermittently",),
            prevention="Assign addresses in one place.",
            marks=answer.macs,
            asks=(
                FollowUp(
                    fact="whether the MACs belong to one host",
                    command=(
                        "ip -br link; sysctl -a | grep arp_ignore  # on the host that has "
                        f"{answer.target}"
                    ),
                    decides=(
                        "all are its own: set arp_ignore to 1; another's: give that one an address "
                        "of its own"
                    ),
                ),
            ),
        )

"""link-local-by-gateway: the kernel sends a link-local address to a gateway.

What it is
    `ip route get` answers with a gateway for an address in 169.254.0.0/16, often that of the
    default route.

Why it breaks
    Link-local addresses belong to a single link: no router passes them on. Plugins give them to
    pods (for IPv4, to pods that have only IPv6 otherwise), VPNs to the ends of tunnels; the host
    then has a route to each, over a veth or the tunnel. Where that route is missing, the default
    route takes the packets, and nobody answers.

How to confirm
    ip route get ADDRESS; ip route show ADDRESS
    ip link | grep veth

How to fix
    Have the plugin set up the pod again (delete the pod). Until then: ip route add ADDRESS dev
    VETH.

References
    RFC 3927, 2.7; fib_table_lookup (net/ipv4/fib_trie.c v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES
from podpath.net.addresses import Address, Prefix
from podpath.net.statements import RouteAnswer
from podpath.node.case import Case

CATEGORIES = (Category.NO_ROUTE, Category.WRONG_ROUTE)
NAME = "link-local-by-gateway"
POSSIBLE = 0.7
"""Clouds answer on such addresses, and some of them do so behind a gateway."""
_OF_CLOUDS = tuple(
    Prefix.parse(text)
    for text in ("169.254.169.0/24", "169.254.170.0/24", "169.254.0.0/24", "169.254.42.0/24")
)
"""Where clouds keep metadata, time and names."""


def check(case: Case) -> Iterator[Finding]:
    """Report each such answer about an address that no cloud has."""
    for answer, stated in statements_of(case, RouteAnswer):
        dst, gateway = answer.dst, answer.gateway
        if dst is None or gateway is None or dst.family != 4 or gateway.is_link_local:
            continue
        if not dst.is_link_local or _is_of_cloud(dst):
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The kernel sends {dst}, a link-local address, to the gateway {gateway}: it has "
                "no route of its own to it."
            ),
            evidence=(stated.span,),
            reasoning=("No router forwards packets to a link-local address.",),
            breaks=(f"packets to {dst}, including answers",),
            prevention="Check that each pod's address has its route on the host.",
            certainty=POSSIBLE,
            proves=LOSSES,
            asks=(
                FollowUp(
                    f"whether {dst} is the address of a pod or of a tunnel's end on this host",
                    f"ip route show {dst}; ip -br link; ip -br addr",
                    "it is, and there is no route through its device: answers to it are lost",
                ),
            ),
            marks=(str(gateway), str(answer.link)),
        )


def _is_of_cloud(address: Address) -> bool:
    return any(prefix.covers(address) for prefix in _OF_CLOUDS)

"""route-host-bits: a route's prefix has host bits set, so the kernel refuses it.

What it is
    A script, a container's option or an administrator sets a route such as 192.168.166.0/16: the
    bits after the /16 belong to a host (192.168.0.0/16 or 192.168.166.0/24 was meant).

Why it breaks
    The kernel refuses such a prefix with EINVAL: `RTNETLINK answers: Invalid argument` or `Invalid
    prefix for given prefix length`. The route is missing, and scripts that stop at the first error
    end there.

How to confirm
    ip route add PREFIX via GATEWAY dev DEVICE   # repeat the command
    ip route show | grep PREFIX

How to fix
    Write the prefix without host bits: the network's own address, or the length that was meant.

References
    fib_table_insert, fib_valid_key_len (net/ipv4/fib_trie.c v6.12); ip-route(8)
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.NO_ROUTE,
    Category.WRONG_ROUTE,
    Category.APPLICATION,
)
NAME = "route-host-bits"


REFUSED = ("Invalid argument", "Invalid prefix for given prefix length")


def check(case: Case) -> Iterator[Finding]:
    """Report each prefix with a host's bits that a route was wanted for; it is certain where the
    kernel said that it refuses.
    """
    errors = find_said(case, MessageKind.RTNETLINK_ANSWER, MessageKind.ROUTE_REFUSED)
    refusals = [message.span for message in errors if message.values.get("error") in REFUSED]
    for message in find_said(case, MessageKind.ROUTE_WANTED):
        prefix = message.values["prefix"]
        meant = find_network(prefix)
        if meant is None:
            continue
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"A route to {prefix} is requested, which the kernel refuses: a "
                f"/{prefix.rpartition('/')[2]} there is {meant}."
            ),
            evidence=(message.span, *refusals[:1]),
            reasoning=("The kernel accepts only prefixes whose host bits are zero.",),
            breaks=(f"traffic to {prefix}, for which there is no route",),
            prevention="Check prefix lengths where they are configured.",
            certainty=1.0 if refusals else 0.6,
            marks=(prefix,),
        )


def find_network(prefix: str) -> str | None:
    """Return the network that a prefix with bits of a host lies in; None for one without such bits,
    or no prefix at all.
    """
    try:
        network = ip_network(prefix, strict=False)
    except ValueError:
        return None
    is_host = not isinstance(network, IPv4Network) or network.prefixlen == 32
    return (
        None
        if is_host or str(network.network_address) == prefix.partition("/")[0]
        else str(network)
    )

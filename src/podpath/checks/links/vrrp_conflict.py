"""vrrp-conflict: another router in the same network uses the same VRRP id.

What it is
    Keepalived receives advertisements of its own virtual router id that name other addresses or another password.

Why it breaks
    Two groups with one virtual_router_id in one network take each other for peers: the one with the lower priority
    gives its address up, or both answer, so the virtual address is not reachable or moves.

How to confirm
    tcpdump -nn -i DEV vrrp     # who sends which vrid
    grep -r virtual_router_id /etc/keepalived

How to fix
    Choose a virtual_router_id that nobody else has in the network, the same on all nodes of the group, and restart
    keepalived.

References
    RFC 5798 section 5.2.3; keepalived.conf(5), virtual_router_id
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.DUPLICATE_ADDRESS,
    Category.LOAD_BALANCER,
    Category.OTHER,
)
NAME = "vrrp-conflict"
KINDS = (MessageKind.VRRP_CONFLICT,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    address = get_value(said, "address")
    address = f" ({address})" if address else ""
    meaning = Meaning(
        claim=f"Another VRRP router uses this virtual router id{address}, so keepalived does not hold its address.",
        breaks="the virtual address",
        cure="take a virtual_router_id that is free in the network",
    )
    yield tell(NAME, said, meaning)

"""bind-refused: a program may not, or cannot, bind the address and port that it is told to.

What it is
    The address is none of the host's (`cannot assign requested address`), or the port is below 1024 and the program
    is not root.

Why it breaks
    A listener needs an address that some device of its namespace has; an address of another node, of a VIP that is
    elsewhere or of a device that does not exist yet is refused. Ports below net.ipv4.ip_unprivileged_port_start need
    CAP_NET_BIND_SERVICE.

How to confirm
    ip -br addr; sysctl net.ipv4.ip_unprivileged_port_start net.ipv4.ip_nonlocal_bind

How to fix
    Listen on 0.0.0.0 or an address that is there; set ip_nonlocal_bind for VIPs that move; give the capability or a
    port above 1023.

References
    ip(7), ip_nonlocal_bind; capabilities(7), CAP_NET_BIND_SERVICE
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.APPLICATION,
    Category.SYSCTL,
    Category.OTHER,
)
NAME = "bind-refused"
KINDS = (
    MessageKind.PORT_PRIVILEGED,
    MessageKind.BIND_ADDRESS_ABSENT,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    address = get_value(said, "address", default="its address")
    port = get_value(said, "port")
    meaning = Meaning(
        claim=f"A program cannot listen on {address} port {port}.",
        breaks="the program that should listen there",
        cure="listen on an address and port that it may have",
    )
    yield tell(NAME, said, meaning)

"""port-taken: another program has the port already.

What it is
    A program or container cannot listen: `address already in use`, `port is already allocated`.

Why it breaks
    A port of an address belongs to one listener. Another container, a host service (systemd-resolved or dnsmasq on
    53, a web server on 80) or an old process holds it, so the new one does not start, and who connects meets the
    other.

How to confirm
    ss -ltnup | grep ':PORT '; docker ps --filter publish=PORT

How to fix
    Stop what holds the port, or take another port or address for the new one.

References
    bind(2), EADDRINUSE
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
    Category.OTHER,
    Category.DNS_SERVER,
)
NAME = "port-taken"
KINDS = (
    MessageKind.PORT_TAKEN,
    MessageKind.NAME_SERVER_NOT_BOUND,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    port = get_value(said, "port")
    meaning = Meaning(
        claim=f"The port {port} is taken by another program, so the new listener does not start.",
        breaks="the program that should listen there",
        cure="stop what holds the port, or take another one",
        commands=(f"ss -ltnup | grep ':{port} '",),
    )
    yield tell(NAME, said, meaning)

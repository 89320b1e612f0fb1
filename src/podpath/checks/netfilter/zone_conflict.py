"""zone-conflict: firewalld refuses Docker's bridge, which another zone has.

What it is
    Docker puts its bridges into firewalld's zone docker; the interface is bound to another zone already.

Why it breaks
    dockerd does not start, or the bridge's traffic follows the other zone, which rejects it.

How to confirm
    firewall-cmd --get-zone-of-interface=docker0; firewall-cmd --list-all-zones

How to fix
    firewall-cmd --permanent --zone=ZONE --remove-interface=docker0; firewall-cmd --reload; systemctl restart docker

References
    Docker, Integration with firewalld; firewall-cmd(1)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (
    Category.HOST_FIREWALL,
    Category.RULESET_FAILURE,
)
NAME = "zone-conflict"
KINDS = (MessageKind.ZONE_CONFLICT,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    device = get_value(said, "device", default="docker0")
    meaning = Meaning(
        claim=f"firewalld has {device} in another zone than Docker's, so Docker cannot set it up.",
        breaks="containers of that bridge",
        cure="remove the interface from the other zone",
        commands=(f"firewall-cmd --permanent --zone=ZONE --remove-interface={device}",),
    )
    yield tell(NAME, said, meaning)

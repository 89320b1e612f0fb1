"""peer-name-twice: two nodes use the same name in an overlay that needs it to be unique.

What it is
    The logs of an overlay's agent (Weave) on two hosts say `Our name is MAC(HOST)` with the same
    name and different hosts.

Why it breaks
    The name is derived from what identifies the machine (product_uuid, machine-id, a MAC). If two
    have the same name, the peers take both for one: they share one range and give the same
    addresses to different pods, and the connection of one replaces the other's.

How to confirm
    cat /sys/class/dmi/id/product_uuid /etc/machine-id      # on each node
    weave status peers; ip link show weave

How to fix
    Give one of them its own identity (a new machine-id; --name for the agent where the hardware's
    cannot be changed), delete what the agent keeps of the old name, and restart it.

References
    weave.works documentation, peer names; machine-id(5)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.said import find_said
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.DUPLICATE_ADDRESS, Category.TUNNEL_CONFIGURATION)
NAME = "peer-name-twice"


def check(case: Case) -> Iterator[Finding]:
    """Report the first name that two hosts give to themselves."""
    named = find_said(case, MessageKind.PEER_NAMED)
    for one, other in combinations(named, 2):
        first, second = one.values["host"], other.values["host"]
        if one.values["name"] == other.values["name"] and first != second:
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=f"{first} and {second} use the same name, {one.values['name']}.",
                evidence=(one.span, other.span),
                reasoning=("An overlay takes two peers with the same name for one.",),
                breaks=("pods on these nodes: they get the same addresses",),
                prevention="Empty machine-id in images; check product_uuid on identical hardware.",
                marks=(one.values["name"], first, second),
            )
            return

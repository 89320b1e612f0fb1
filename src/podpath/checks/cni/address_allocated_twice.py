"""address-allocated-twice: the address that a pod or container asks for is taken.

What it is
    A fixed address is asked for (an annotation, --ip, runtimeConfig) that the IPAM plugin has given to somebody,
    often to an earlier container of the same pod.

Why it breaks
    The plugin refuses, so the pod or container does not start. A sandbox that was not torn down in order keeps its
    address.

How to confirm
    grep -r . /var/lib/cni/networks/*/ADDRESS; docker network inspect NETWORK

How to fix
    Remove the stale allocation, or ask for another address.

References
    plugins/ipam/host-local/backend/allocator of containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.IPAM,)
NAME = "address-allocated-twice"
KINDS = (MessageKind.ADDRESS_ALLOCATED_TWICE,)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    address = get_value(said, "address")
    meaning = Meaning(
        claim=f"The address {address} that was asked for is allocated to another container already.",
        breaks="the pod or container that asks for it",
        cure="free the stale allocation, or ask for another address",
    )
    yield tell(NAME, said, meaning)

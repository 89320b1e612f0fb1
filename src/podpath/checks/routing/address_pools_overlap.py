"""address-pools-overlap: a network is not created, since its range overlaps one that is in use.

What it is
    Docker, Podman, libvirt, Weave or Calico refuses a range: a network, a route of the host (a VPN's above all) or
    another pool covers part of it.

Why it breaks
    The default pools are a few private ranges; a VPN that pushes routes for 10.0.0.0/8, 172.16.0.0/12 or
    192.168.0.0/16, or many networks that were never removed, use them up. Without the network its containers do not
    start.

How to confirm
    ip route; docker network ls; docker network inspect $(docker network ls -q) | grep Subnet

How to fix
    Remove networks that nobody uses (docker network prune), give the network a range that is free (--subnet), or set
    default-address-pools in /etc/docker/daemon.json. With a VPN: keep its routes out of one private range.

References
    libnetwork, ipamutils and netutils.CheckRouteOverlaps; Weave Net, Allocating IP Addresses; podman-network-
    create(1)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding
from podpath.checks.said import Meaning, find_said, tell
from podpath.net.messages import MessageKind
from podpath.node.case import Case

CATEGORIES = (Category.OVERLAPPING_RANGES,)
NAME = "address-pools-overlap"
KINDS = (
    MessageKind.POOLS_OVERLAP,
    MessageKind.ROUTE_CONFLICT,
)


def check(case: Case) -> Iterator[Finding]:
    """Report what was said of it."""
    said = find_said(case, *KINDS)
    if not said:
        return
    meaning = Meaning(
        claim="A network cannot be created: every range that it could have overlaps a route or another network of the host.",
        breaks="the containers of that network: they do not start",
        cure="take a range that no route and no network covers",
        commands=("docker network create --subnet 10.213.0.0/24 NAME",),
    )
    yield tell(NAME, said, meaning)

"""pools-covered: routes cover every range from which a container engine would choose its network.

What it is
    `ip route` shows routes that together cover all of Docker's usual ranges: both halves 0.0.0.0/1
    and 128.0.0.0/1 of a VPN, or unreachable and blackhole routes for the private ranges. The engine
    does not start, or cannot make a network.

Why it breaks
    Docker uses a range for its bridge only if no route of the host overlaps it. A default route
    does not count; every longer one does, whatever its type. (Newer versions count routes to
    connected networks only.)

How to confirm
    ip route
    journalctl -u docker | grep -i -e overlap -e pool

How to fix
    Set the range yourself: "bip" and "default-address-pools" in /etc/docker/daemon.json. Or start
    the engine before the VPN, or delete the routes.

References
    moby, libnetwork/netutils CheckRouteOverlaps; docs.docker.com, daemon.json
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import spans_of
from podpath.checks.told import list_failing
from podpath.net.addresses import Prefix
from podpath.net.failures import FailureKind
from podpath.net.messages import MessageKind
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.OVERLAPPING_RANGES, Category.WRONG_ROUTE)
NAME = "pools-covered"
POOLS = tuple(
    Prefix.parse(text)
    for text in (
        "172.17.0.0/16", "172.18.0.0/16", "172.19.0.0/16", "172.20.0.0/14", "172.24.0.0/14",
        "172.28.0.0/14", "192.168.0.0/16",
    )
)  # fmt: skip
"""What Docker chooses from where nobody says otherwise."""
POSSIBLE = 0.6
"""Newer versions do not mind routes by a gateway."""


def check(case: Case) -> Iterator[Finding]:
    """Report the routes that leave the engine no range, where it is said not to start."""
    unstarted = [one for one in list_failing(case) if one.failure is FailureKind.NOT_STARTED]
    if not unstarted or Technology.DOCKER not in case.mentions:
        return
    if case.messages and not find_said(case, MessageKind.POOLS_OVERLAP):
        return  # the engine says what else it lacks
    stated = [route for route in case.node.host.routes.items if _is_long(route)]
    taking = [_find_cover(stated, pool) for pool in POOLS]
    covering = [route for route in taking if route is not None]
    if len(covering) < len(POOLS):
        return
    routes = tuple(dict.fromkeys(covering))
    words = " and ".join(str(route.prefix) for route in routes)
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The routes for {words} cover every range that Docker chooses from.",
        evidence=spans_of(routes),
        reasoning=("Docker uses no range that overlaps a route of the host.",),
        breaks=("the default bridge, and networks created without a range",),
        prevention="Give the engine ranges of its own: bip, default-address-pools.",
        certainty=POSSIBLE,
        asks=(
            FollowUp(
                "what the engine logs when it creates its network",
                "journalctl -u docker | grep -i -e overlap -e pool -e predefined",
                "it finds no free range: these routes cover all that it tries",
            ),
        ),
        marks=tuple(str(route.prefix) for route in routes),
    )


def _is_long(route: Route) -> bool:
    return (
        route.inferred is None
        and route.span is not None
        and route.table == MAIN
        and 0 < route.prefix.length <= POOLS[0].length
    )


def _find_cover(routes: Sequence[Route], pool: Prefix) -> Route | None:
    return next((route for route in routes if route.prefix.covers(pool)), None)

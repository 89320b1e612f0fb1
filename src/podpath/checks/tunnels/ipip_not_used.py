"""ipip-not-used: a pool of Calico uses IPIP, but the routes to its blocks bypass the tunnel.

What it is
    An IPPool has `ipipMode: Always`, and `ip route` shows routes of BIRD (`proto bird`) to blocks
    of that pool with a gateway on the host's card, where `dev tunl0 ... onlink` should be.

Why it breaks
    The packets leave with pods' addresses. A router between the nodes, or a cloud's network, does
    not know the pool's range and drops them. The mode was changed and the agent has not picked it
    up, or the routes are left over from before.

How to confirm
    ip route | grep bird; calicoctl get ippool -o yaml; ip -d link show tunl0
    kubectl -n kube-system logs ds/calico-node | grep -i ipip

How to fix
    Restart calico-node on that node. If the routes stay, check that tunl0 is up and has an address,
    and that Felix has IPIP on (FELIX_IPINIPENABLED is not false).

References
    docs.tigera.io, Overlay networking; confd's bird_ipam.cfg template of calico-node
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import ObjectSightings, read_prefix, see
from podpath.checks.told import list_lost
from podpath.net.addresses import Prefix
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.ROUTE_DISTRIBUTION, Category.WRONG_ROUTE)
NAME = "ipip-not-used"


def check(case: Case) -> Iterator[Finding]:
    """Report the first such route, where something is lost."""
    if not list_lost(case):
        return
    for pool in see(case, "IPPool"):
        mode, cidr = pool.at("spec", "ipipMode"), pool.at("spec", "cidr")
        prefix = read_prefix(cidr.text) if cidr is not None else None
        if mode is None or mode.text != "Always" or prefix is None:
            continue
        for route in case.node.host.routes.items:
            if _goes_by_card(route, prefix):
                yield _report(pool, prefix, route)
                return


def _goes_by_card(route: Route, pool: Prefix) -> bool:
    """Tell whether a route of BIRD to a block of the pool has a gateway by another device than an
    IPIP one.
    """
    plain = route.table == MAIN and route.span is not None and route.type == "unicast"
    hops = [hop for hop in route.nexthops if hop.gateway is not None and hop.link is not None]
    within = pool.covers(route.prefix) and route.protocol == "bird"
    return plain and within and bool(hops) and not any(str(hop.link)[:4] == "tunl" for hop in hops)


def _report(pool: ObjectSightings, prefix: Prefix, route: Route) -> Finding:
    hop, mode = route.nexthops[0], pool.at("spec", "ipipMode")
    spans = (route.span, mode.line if mode is not None else None)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The pool {prefix} must always use IPIP, but the route to its block {route.prefix} "
            f"leaves by {hop.link} to {hop.gateway}."
        ),
        evidence=tuple(span for span in spans if span is not None),
        reasoning=("With that mode each route to another node's block leads into tunl0.",),
        breaks=(f"packets to pods of {route.prefix}, where a router between the nodes drops them",),
        repairs=(
            Repair(
                title="restart the agent on that node",
                commands=("kubectl -n kube-system rollout restart ds/calico-node",),
            ),
        ),
        prevention="Restart the agents after a change of the pool's mode.",
        marks=("Always", str(hop.link)),
    )

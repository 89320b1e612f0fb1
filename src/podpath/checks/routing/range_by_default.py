"""range-by-default: only the default route leads to the pods of another node.

What it is
    A node's complete `ip route` has a route to its own pods' bridge, but none to the range of
    another node's pods that are reported unreachable: packets to it take the default route.

Why it breaks
    Only nodes know pods' addresses, unless somebody announces them: a router that does not know
    them drops the packets or sends them to the Internet. A plugin's agent (flannel, Calico's BIRD,
    kube-router) adds a route for each node's range, and lost or never made this one. In clouds that
    route pods themselves (GKE, kubenet with cloud routes), the table looks like this, and the
    cloud's own table has the ranges.

How to confirm
    ip route get POD; ip route show table all | grep RANGE
    kubectl get nodes -o custom-columns=NAME:.metadata.name,CIDR:.spec.podCIDR

How to fix
    Restart the plugin's agent on this node and read its log; or add the route: ip route add RANGE
    via NODE.

References
    flannel, Documentation/backends.md (host-gw, vxlan); fib_table_lookup (net/ipv4/fib_trie.c
    v6.12)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import pods
from podpath.checks.stated import is_inner_bridge
from podpath.checks.told import WORKLOADS, list_lost
from podpath.checks.topology import only_default_rules
from podpath.net.addresses import Prefix, read_address
from podpath.net.complaints import Complaint
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

CATEGORIES = (Category.NO_ROUTE, Category.ROUTE_DISTRIBUTION, Category.CNI_AGENT)
NAME = "range-by-default"
POSSIBLE, LIKELY = 0.5, 0.8
"""The latter where a plugin is spoken of that adds such routes to nodes."""
SIBLINGS = 2
"""Routes to ranges of other nodes that show how such ranges are reached here."""
CLUSTER = 16
"""How long the prefix of a cluster's pods is at least: ranges of nodes lie in one of it."""
_ROUTERS = frozenset({Technology.FLANNEL, Technology.CALICO, Technology.K3S, Technology.WEAVE})
_CLOUDS = frozenset({Technology.AWS, Technology.AZURE, Technology.GCP})


def check(case: Case) -> Iterator[Finding]:
    """Report the first range of pods that is said not to be reached and that has no route."""
    host = case.node.host
    if not host.routes.complete or not only_default_rules(host):
        return
    routes = [one for one in host.routes.items if one.table == MAIN and one.prefix.family == 4]
    own = [one for one in routes if _is_of_pods(one)]
    default = next((one for one in routes if not one.prefix.length and one.span), None)
    for complaint in list_lost(case) if own else ():
        for prefix in _list_wanted(complaint):
            near = next((one for one in own if _is_beside(one.prefix, prefix)), None)
            known = any(one.prefix.length and one.prefix.overlaps(prefix) for one in routes)
            if near is not None and near.span is not None and not known:
                spans = (near.span, *((default.span,) if default and default.span else ()))
                yield _report(case, prefix, spans)
                return
    yield from _check_pods(case, routes, default)


def _check_pods(case: Case, routes: Sequence[Route], default: Route | None) -> Iterator[Finding]:
    """Report the first pod of another node that a table has no route to, which has one by a gateway
    to each of several ranges beside the pod's.
    """
    gatewayed = [one for one in routes if _is_of_node(one)]
    for pod in pods(case) if list_lost(case) and default is not None else ():
        address = read_address(pod.seen.text_at("status", "podIP"))
        line = pod.seen.at("status", "podIP")
        best = max(
            (one for one in routes if address is not None and one.prefix.covers(address)),
            key=lambda one: one.prefix.length,
            default=None,
        )
        if address is None or line is None or best is not default:
            continue
        beside = [
            one
            for one in gatewayed
            if Prefix.of(one.prefix.address, CLUSTER).covers(address) and one.span is not None
        ]
        lengths = {one.prefix.length for one in beside}
        if len(beside) >= SIBLINGS and len(lengths) == 1:
            missing = Prefix.of(address, lengths.pop())
            shown = [one.span for one in (*beside[:SIBLINGS], default) if one is not None]
            spans = (line.line, *(span for span in shown if span is not None))
            yield replace(_report(case, missing, spans), certainty=LIKELY)
            return


def _is_of_node(route: Route) -> bool:
    """Tell whether a route leads to a range of some length by one gateway."""
    hops = route.nexthops
    stated = route.span is not None and route.inferred is None and route.type == "unicast"
    return (
        stated and len(hops) == 1 and hops[0].gateway is not None and route.prefix.length > CLUSTER
    )


def _list_wanted(complaint: Complaint) -> Iterator[Prefix]:
    if not {complaint.source, complaint.target} & WORKLOADS:
        return
    yield from complaint.prefixes
    yield from (Prefix.of(address) for address in complaint.addresses)


def _is_of_pods(route: Route) -> bool:
    link = route.nexthops[0].link if len(route.nexthops) == 1 else None
    return link is not None and is_inner_bridge(link) and route.nexthops[0].gateway is None


def _is_beside(own: Prefix, wanted: Prefix) -> bool:
    """Tell whether two ranges lie in one cluster's network, and not in each other."""
    around = Prefix.of(own.address, CLUSTER)
    return own.length > CLUSTER and around.covers(wanted) and not own.overlaps(wanted)


def _report(case: Case, prefix: Prefix, spans: tuple[Span, ...]) -> Finding:
    likely = bool(case.mentions & _ROUTERS) and not case.mentions & _CLOUDS
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"No route of this node leads to {prefix}: packets to pods there take the default "
            "route."
        ),
        evidence=spans,
        reasoning=("The table is shown in full, and has the route of this node's own pods.",),
        breaks=(f"connections from this node and its pods to {prefix}",),
        prevention="Check that each node has a route to the range of every other node.",
        certainty=LIKELY if likely else POSSIBLE,
        asks=(
            FollowUp(
                f"what should add the route to {prefix}",
                "kubectl get nodes -o custom-columns=NAME:.metadata.name,CIDR:.spec.podCIDR; "
                "kubectl get pods -A -o wide | grep -e flannel -e calico -e kube-router",
                "the plugin's agent: its log says why it did not; the cloud: look at its table",
            ),
        ),
        marks=(str(prefix),),
    )

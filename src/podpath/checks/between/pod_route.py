"""pod-route: a node has no route to another node's pods.

What it is
    Every node routes the pod range of every other node: to that node's address (host-gw, BGP) or
    into a tunnel. On one node this route is missing or leads to the wrong place, while the return
    route, or the route to a third node, exists.

Why it breaks
    Packets for those pods take the default route instead. The router there does not know the pod
    ranges: it drops the packets, sends them to the internet, or sends them back.

How to confirm
    ip route get POD                                   # on the node: does it use the default route?
    kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.spec.podCIDR
    kubectl -n kube-flannel logs DAEMON-POD-OF-THAT-NODE

How to fix
    Add the route the way the other nodes have theirs, and find out why the daemon that maintains it
    did not (flanneld, bird, a cloud's route controller).

References
    flannel pkg/backend/route_network.go; Documentation/backends.md
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.node_ranges import (
    NodeRange,
    RangeRoute,
    addresses_of,
    follow_ranges,
    ranges_of,
)
from podpath.checks.objects import see
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.ROUTE_DISTRIBUTION, Category.NO_ROUTE, Category.WRONG_ROUTE)
NAME = "pod-route"
"""Seen by walks over several nodes, and where the API says which node has which range."""
PREVENTION = (
    "Monitor the daemon that maintains the nodes' routes (flanneld, bird), and start it before "
    "pods are scheduled on a node."
)


def check(case: Case) -> Iterator[Finding]:
    """Report ranges of other nodes that this one routes to a third, or not at all although it
    routes those of others.
    """
    ranges = ranges_of(case)
    followed = follow_ranges(case, ranges)
    homes = {node.name: addresses_of(node) for node in see(case, "Node")}
    owners = {address: name for name, held in homes.items() for address in held}
    for one in followed:
        hops = {hop.gateway for hop in one.route.nexthops if hop.gateway is not None}
        wrong = next((hop for hop in hops if owners.get(hop, one.of.node) != one.of.node), None)
        if wrong is not None:
            yield _report_wrong(one, wrong, owners[wrong], homes[one.of.node])
    routed = {one.of.node for one in followed}
    for lacking in ranges:
        other = lacking.node not in {case.node.name, *routed}
        if other and routed and not _is_routed(case, lacking):
            yield _report_missing(case, lacking, followed[0].span)


def _is_routed(case: Case, wanted: NodeRange) -> bool:
    """Tell whether a route of this node that is no default route holds the range, or a part of
    it.
    """
    return any(
        route.prefix.length
        and (route.prefix.covers(wanted.prefix) or wanted.prefix.covers(route.prefix))
        for route in case.node.host.routes.items
    )


def _report_wrong(
    one: RangeRoute, wrong: Address, holder: str, right: frozenset[Address]
) -> Finding:
    own = sorted(address for address in right if address.family == wrong.family)
    device = next((hop.link for hop in one.route.nexthops if hop.link is not None), None)
    commands = tuple(
        f"ip route replace {one.of.prefix} via {address}{f' dev {device}' if device else ''}"
        for address in own[:1]
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"This node routes {one.of.prefix}, the pod range of {one.of.node}, to {wrong}, which "
            f"is {holder}'s address."
        ),
        evidence=(one.span, one.of.span),
        reasoning=(f"{holder} has none of these pods, and may have no return route.",),
        breaks=(f"connections from this node to pods of {one.of.node}",),
        repairs=(
            (Repair(title=f"route the pods of {one.of.node} to it", commands=commands),)
            if commands
            else ()
        ),
        prevention=PREVENTION,
        certainty=1.0,
        marks=(str(wrong),),
    )


def _report_missing(case: Case, lacking: NodeRange, other: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"This node has no route to {lacking.prefix}, the pod range of {lacking.node}, though "
            "it routes those of other nodes."
        ),
        evidence=(lacking.span, other),
        reasoning=("Packets to these pods leave by the default route, if there is one.",),
        breaks=(f"connections from this node to pods of {lacking.node}",),
        prevention=PREVENTION,
        certainty=1.0 if case.node.host.routes.complete else 0.6,
        marks=(str(lacking.prefix),),
        asks=(
            FollowUp(
                fact="whether the node has a route to them by now",
                command=f"ip route get {lacking.prefix.address}",
                decides="it uses the default route: the route is missing",
            ),
        ),
    )

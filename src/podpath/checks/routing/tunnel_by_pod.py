"""tunnel-by-pod: a route into an IPIP tunnel has a pod's address as its next hop.

What it is
    A route to another node's pods leads into an IPIP device via an address that the ticket names as
    the other end of what fails; it should be a node's address.

Why it breaks
    The next hop of such a route is the outer destination: the node that the tunnel sends the packet
    to. A pod's address is itself behind a tunnel, so nothing is ever sent encapsulated: the packet
    loops within the device or is dropped.

How to confirm
    ip route show dev tunl0; ip -d link show tunl0; ip addr show tunl0
    calicoctl node status; kubectl get nodes -o wide

How to fix
    Let the routing daemon announce the node's address as the next hop (BIRD's source address,
    IP_AUTODETECTION_METHOD), and restart it so that it rewrites the routes.

References
    ipip_tunnel_xmit, ip_tunnel_xmit (net/ipv4/ip_tunnel.c v6.12): the next hop is the outer
    destination
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_lost
from podpath.net.addresses import Address, Prefix
from podpath.net.complaints import Complaint
from podpath.node.case import Case
from podpath.node.routing import Route

CATEGORIES = (Category.WRONG_ROUTE, Category.TUNNEL_ENDPOINT, Category.ROUTE_DISTRIBUTION)
NAME = "tunnel-by-pod"
POD_BITS = 16
"""Bits that the addresses of all pods have in common, and those of nodes have not."""
DEVICES = ("tunl", "ipip")
"""Devices whose next hop is the outer destination: VXLAN's and Cilium's have others."""


def check(case: Case) -> Iterator[Finding]:
    """Report routes whose next hop is an end of what fails."""
    for route in case.node.host.routes.items:
        for hop in route.nexthops:
            if route.span is None or hop.link is None or hop.gateway is None:
                continue
            if not str(hop.link).startswith(DEVICES) or route.prefix.length == 0:
                continue
            ends = (one for one in list_lost(case) if _is_between(one, route, hop.gateway))
            told = next(ends, None)
            if told is not None:
                sure = _is_pods(case, told, hop.gateway)
                yield _report(route, hop.gateway, told, sure=sure)
                return


def _is_pods(case: Case, told: Complaint, gateway: Address) -> bool:
    """Tell whether an address is a pod's: a route to pods holds it, or the sentence names the
    nodes of both ends beside it, in another range.
    """
    for route in case.node.host.routes.items:
        links = [str(hop.link) for hop in route.nexthops if hop.link is not None]
        inner = any(link.startswith((*DEVICES, "cali")) for link in links)
        if inner and route.prefix.length and route.prefix.covers(gateway):
            return True
    own = Prefix.of(gateway, POD_BITS)
    return sum(not own.covers(one) for one in set(told.addresses)) > 1


def _is_between(complaint: Complaint, route: Route, gateway: Address) -> bool:
    """Tell whether what fails goes between the route's range and its own next hop."""
    named = set(complaint.addresses)
    covered = {one for one in named if one.family == 4 and route.prefix.covers(one)}
    alike = any(Prefix.of(one, POD_BITS).covers(gateway) for one in covered)
    return gateway in named and alike and gateway not in covered


def _report(route: Route, gateway: Address, told: Complaint, *, sure: bool) -> Finding:
    spans = [span for span in (route.span, told.span) if span is not None]
    ask = FollowUp(
        f"whether {gateway} is a node's address or a pod's",
        "kubectl get nodes -o wide; kubectl get pods -A -o wide; ip route",
        "a pod's: nothing is ever sent through the tunnel; a node's: look at the path between "
        "the nodes",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The route to {route.prefix} leads into a tunnel via {gateway}, which is an end of "
            "the failing connection and not a node's address: nothing is ever sent through the "
            "tunnel."
        ),
        evidence=tuple(spans),
        reasoning=("The next hop of a route into a tunnel is the node that decapsulates it.",),
        breaks=(f"packets to {route.prefix}, including replies",),
        prevention="Check that next hops of pod ranges are addresses of nodes.",
        certainty=1.0 if sure else 0.6,
        asks=() if sure else (ask,),
        marks=(str(gateway),),
    )

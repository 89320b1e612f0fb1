"""balancer-address-on-node: kube-proxy in IPVS mode gives the node a load balancer's address, so
packets from it are refused.

What it is
    kube-ipvs0 carries a public address: that of a service of type LoadBalancer.

Why it breaks
    One of the node's own addresses is not a valid source for an incoming packet: the kernel drops
    it as a martian (no log unless log_martians is on). A load balancer whose health probes or
    forwarded packets come from its own address finds the node dead, and clients time out
    intermittently.

How to confirm
    ip addr show kube-ipvs0; ip route show table local | grep kube-ipvs0
    tcpdump -ni DEVICE src host ADDRESS

How to fix
    Let the balancer probe from another address; set accept_local=1 on the uplink; use kube-proxy's
    iptables or nftables mode; or let the controller give a host name in the service's status
    instead of the address (ipMode: Proxy).

References
    __fib_validate_source (net/ipv4/fib_frontend.c v6.12); KEP-1860
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import ip_address

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.told import find_told, list_lost
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance
from podpath.net.provenance import Span, list_spans
from podpath.node.case import Case
from podpath.node.routing import LOCAL, Route

CATEGORIES = (
    Category.IPVS,
    Category.LOAD_BALANCER,
    Category.REVERSE_PATH_FILTER,
)
NAME = "balancer-address-on-node"


def _is_balancers(address: Address, told: Span | None) -> bool:
    """Tell whether an address may be a balancer's: a public one, or the one that people say probes
    come from.
    """
    named = told is not None and str(address) in re.findall(r"[0-9a-f.:]*[0-9a-f]", told.text)
    return named or ip_address(str(address)).is_global


def _is_own(route: Route) -> bool:
    """Tell whether a route makes an address one of the node's own, on kube-ipvs0."""
    local = route.type == "local" and route.table == LOCAL and route.span is not None
    return local and any(hop.link == "kube-ipvs0" for hop in route.nexthops)


def check(case: Case) -> Iterator[Finding]:
    """Report on kube-ipvs0 public addresses, and those that people say probes come from."""
    told = find_told(case, Circumstance.PROBED_BY_BALANCER)
    held = [
        item
        for item in case.node.host.addresses.items
        if item.link == "kube-ipvs0" and item.span is not None and _is_balancers(item.address, told)
    ]
    listed = [
        route
        for route in case.node.host.routes.items
        if _is_own(route) and _is_balancers(route.prefix.address, told)
    ]
    names = dict.fromkeys(
        [*(str(item.address) for item in held), *(str(route.prefix.address) for route in listed)]
    )
    spans = [
        *list_spans(listed),
        *list_spans(held),
    ]
    probing = _find_probes(case, frozenset(names))
    if not spans:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The node holds the load balancer's address {', '.join(names)} on kube-ipvs0: packets "
            "from it are dropped."
        ),
        evidence=(*spans, *probing),
        reasoning=(
            "The kernel drops a packet from outside whose source is one of its own addresses.",
        ),
        breaks=("health probes and packets whose source is the balancer's address",),
        prevention="Use ipMode: Proxy, or kube-proxy's nftables mode.",
        certainty=1.0 if probing else 0.6,
        marks=tuple(names),
    )


def _find_probes(case: Case, held: frozenset[str]) -> tuple[Span, ...]:
    """Return what shows that packets come from such an address: a capture of them, or the words of
    people who say that probes do, and that something is lost.
    """
    shown = (seen.span for seen in case.sightings if str(seen.packet.src) in held)
    first = next(shown, None)
    if first is None and list_lost(case):
        first = find_told(case, Circumstance.PROBED_BY_BALANCER)
    return () if first is None else (first,)

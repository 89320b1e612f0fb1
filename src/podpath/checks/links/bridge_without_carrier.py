"""bridge-without-carrier: the bridge that pods or containers are to be on has no port that is up.

What it is
    A listing shows the bridge (cni0, docker0, br-...) with NO-CARRIER, or its route with
    `linkdown`, and what fails is an address of the bridge's own network.

Why it breaks
    A bridge that had ports has a carrier while one of them has one. Without it, no container is
    attached to it: NetworkManager or systemd-networkd took their host ends (veth...) out of it, or
    the bridge was deleted and created again under the same name. Nobody answers there.

How to confirm
    bridge link; ip link show master BRIDGE; ip -br link show type veth

How to fix
    Put the host ends back (ip link set VETH master BRIDGE), or recreate the pods; keep others from
    managing veth devices (unmanaged-devices=interface-name:veth*, or a .network file with
    Unmanaged=yes).

References
    br_port_carrier_check, netdev_update_upper (net/bridge/br_if.c v6.12); networkd.conf(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import failures
from podpath.checks.stated import is_inner_bridge
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.routing import Route

CATEGORIES = (Category.BRIDGE_CONFIGURATION, Category.LINK_DOWN, Category.NETWORK_MANAGER)
NAME = "bridge-without-carrier"
_LOST = frozenset({
    FailureKind.NO_ROUTE_TO_HOST, FailureKind.TIMEOUT, FailureKind.UNREACHABLE,
})  # fmt: skip


def check(case: Case) -> Iterator[Finding]:
    """Report the first bridge without a carrier whose own network holds what fails."""
    for route in case.node.host.routes.items:
        hop = route.nexthops[0] if len(route.nexthops) == 1 else None
        if hop is None or hop.gateway is not None or not is_inner_bridge(hop.link or ""):
            continue
        down = _find_down(case, route, str(hop.link))
        lost = next(
            (
                one
                for one in failures(case)
                if one.result in _LOST and route.prefix.covers(one.dst) and route.prefix.length
            ),
            None,
        )
        if down is not None and lost is not None and not case.node.host.holds(lost.dst):
            yield _report(str(hop.link), route, (down, lost.span))
            return


def _find_down(case: Case, route: Route, name: str) -> Span | None:
    """Return the line that shows a bridge without a carrier."""
    if route.nexthops[0].linkdown and route.span is not None:
        return route.span
    for link in case.node.host.links.items:
        if link.name == name and link.span is not None and not link.carrier:
            return link.span
    return None


def _report(bridge: str, route: Route, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{bridge} has no carrier: none of its ports is up, so no address in {route.prefix} "
            "can be reached through it."
        ),
        evidence=spans,
        reasoning=("A bridge has a carrier as long as one of its ports has one.",),
        breaks=(f"everything to and from {route.prefix} on this host",),
        prevention="Keep systemd-networkd and NetworkManager from managing bridges and veths.",
        marks=(bridge,),
    )

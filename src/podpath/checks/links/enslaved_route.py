"""enslaved-route: a route uses a device that belongs to a bond or bridge.

What it is
    A network card that is a slave of a bond, a bridge port or an Open vSwitch port still has its
    own route, most often 169.254.0.0/16. Among equal prefixes the kernel picks the lowest metric,
    so a route left on the slave can beat the one on the device that carries the host's address.

Why it breaks
    Packets that take this route leave through the slave and bypass the bond. Before the first
    packet, the kernel sends an ARP request for the destination, with the slave's MAC as the sender
    MAC and (because the slave has no address) one of the host's addresses as the sender address.
    Every switch and neighbor that hears it learns the host's address with the slave's MAC. Frames
    to the host then carry a MAC that the bond does not accept, and are lost until the host sends
    something with its own MAC again. See foreign-arp.

How to confirm
    ip -4 route show table all | grep -E 'dev (SLAVES)'
    ip route get 169.254.169.254           # the device shown must not be a slave
    ip -d link show DEVICE                 # `master ...`; or: ovs-vsctl show, ovs-appctl bond/show

How to fix
    ip route del PREFIX dev SLAVE metric METRIC, for each slave. Keep it from coming back: the
    network scripts of RHEL and CentOS add 169.254.0.0/16 with metric 1000 + ifindex for each card
    that they bring up; NOZEROCONF=yes in /etc/sysconfig/network stops that. With NetworkManager or
    systemd-networkd, turn link-local addressing off for the slaves (LinkLocalAddressing=no), and
    run no DHCP client on them.

References
    fib_table_lookup (net/ipv4/fib_trie.c), arp_solicit (net/ipv4/arp.c), inet_select_addr
    (net/ipv4/devinet.c) RFC 3927 (IPv4 link-local addresses)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import Enslaved, find_enslaved, find_link
from podpath.net.addresses import IfName
from podpath.net.provenance import Basis, Inferred
from podpath.node.case import Case
from podpath.node.links import Link
from podpath.node.node import HOST, Node
from podpath.node.routing import LOCAL, MAIN, Route

CATEGORIES = (Category.WRONG_ROUTE, Category.BONDING, Category.BRIDGE_CONFIGURATION)
NAME = "enslaved-route"


class SlaveRoute(NamedTuple):
    """A route over an enslaved device, and the routes to the same prefix that it competes with."""

    route: Route
    link: Link
    enslaved: Enslaved
    better: tuple[Route, ...]
    """Routes to the same prefix that win over it."""
    beaten: tuple[Route, ...]
    """Routes to the same prefix that it wins over."""

    @property
    def wins(self) -> bool:
        """Tell whether packets go by this route."""
        return not self.better


def check(case: Case) -> Iterator[Finding]:
    """Report each prefix for which a route over an enslaved device wins."""
    slaves = list(find_slave_routes(case.node))
    for found in slaves:
        if found.wins:
            yield report(
                found, [other for other in slaves if other.route.prefix == found.route.prefix]
            )


def find_slave_routes(node: Node) -> Iterator[SlaveRoute]:
    """Yield every unicast route of the host's main table that leads over an enslaved device."""
    routes = [
        route
        for route in node.host.routes.items
        if route.table == MAIN and route.type == "unicast" and _is_own(route)
    ]
    for route in routes:
        link = _find_device(node, route)
        enslaved = find_enslaved(node, link) if link is not None else None
        if link is None or enslaved is None:
            continue
        rivals = [
            other
            for other in routes
            if other is not route and (other.prefix, other.tos) == (route.prefix, route.tos)
        ]
        yield SlaveRoute(
            route,
            link,
            enslaved,
            tuple(other for other in rivals if other.metric < route.metric),
            tuple(other for other in rivals if other.metric > route.metric),
        )


def report(found: SlaveRoute, siblings: list[SlaveRoute]) -> Finding:
    """Make the finding of a route that wins, with a repair that takes all slaves' routes to its
    prefix away.
    """
    route, link = found.route, found.link
    of_siblings = [id(sibling.route) for sibling in siblings]
    rightful = [other for other in found.beaten if id(other) not in of_siblings]
    spans = [one.span for one in (route, *found.beaten) if one.span is not None]
    reasons = [f"{link.name} is {found.enslaved.how}: it must not have its own route."]
    if rightful:
        devices = ", ".join(f"{_device(other)} (metric {other.metric})" for other in rightful)
        reasons.append(
            f"The route over {link.name} has metric {route.metric}, lower than the one over "
            f"{devices}, so it wins."
        )
    reasons.append(
        f"An ARP request for an address of {route.prefix} leaves {link.name} with {_sender(found)} "
        "as the sender: neighbours learn the host's address there."
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The route to {route.prefix} over {link.name} wins although {link.name} is "
            f"{found.enslaved.how}."
        ),
        evidence=tuple(dict.fromkeys((*spans, *found.enslaved.spans))),
        reasoning=tuple(reasons),
        breaks=(
            (
                f"traffic to {route.prefix}, and frames to the host itself once neighbors have "
                "learned the wrong MAC"
            ),
        ),
        repairs=(repair([sibling.route for sibling in siblings]),),
        prevention=PREVENTION,
        marks=(str(route.metric), link.name),
    )


PREVENTION = (
    "Stop whatever adds the route when the slave comes up: NOZEROCONF=yes in "
    "/etc/sysconfig/network (network scripts), LinkLocalAddressing=no (systemd-networkd), "
    "ipv4.method disabled (NetworkManager); and run no DHCP client on slaves."
)


def _sender(found: SlaveRoute) -> str:
    """Say which MAC and address an ARP request by the route carries."""
    address = found.route.prefsrc
    return (
        f"{found.link.mac or 'its MAC'} and "
        f"{address if address is not None else 'an address of the host'}"
    )


def repair(routes: list[Route]) -> Repair:
    """Return the repair that takes the routes away."""
    from podpath.node.change import DeleteRoute  # noqa: PLC0415 - slow to load

    return Repair(
        title="delete the routes of the enslaved devices",
        commands=tuple(f"ip route del {spell_route(route)}" for route in routes),
        changes=tuple(DeleteRoute(netns=HOST, route=route) for route in routes),
    )


def spell_route(route: Route) -> str:
    """Spell a route as `ip route del` takes it."""
    hop = route.nexthops[0] if route.nexthops else None
    words = [str(route.prefix)]
    if hop is not None and hop.gateway is not None:
        words.append(f"via {hop.gateway}")
    if hop is not None and hop.link is not None:
        words.append(f"dev {hop.link}")
    if route.metric:
        words.append(f"metric {route.metric}")
    if route.table != MAIN:
        words.append(f"table {'local' if route.table == LOCAL else route.table}")
    return " ".join(words)


def _is_own(route: Route) -> bool:
    """Tell whether a route says something of its device: every device has IPv6's link-local one,
    enslaved or not.
    """
    return not (route.prefix.family == 6 and route.prefix.address.is_link_local)


def _find_device(node: Node, route: Route) -> Link | None:
    name = _device(route)
    if name is None:
        return None
    return find_link(node.host, name) or Link(
        name=name, inferred=Inferred(Basis.SHOWN, "a route uses it", route.span)
    )


def _device(route: Route) -> IfName | None:
    return route.nexthops[0].link if route.nexthops else None

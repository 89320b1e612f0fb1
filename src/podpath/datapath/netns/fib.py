"""One routing table: the best route for a destination, as `fib_table_lookup` finds it.

The longest prefix wins; among equal ones the kernel goes down a list that is sorted by TOS (a set
one first), metric, and order of insertion, and takes the first route whose TOS fits and of which
one nexthop is usable (`net/ipv4/fib_trie.c:fib_table_lookup v6.12`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from podpath.datapath.reasons import near
from podpath.datapath.reasons.routes import Lookup, NoRoute, PolicyRuleRefuses, RouteRefuses
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.tracing.trace import NearMiss
from podpath.net.addresses import WIDTH, Address, Family
from podpath.net.provenance import Inferred, Span
from podpath.net.watched import is_watched
from podpath.node.routing import LOCAL, Nexthop, PolicyRule, Route

ERRORS: dict[str, str] = {
    "blackhole": "EINVAL", "unreachable": "EHOSTUNREACH", "prohibit": "EACCES", "throw": "EAGAIN",
    "nat": "EINVAL", "xresolve": "EINVAL",
}  # fmt: skip
"""Route types that end a lookup with an error (`net/ipv4/fib_semantics.c:fib_props v6.12`)."""

Destinations = dict[tuple[int, int, int], Destination]
"""What routes lead to, by the identities of route, nexthop and policy rule: made once for a
node.
"""


TOS_MASK = 0x1C
"""What routes and rules see of a packet's TOS: not its precedence (`fib_dscp_masked_match`;
IPTOS_RT_MASK before v6.13).
"""


class FlowKey(NamedTuple):
    """What a lookup goes by: `struct flowi4`."""

    dst: Address
    src: Address | None = None
    iif: str = "lo"
    """`lo` for what the host sends itself."""
    oif: str | None = None
    mark: int = 0
    tos: int = 0
    protocol: int = 0
    sport: int = 0
    dport: int = 0
    uid: int = 0


class FibResult(NamedTuple):
    """What a lookup found: `struct fib_result`, or its error."""

    error: str = ""
    """The error number's name: `ENETUNREACH` where no route fits, else the route type's; empty for
    a usable route.
    """
    route: Route | None = None
    nexthops: tuple[Nexthop, ...] = ()
    """Those that are usable; more than one: the kernel chooses by a hash."""
    rule: PolicyRule | None = None
    spans: tuple[Span, ...] = ()
    near: tuple[NearMiss, ...] = ()
    """Routes for the same prefix that lost."""
    assumed: Inferred | None = None
    """That no route fits better, where the listing of routes is cut."""

    @property
    def type(self) -> str:
        """The route's type; `unreachable` where there is none."""
        if self.route is not None:
            return self.route.type
        return "unreachable"

    @property
    def rests_on(self) -> Inferred | None:
        """Return how the route is known, where no listing states that it is the one."""
        return self.assumed or (self.route.inferred if self.route is not None else None)


NO_ROUTE = FibResult("ENETUNREACH")


def explain_error(dst: Address, found: FibResult) -> Lookup:
    """Say why a lookup ended with an error."""
    if found.route is not None:
        return RouteRefuses(dst, found.route.type)
    if found.rule is not None:
        return PolicyRuleRefuses(dst, found.rule.priority)
    return NoRoute(dst)


class FibTable:
    """The routes of one table and family, by prefix length."""

    __slots__ = ("_levels", "_numbers")

    def __init__(self, family: Family, routes: Iterable[Route]) -> None:
        """Sort routes as the kernel lists them; equal ones keep the order that they are given
        in.
        """
        levels: dict[int, dict[int, list[Route]]] = {}
        for route in routes:
            levels.setdefault(route.prefix.length, {}).setdefault(route.prefix.network, []).append(
                route
            )
        width = WIDTH[family]
        self._levels: list[tuple[int, dict[int, tuple[Route, ...]]]] = []
        """Shift of the destination, and the routes by what is left of it; the longest prefixes
        first.
        """
        for length, level in sorted(levels.items(), reverse=True):
            shift = width - length
            ranked = {
                network >> shift: tuple(sorted(group, key=_rank))
                for network, group in level.items()
            }
            self._levels.append((shift, ranked))
        self._numbers: list[tuple[int, list[int]]] | None = None
        """The same networks in order, for whoever watches a lookup."""

    def lookup(
        self, value: int, tos: int, oif: str | None, unusable: Container[str]
    ) -> FibResult | None:
        """Return the best route for a destination, or None; `unusable` holds devices whose
        `linkdown` nexthops do not count.
        """
        if is_watched(value):
            value = self._note(value)
        for shift, routes in self._levels:
            group = routes.get(value >> shift)
            if group is None:
                continue
            for position, route in enumerate(group):
                if route.tos and route.tos != tos & TOS_MASK:
                    continue
                error = ERRORS.get(route.type)
                if error is not None:
                    return FibResult(
                        error, route, (), None, _spans(route), _near(group, position, tos)
                    )
                usable = tuple(hop for hop in route.nexthops if _usable(hop, oif, unusable))
                if usable or not route.nexthops:
                    return FibResult(
                        "", route, usable, None, _spans(route), _near(group, position, tos)
                    )
        return None

    def _note(self, value: Any) -> int:  # noqa: ANN401 - a watched number
        """Note of a watched destination which prefixes of the table it is in and not in."""
        if self._numbers is None:
            self._numbers = [(shift, sorted(routes)) for shift, routes in self._levels]
        for shift, networks in self._numbers:
            part = value >> shift
            if is_watched(part):
                part.is_one_of(networks)
        number: int = value.peek()
        return number


def _rank(route: Route) -> tuple[int, int, int]:
    return -(route.table == LOCAL), -route.tos, route.metric


def _usable(hop: Nexthop, oif: str | None, unusable: Container[str]) -> bool:
    """Do as `fib_lookup_good_nhc` does."""
    if hop.dead or (hop.linkdown and hop.link in unusable):
        return False
    return oif is None or hop.link == oif


def _spans(route: Route) -> tuple[Span, ...]:
    return (route.span,) if route.span is not None else ()


def _near(group: tuple[Route, ...], position: int, tos: int) -> tuple[NearMiss, ...]:
    """Name the routes for the same prefix that lost to the one at `position`."""
    if len(group) == 1:
        return ()
    best = group[position]
    return tuple(
        NearMiss(route.span, _why_lost(route, best, before=index < position, tos=tos))
        for index, route in enumerate(group)
        if index != position and route.span is not None
    )


def _why_lost(route: Route, best: Route, *, before: bool, tos: int) -> near.NearReason:
    if before:
        if route.tos and route.tos != tos & TOS_MASK:
            return near.OtherTos(route.tos)
        return near.DeviceUnusable()
    if route.metric != best.metric:
        return near.MetricLoses(route.metric, best.metric)
    return near.LaterAmongEquals()

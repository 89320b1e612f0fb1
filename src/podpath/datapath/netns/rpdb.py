"""The routing policy database: which table a packet's route is looked up in, and the route found
there.

Rules are tried by priority (`net/core/fib_rules.c:fib_rules_lookup v6.12`). A namespace that never
had rules of its own skips them: its local and main tables share one trie, in which the longest
prefix wins over both (`include/net/ip_fib.h:fib_lookup v6.12`,
`net/ipv4/fib_trie.c:fib_trie_unmerge v6.12`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from podpath.datapath.netns.fib import NO_ROUTE, TOS_MASK, FibResult, FibTable, FlowKey
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.net.addresses import Family
from podpath.net.provenance import Known, Span
from podpath.net.watched import Watched
from podpath.node.node import Netns
from podpath.node.routing import DEFAULT, DEFAULT_RULES, LOCAL, MAIN, PolicyRule, Route

ACTION_ERRORS = {"unreachable": "ENETUNREACH", "prohibit": "EACCES", "blackhole": "EINVAL"}
"""Rule actions that end a lookup (`net/ipv4/fib_rules.c:fib4_rule_action v6.12`)."""

_REMEMBERED = 1 << 16
"""Lookups kept; a node has far fewer destinations, a scan may have more."""
_NEVER_KEPT = frozenset({DrawnPort, Watched})
"""What stands for more than one number: a key would be one of them."""


class Rpdb:
    """The policy rules and tables of one family in one namespace."""

    __slots__ = (
        "_found",
        "_key",
        "_netns",
        "_positions",
        "_read_alone",
        "_routes",
        "_unread",
        "_unusable",
        "complete",
        "custom",
        "cut",
        "family",
        "local",
        "rules",
        "tables",
    )

    def __init__(self, netns: Netns, family: Family, routes: Iterable[Route]) -> None:
        """Compile rules and tables."""
        self.family = family
        self.rules = _rules_of(netns, family)
        self._unread = tuple(rule for rule in self.rules if rule.unread)
        self._positions = _first_of_each_priority(self.rules)
        """The first rule of each priority, for `goto`."""
        self.custom = list(map(_essence, self.rules)) != list(map(_essence, DEFAULT_RULES[family]))
        """`fib_has_custom_rules`. Once a namespace had rules its tables stay apart; evidence does
        not show that.
        """
        self.complete = netns.routes.complete
        self.cut = netns.routes.cut
        self._netns = netns
        self._routes = tuple(routes)
        self._read_alone: Rpdb | None = None
        apart = self.custom or family == 6
        self.tables = {
            number: FibTable(family, group)
            for number, group in _by_table(self._routes, apart=apart).items()
        }
        self.local = self.tables.get(LOCAL if apart else MAIN)
        """Where `inet_addr_type` looks."""
        self._unusable = _ignored_links(netns)
        self._key = _signature(self.rules) if self.custom else _plain_signature
        self._found: dict[tuple[object, ...], FibResult] = {}

    @property
    def read_alone(self) -> Rpdb:
        """Return the same without the routes that hold attributes which nobody knows."""
        if self._read_alone is None:
            stated = [route for route in self._routes if not route.unread]
            self._read_alone = Rpdb(self._netns, self.family, stated)
        return self._read_alone

    def doubted(self, flow: FlowKey) -> tuple[PolicyRule, ...]:
        """Return the rules with a selector that nobody knows, which the flow meets as far as is
        known.
        """
        return tuple(rule for rule in self._unread if _selectors_match(rule, flow))

    def lookup(
        self, flow: FlowKey, *, ignore_linkstate: bool = False, met: Collection[PolicyRule] = ()
    ) -> FibResult:
        """Return the route for a flow, `NO_ROUTE` where there is none (`fib_lookup`).

        `met` are those of the `doubted` rules whose selectors are taken to be met.
        """
        if self._unread or _NEVER_KEPT & {type(flow.sport), type(flow.dport), type(flow.dst.value)}:
            return self._look(flow, () if ignore_linkstate else self._unusable, met)
        key = (*self._key(flow), ignore_linkstate)
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            found = self._found[key] = self._look(flow, () if ignore_linkstate else self._unusable)
        return found

    def _look(
        self, flow: FlowKey, unusable: Iterable[str], met: Collection[PolicyRule] = ()
    ) -> FibResult:
        if self.custom or self.family == 6:
            return self._by_rules(flow, frozenset(unusable), met)
        for number in (MAIN, DEFAULT):
            table = self.tables.get(number)
            if table is not None:
                found = table.lookup(flow.dst.value, flow.tos, flow.oif, frozenset(unusable))
            else:
                found = None
            if found is not None and found.error != "EAGAIN":
                return found
        return NO_ROUTE

    def _by_rules(
        self, flow: FlowKey, unusable: frozenset[str], met: Collection[PolicyRule]
    ) -> FibResult:
        position = 0
        for _ in range(4 * len(self.rules)):
            if position >= len(self.rules):
                break
            rule = self.rules[position]
            position += 1
            if not match_rule(rule, flow, met):
                continue
            if rule.action == "goto":
                position = self._positions.get(rule.goto or 0, position)
            elif rule.action != "nop":
                found = self._act(rule, flow, unusable)
                if found is not None:
                    return found
        return NO_ROUTE

    def _act(self, rule: PolicyRule, flow: FlowKey, unusable: frozenset[str]) -> FibResult | None:
        """Do what a matching rule says; None where the lookup goes on with the next one."""
        line = () if rule.span is None or _essence(rule) in _DEFAULTS else (rule.span,)
        error = ACTION_ERRORS.get(rule.action)
        if error is not None:
            return FibResult(error, None, (), rule, line)
        table = self.tables.get(rule.table)
        if table is not None:
            found = table.lookup(flow.dst.value, flow.tos, flow.oif, unusable)
        else:
            found = None
        if found is None or found.error == "EAGAIN":
            return None
        if not found.error and _suppressed(rule, found):
            return None
        return found._replace(rule=rule, spans=_join(found.spans, line))


def _rules_of(netns: Netns, family: Family) -> tuple[PolicyRule, ...]:
    """Return a namespace's rules in the order in which they are tried; the kernel's where none of
    the family is listed.
    """
    own = [rule for rule in netns.rules.items if rule.family == family]
    return tuple(sorted(own or DEFAULT_RULES[family], key=lambda rule: rule.priority))


def _first_of_each_priority(rules: Sequence[PolicyRule]) -> dict[int, int]:
    first: dict[int, int] = {}
    for place, rule in enumerate(rules):
        first.setdefault(rule.priority, place)
    return first


def _by_table(routes: Iterable[Route], *, apart: bool) -> dict[int, list[Route]]:
    tables: dict[int, list[Route]] = {}
    for route in routes:
        tables.setdefault(_merged(route.table, apart=apart), []).append(route)
    return tables


def _join(first: tuple[Span, ...], second: tuple[Span, ...]) -> tuple[Span, ...]:
    return first + second if second else first


def _suppressed(rule: PolicyRule, found: FibResult) -> bool:
    return (
        rule.suppress_prefixlength is not None
        and found.route is not None
        and found.route.prefix.length <= rule.suppress_prefixlength
    )


def match_rule(rule: PolicyRule, flow: FlowKey, met: Collection[PolicyRule] = ()) -> bool:
    """Tell whether a flow meets every selector of a rule, or misses one of a negated rule
    (`fib_rule_match`).
    """
    matches = _selectors_match(rule, flow) and (not rule.unread or rule in met)
    return matches != rule.negated


_TOS_MASKS = {4: TOS_MASK, 6: 0xFC}
"""IPv6's rules look at all of the DSCP (`net/ipv6/fib6_rules.c:fib6_rule_match v6.12`)."""


def _selectors_match(rule: PolicyRule, flow: FlowKey) -> bool:
    if rule.l3mdev:
        return False  # no device is in a VRF here: a walk that meets one is Undecided
    if (
        rule.src is not None
        and rule.src.length
        and (flow.src is None or not rule.src.covers(flow.src))
    ):
        return False
    if rule.dst is not None and not rule.dst.covers(flow.dst):
        return False
    if (rule.iif is not None and rule.iif != flow.iif) or (
        rule.oif is not None and rule.oif != flow.oif
    ):
        return False
    if rule.mark is not None and (rule.mark.value ^ flow.mark) & rule.mark.mask:
        return False
    if (rule.tos and rule.tos != flow.tos & _TOS_MASKS[rule.family]) or (
        rule.protocol and rule.protocol != flow.protocol
    ):
        return False
    if (rule.sport is not None and flow.sport not in rule.sport) or (
        rule.dport is not None and flow.dport not in rule.dport
    ):
        return False
    return rule.uids is None or flow.uid in rule.uids


def _essence(rule: PolicyRule) -> tuple[object, ...]:
    selects = (
        rule.negated,
        rule.src if rule.src and rule.src.length else None,
        rule.dst if rule.dst and rule.dst.length else None,
        rule.iif,
        rule.oif,
        rule.mark,
        rule.tos or None,
        rule.protocol or None,
        rule.sport,
        rule.dport,
        rule.uids,
        rule.l3mdev,
        rule.goto,
        rule.suppress_prefixlength,
        rule.unread,
    )
    return rule.family, rule.priority, rule.action, rule.table, selects


_DEFAULTS = frozenset(_essence(rule) for rules in DEFAULT_RULES.values() for rule in rules)


def _merged(table: int, *, apart: bool) -> int:
    if table == LOCAL and not apart:
        return MAIN
    return table


def _ignored_links(netns: Netns) -> frozenset[str]:
    """Return the devices whose routes do not count while their carrier is down
    (`ip_ignore_linkdown`; known values only).
    """

    def is_on(name: str) -> bool:
        own = netns.sysctls.get(f"net.ipv4.conf.{name}.ignore_routes_with_linkdown")
        return isinstance(own, Known) and own.value == "1"

    everywhere = is_on("all")
    names = {link.name for link in netns.links.items}
    return frozenset(name for name in names if everywhere or is_on(name))


def _plain_signature(flow: FlowKey) -> tuple[object, ...]:
    return flow.dst.value, flow.tos, flow.oif


def _signature(rules: Iterable[PolicyRule]) -> Callable[[FlowKey], tuple[object, ...]]:
    """Return what of a flow the rules look at, so that lookups that cannot differ are made once."""
    used = {"dst", "tos", "oif"}
    for rule in rules:
        for field, value in (
            ("src", rule.src),
            ("iif", rule.iif),
            ("mark", rule.mark),
            ("protocol", rule.protocol),
            ("sport", rule.sport),
            ("dport", rule.dport),
            ("uid", rule.uids),
        ):
            if value is not None:
                used.add(field)
    indexes = tuple(index for index, field in enumerate(FlowKey._fields) if field in used)
    return lambda flow: tuple(flow[index] for index in indexes)

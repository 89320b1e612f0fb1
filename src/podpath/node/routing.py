"""Routes and policy rules, as the kernel's FIB and RPDB hold them."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.addresses import Address, Family, IfName, MaskedMark, PortRange, Prefix
from podpath.net.provenance import Basis, Inferred, Span

TABLES: dict[str, int] = {"unspec": 0, "default": 253, "main": 254, "local": 255}
"""Names that every iproute2 knows for table numbers."""
MAIN, LOCAL, DEFAULT = 254, 255, 253
MADE_UP = 0xFF000000
"""Numbers from here on stand for names of tables that no output translates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nexthop:
    """One way on."""

    link: IfName | None = None
    gateway: Address | None = None
    """None: the destination itself is on the link."""
    weight: int = 1
    onlink: bool = False
    dead: bool = False
    linkdown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route. The best one has the longest prefix, then the same TOS, then the lowest metric."""

    prefix: Prefix
    type: str = "unicast"
    """`unicast`, `local`, `broadcast`, `blackhole`, `unreachable`, `prohibit`, `throw`, `nat`,
    `anycast`, `multicast`.
    """
    nexthops: tuple[Nexthop, ...] = ()
    table: int = MAIN
    metric: int = 0
    prefsrc: Address | None = None
    scope: str = "global"
    protocol: str = ""
    tos: int = 0
    mtu: int | None = None
    mtu_locked: bool = False
    advmss: int | None = None
    """The MSS that connections by this route offer, where it says one."""
    unread: str = ""
    """Attributes that nobody knows: whether the route counts for what it fits is not known."""
    span: Span | None = None
    inferred: Inferred | None = None
    """Why it is taken to exist where no listing shows it: an address implies its connected and
    local routes.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """A rule of the routing policy database (`ip rule`)."""

    family: Family
    priority: int
    negated: bool = False
    src: Prefix | None = None
    dst: Prefix | None = None
    iif: IfName | None = None
    oif: IfName | None = None
    mark: MaskedMark | None = None
    tos: int | None = None
    protocol: int | None = None
    sport: PortRange | None = None
    dport: PortRange | None = None
    uids: PortRange | None = None
    l3mdev: bool = False
    action: str = "lookup"
    """`lookup`, `goto`, `nop`, `blackhole`, `unreachable`, `prohibit`."""
    table: int = MAIN
    goto: int | None = None
    suppress_prefixlength: int | None = None
    """A route of this prefix length or shorter does not count."""
    unread: str = ""
    """Selectors that nobody knows: whether the rule counts for what meets all others is not
    known.
    """
    span: Span | None = None
    inferred: Inferred | None = None


_DEFAULT = Inferred(Basis.IMPLIED, "every namespace starts with it")
DEFAULT_RULES: dict[Family, tuple[PolicyRule, ...]] = {
    4: (
        PolicyRule(family=4, priority=0, table=LOCAL, inferred=_DEFAULT),
        PolicyRule(family=4, priority=32766, table=MAIN, inferred=_DEFAULT),
        PolicyRule(family=4, priority=32767, table=DEFAULT, inferred=_DEFAULT),
    ),
    6: (
        PolicyRule(family=6, priority=0, table=LOCAL, inferred=_DEFAULT),
        PolicyRule(family=6, priority=32766, table=MAIN, inferred=_DEFAULT),
    ),
}
"""What `fib_default_rules_init` (net/ipv4/fib_rules.c) and `fib6_rules_net_init` put in a new
namespace.
"""

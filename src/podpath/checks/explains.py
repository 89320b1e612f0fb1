"""Which failures a fault can make: how a packet ends, what the kernel then tells who sent it, and
so what its user meets.

One table says what each way to end a packet looks like to a program (`FELT`), seen on a real
kernel, row by row, by `tests/kernel/test_felt.py`. Everything else is drawn from it: which ways a
sort of fault takes (`WAYS`), and so which failures a finding can make. A silent drop never refuses,
and a port without listener never says that there is no route.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from types import MappingProxyType

from podpath.checks.category import Category
from podpath.net import protocols
from podpath.net.failures import FailureKind as Kind


class PacketEnd(Enum):
    """How a connection's first packet, or the answer to it, ends."""

    LOST = auto()
    """Dropped silently, anywhere behind the sender's own output: forwarding off, a DROP,
    rp_filter, a lost answer.
    """
    DROPPED_BY_SENDER = auto()
    """Dropped by a rule of the sender's own OUTPUT or POSTROUTING."""
    REJECTED_BY_SENDER = auto()
    """Rejected with an ICMP error by a rule of the sender's own OUTPUT."""
    NO_NEIGHBOUR = auto()
    """The next hop does not answer ARP or neighbor discovery: the sender's, or a router's that
    says so after three seconds.
    """
    NET_UNREACHABLE = auto()
    """An ICMP error of the net: a router without a route, or REJECT."""
    HOST_UNREACHABLE = auto()
    """An ICMP error of the host: a router's `unreachable` route, or REJECT."""
    NET_PROHIBITED = auto()
    HOST_PROHIBITED = auto()
    """Host or administratively prohibited: REJECT as firewalld uses it, or a router's `prohibit`
    route.
    """
    PROHIBITED_IPV6 = auto()
    """ICMPv6 administratively prohibited, policy fail or reject route."""
    PORT_UNREACHABLE = auto()
    """ICMP port unreachable: REJECT by default, and a UDP port on which nobody listens."""
    PROTOCOL_UNREACHABLE = auto()
    RESET = auto()
    """A TCP reset as answer to the SYN: nobody listens, or REJECT with tcp-reset."""
    TTL_EXCEEDED = auto()
    OWN_NO_ROUTE = auto()
    """The sender's own routing finds no way: no route, a `throw` route, an `unreachable` policy
    rule, a device that is down.
    """
    OWN_UNREACHABLE = auto()
    """The sender's own route is of type `unreachable`."""
    OWN_PROHIBIT = auto()
    """The sender's own route or policy rule is of type `prohibit`."""
    OWN_BLACKHOLE = auto()
    """The sender's own route or policy rule is of type `blackhole`, or its source is none of its
    addresses.
    """
    TOO_BIG = auto()
    """Small packets pass and large ones do not."""
    LATER = auto()
    """The connection opens, and a later packet is lost, or taken for one of no connection."""
    MISTAKEN = auto()
    """Somebody else gets the packet, or answers."""


_TCP, _UDP, _PING = protocols.TCP, protocols.UDP, protocols.ICMP


def _alike(*kinds: Kind) -> Mapping[int, frozenset[Kind]]:
    return {protocol: frozenset(kinds) for protocol in (_TCP, _UDP, _PING)}


def _each(
    tcp: Iterable[Kind], udp: Iterable[Kind], ping: Iterable[Kind]
) -> Mapping[int, frozenset[Kind]]:
    return {_TCP: frozenset(tcp), _UDP: frozenset(udp), _PING: frozenset(ping)}


FELT: Mapping[PacketEnd, Mapping[int, frozenset[Kind]]] = MappingProxyType({
    PacketEnd.LOST: _alike(Kind.TIMEOUT),
    PacketEnd.DROPPED_BY_SENDER: _each(
        {Kind.TIMEOUT}, {Kind.NOT_PERMITTED}, {Kind.NOT_PERMITTED, Kind.TIMEOUT},
    ),
    PacketEnd.REJECTED_BY_SENDER: _each(
        {Kind.REFUSED, Kind.NO_ROUTE_TO_HOST, Kind.NETWORK_UNREACHABLE, Kind.TIMEOUT},
        {Kind.NOT_PERMITTED},
        {
            Kind.REFUSED, Kind.NO_ROUTE_TO_HOST, Kind.NETWORK_UNREACHABLE, Kind.NOT_PERMITTED,
            Kind.TIMEOUT,
        }),
    PacketEnd.NO_NEIGHBOUR: _each(
        {Kind.NO_ROUTE_TO_HOST, Kind.TIMEOUT}, {Kind.TIMEOUT, Kind.NO_ROUTE_TO_HOST},
        {Kind.NO_ROUTE_TO_HOST, Kind.TIMEOUT},
    ),
    PacketEnd.NET_UNREACHABLE: _each(
        {Kind.NETWORK_UNREACHABLE}, {Kind.TIMEOUT, Kind.NETWORK_UNREACHABLE},
        {Kind.NETWORK_UNREACHABLE},
    ),
    PacketEnd.HOST_UNREACHABLE: _each(
        {Kind.NO_ROUTE_TO_HOST}, {Kind.TIMEOUT, Kind.NO_ROUTE_TO_HOST}, {Kind.NO_ROUTE_TO_HOST},
    ),
    PacketEnd.NET_PROHIBITED: _alike(Kind.NETWORK_UNREACHABLE),
    PacketEnd.HOST_PROHIBITED: _alike(Kind.NO_ROUTE_TO_HOST),
    PacketEnd.PROHIBITED_IPV6: _alike(Kind.ACCESS_DENIED, Kind.NO_ROUTE_TO_HOST),
    PacketEnd.PORT_UNREACHABLE: _each({Kind.REFUSED}, {Kind.REFUSED, Kind.TIMEOUT}, {Kind.REFUSED}),
    PacketEnd.PROTOCOL_UNREACHABLE: _alike(Kind.UNREACHABLE),
    PacketEnd.RESET: _alike(Kind.REFUSED),
    PacketEnd.TTL_EXCEEDED: _each(
        {Kind.NO_ROUTE_TO_HOST}, {Kind.TIMEOUT, Kind.NO_ROUTE_TO_HOST}, {Kind.NO_ROUTE_TO_HOST},
    ),
    PacketEnd.OWN_NO_ROUTE: _alike(Kind.NETWORK_UNREACHABLE),
    PacketEnd.OWN_UNREACHABLE: _alike(Kind.NO_ROUTE_TO_HOST),
    PacketEnd.OWN_PROHIBIT: _alike(Kind.ACCESS_DENIED),
    PacketEnd.OWN_BLACKHOLE: _alike(Kind.INVALID_ARGUMENT),
    PacketEnd.TOO_BIG: _alike(Kind.HANGS, Kind.TIMEOUT, Kind.RESET, Kind.SLOW),
    PacketEnd.LATER: _alike(Kind.HANGS, Kind.TIMEOUT, Kind.RESET),
    PacketEnd.MISTAKEN: _alike(
        Kind.WRONG_PEER, Kind.TIMEOUT, Kind.RESET, Kind.REFUSED, Kind.HANGS, Kind.NO_ROUTE_TO_HOST,
    ),
})  # fmt: skip
"""What a program is told, by protocol. A datagram's sender is told of fatal errors only
(net/ipv4/icmp.c:icmp_err_convert v6.12).

Answers that take longer than their client's patience are timeouts to it: a neighbor's silence is
told after three seconds.
"""

SHARP = frozenset({
    Kind.REFUSED, Kind.NO_ROUTE_TO_HOST, Kind.NETWORK_UNREACHABLE, Kind.NOT_PERMITTED,
    Kind.ACCESS_DENIED, Kind.INVALID_ARGUMENT,
})  # fmt: skip
"""Failures that the kernel names. The others may follow from any loss by a program's patience, its
proxy or its supervisor.
"""

_DROPS = frozenset({PacketEnd.LOST, PacketEnd.DROPPED_BY_SENDER, PacketEnd.LATER})
_REJECTS = frozenset({
    PacketEnd.REJECTED_BY_SENDER, PacketEnd.NET_UNREACHABLE, PacketEnd.HOST_UNREACHABLE,
    PacketEnd.NET_PROHIBITED, PacketEnd.HOST_PROHIBITED, PacketEnd.PROHIBITED_IPV6,
    PacketEnd.PORT_UNREACHABLE, PacketEnd.PROTOCOL_UNREACHABLE, PacketEnd.RESET,
})  # fmt: skip
_RULES = _DROPS | _REJECTS
_ROUTES = frozenset({
    PacketEnd.LOST, PacketEnd.NO_NEIGHBOUR, PacketEnd.NET_UNREACHABLE, PacketEnd.HOST_UNREACHABLE,
    PacketEnd.HOST_PROHIBITED, PacketEnd.PROHIBITED_IPV6, PacketEnd.OWN_NO_ROUTE,
    PacketEnd.OWN_UNREACHABLE, PacketEnd.OWN_PROHIBIT, PacketEnd.OWN_BLACKHOLE,
    PacketEnd.TTL_EXCEEDED,
})  # fmt: skip
_UNHEARD = frozenset({PacketEnd.LOST, PacketEnd.NO_NEIGHBOUR, PacketEnd.LATER})
_NOBODY = frozenset({PacketEnd.RESET, PacketEnd.PORT_UNREACHABLE, PacketEnd.LOST, PacketEnd.LATER})

WAYS: Mapping[Category, frozenset[PacketEnd]] = MappingProxyType({
    Category.REVERSE_PATH_FILTER: _UNHEARD,
    Category.IP_FORWARD: _UNHEARD,
    Category.ASYMMETRIC_PATH: _RULES | _UNHEARD,
    Category.FORWARD_POLICY: frozenset({PacketEnd.LOST, PacketEnd.LATER}),
    Category.CONNTRACK_FULL: _DROPS,
    Category.CONNTRACK_INVALID: _RULES,
    Category.CONNTRACK_RACE: _DROPS,
    Category.TUNNEL_CHECKSUM: _UNHEARD,
    Category.TUNNEL_BLOCKED: _UNHEARD | {PacketEnd.HOST_UNREACHABLE},
    Category.MTU: frozenset({PacketEnd.TOO_BIG, PacketEnd.LOST, PacketEnd.LATER}),
    Category.MASQUERADE_MISSING: _UNHEARD | _REJECTS | {PacketEnd.NET_UNREACHABLE},
    Category.NO_LISTENER: _NOBODY,
    Category.ROUTING_LOOP: frozenset({PacketEnd.TTL_EXCEEDED, PacketEnd.LOST}),
    Category.NO_ROUTE: _ROUTES,
    Category.NEIGHBOUR_UNRESOLVED: _UNHEARD | {PacketEnd.HOST_UNREACHABLE, PacketEnd.TTL_EXCEEDED},
    Category.NEIGHBOUR_TABLE_FULL: _UNHEARD | {PacketEnd.HOST_UNREACHABLE, PacketEnd.OWN_BLACKHOLE},
    Category.MACVLAN_PARENT: _UNHEARD | {PacketEnd.HOST_UNREACHABLE},
    Category.MAC_NOT_ALLOWED: _UNHEARD | {PacketEnd.HOST_UNREACHABLE},
})  # fmt: skip
"""By sort of fault, how it ends a connection. A sort that no row names may end it in any way.

Strict rp_filter is heard of in one way: a router whose way back to a sender of its own subnet leads
elsewhere does not answer its ARP requests either, so that the sender itself says that there is no
route to the host.
"""


def kinds_of(ways: Iterable[PacketEnd]) -> frozenset[Kind]:
    """Return every failure that some of the ways can look like, by any protocol."""
    return frozenset(kind for way in ways for kinds in FELT[way].values() for kind in kinds)


def excluded_by(category: Category) -> frozenset[Kind]:
    """Return the failures that a sort of fault cannot make; empty where it may make any."""
    ways = WAYS.get(category)
    return frozenset() if ways is None else SHARP - kinds_of(ways)


def explained_by(categories: Iterable[Category]) -> frozenset[Kind]:
    """Return the failures that a fault of these sorts can make. A sysctl is how another sort comes
    about.
    """
    named = [category for category in categories if category is not Category.SYSCTL]
    found = frozenset(
        kind for category in named for kind in frozenset(Kind) - excluded_by(category)
    )
    return found or frozenset(Kind)

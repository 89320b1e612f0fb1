"""What `ip route` prints of one route, as words, and the record that they make. Text and JSON meet
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from podpath.evidence.commands.command import parse_command, parse_family
from podpath.evidence.node_records import NexthopRecord, RouteRecord
from podpath.evidence.text.scalars import parse_address, parse_number, parse_prefix, parse_tos
from podpath.net.addresses import Address, Family
from podpath.net.provenance import Source, Span

TYPES = frozenset(
    {
        "unicast", "local", "broadcast", "multicast", "throw", "unreachable", "prohibit",
        "blackhole", "nat", "anycast",
    }
)  # fmt: skip
"""Route types as iproute2 spells them (`rtnl_rtntype_n2a`)."""
NEXTHOP_FLAGS = frozenset(
    {"onlink", "linkdown", "dead", "pervasive", "offload", "trap", "unresolved"}
)
"""Flags of a nexthop; a route with one nexthop prints them on its own line."""
ROUTE_FLAGS = NEXTHOP_FLAGS | {
    "notify",
    "cloned",
    "equalize",
    "rt_offload",
    "rt_trap",
    "rt_offload_failed",
}

_SELECTORS = {
    **dict.fromkeys(("table", "tab", "t"), "table"), **dict.fromkeys(("dev", "oif"), "dev"),
    "proto": "protocol", "protocol": "protocol", "scope": "scope",
}  # fmt: skip
_ALL = frozenset({"all", "0", "unspec", "any", "cache"})


@dataclass(slots=True)
class NexthopFields:
    """One nexthop in words."""

    link: str | None = None
    gateway: str | None = None
    weight: int | None = None
    flags: tuple[str, ...] = ()


@dataclass(slots=True)
class RouteFields:
    """One route in words; an empty word stands for what is not printed."""

    prefix: str
    type: str = ""
    table: str = ""
    protocol: str = ""
    scope: str = ""
    prefsrc: str = ""
    metric: str = ""
    tos: str = ""
    mtu: str = ""
    mtu_locked: bool = False
    advmss: str = ""
    family: Family | None = None
    """Where a word shows it: `pref` stands in IPv6 routes only, `via inet6` in those of the other
    family.
    """
    flags: tuple[str, ...] = ()
    nexthops: list[NexthopFields] = field(default_factory=list)
    unread: str = ""
    """The rest of a line that no word of iproute2 begins."""
    foreign: str = ""
    """All attributes that nobody knows, encapsulation among them, as they are spelled."""


class RouteListing(NamedTuple):
    """What a listing's command says of every route in it: iproute2 leaves out what the command
    selected.
    """

    family: Family | None
    selected: Mapping[str, str]
    """`table`, `dev`, `protocol`, `scope`."""
    mixed: bool = False
    """True where the command lists all tables, which are those of both families unless told: the
    name of a file (`ip-route.json`) says nothing then.
    """


def parse_listing(source: Source) -> RouteListing:
    """Read the selectors of the command that printed the source."""
    arguments = parse_command(source.command).arguments
    selected = {
        _SELECTORS[name]: value
        for name, value in pairwise(arguments)
        if name in _SELECTORS and value not in _ALL
    }
    mixed = any(
        _SELECTORS.get(name) == "table" and value in _ALL for name, value in pairwise(arguments)
    )
    return RouteListing(parse_family(source), selected, mixed)


def assemble_route(fields: RouteFields, span: Span, listing: RouteListing) -> RouteRecord:
    """Make the record of a route; `ValueError` says which word cannot be read."""
    hops = fields.nexthops or ([NexthopFields()] if listing.selected.get("dev") else [])
    nexthops = tuple(_assemble_nexthop(hop, listing) for hop in hops)
    if not nexthops and fields.type in {"", "unicast"}:
        raise ValueError("expected where the route leads (via, dev), saw the end")
    prefix = parse_prefix(fields.prefix, _family(fields, nexthops, listing))
    selected = listing.selected
    return RouteRecord(
        span=span,
        prefix=prefix,
        type=None if fields.type in {"", "unicast"} else fields.type,
        nexthops=nexthops,
        table=fields.table or selected.get("table"),
        metric=parse_number(fields.metric) if fields.metric else None,
        prefsrc=parse_address(fields.prefsrc) if fields.prefsrc else None,
        scope=fields.scope or selected.get("scope"),
        protocol=fields.protocol or selected.get("protocol"),
        tos=parse_tos(fields.tos) if fields.tos else None,
        mtu=parse_number(fields.mtu) if fields.mtu else None,
        mtu_locked=fields.mtu_locked,
        advmss=parse_number(fields.advmss) if fields.advmss else None,
        flags=fields.flags,
        unread=fields.foreign,
    )


def _assemble_nexthop(hop: NexthopFields, listing: RouteListing) -> NexthopRecord:
    gateway: Address | None = parse_address(hop.gateway) if hop.gateway else None
    return NexthopRecord(hop.link or listing.selected.get("dev"), gateway, hop.weight, hop.flags)


def _family(
    fields: RouteFields, nexthops: tuple[NexthopRecord, ...], listing: RouteListing
) -> Family | None:
    """Say the family of `default`: by what one family alone prints, by the command, by the
    addresses.
    """
    if fields.prefix != "default":
        return listing.family
    if fields.family is not None:
        return fields.family
    if listing.family is not None and not listing.mixed:
        return listing.family
    if fields.prefsrc:
        return parse_address(fields.prefsrc).family
    gateways = (hop.gateway.family for hop in nexthops if hop.gateway is not None)
    return next(gateways, listing.family)

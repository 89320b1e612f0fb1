"""`ip [-d] -j route`: the same routes as the text, from JSON.

iproute2 up to 6.1 leaves `lock` of an MTU out of its JSON; only the text shows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from podpath.evidence.formats import CERTAIN, NO, Format
from podpath.evidence.iproute.route_fields import (
    NexthopFields,
    RouteFields,
    RouteListing,
    assemble_route,
    parse_listing,
)
from podpath.evidence.json_objects import (
    JsonObject,
    decode_first_wins,
    head_of,
    is_set,
    lists_nothing,
    number_of,
    object_of,
    objects_of,
    read_objects,
    text_of,
    words_of,
)
from podpath.evidence.records import Reading
from podpath.evidence.text.ledger import Ledger
from podpath.net.provenance import Source

_SIGNATURE = re.compile(r'"dst"\s*:\s*"')
_CLUE = re.compile(r'"(?:type|gateway|protocol|scope|metric|nexthops|prefsrc|via|flags)"\s*:')
_OTHER = re.compile(r'"(?:lladdr|state|priority|mac|ifname|cniVersion|plugins|ipam)"\s*:')


def recognise(source: Source) -> int:
    """Recognize objects with `dst` and other members of a route."""
    if lists_nothing(source, "ip", "route"):
        return CERTAIN
    head = head_of(source)
    if not _SIGNATURE.search(head) or _OTHER.search(head):
        return NO
    return CERTAIN if _CLUE.search(head) else NO


def read(source: Source) -> Reading:
    """Read routes."""
    listing = parse_listing(source)

    def build(ledger: Ledger, item: JsonObject) -> str | None:
        return _add_route(ledger, item, listing)

    return read_objects(source, build, "a route")


def _add_route(ledger: Ledger, item: JsonObject, listing: RouteListing) -> str | None:
    value = item.value
    prefix = text_of(value, "dst")
    if prefix is None:
        return "expected a route, saw an object without dst"
    if is_set(value, "uid") or "cache" in value:
        return "expected a route, saw what `ip route get` answered"
    if is_set(value, "from"):
        return f"expected a route for every source, saw one for {text_of(value, 'from')!r} only"
    if "encap" in value:
        value = decode_first_wins(item.text)
        prefix = text_of(value, "dst") or prefix
        ledger.gap(item.first, "the encapsulation of this route is not read", item.last)
    try:
        ledger.add(
            assemble_route(_fields(value, prefix), ledger.span(item.first, item.last), listing)
        )
    except ValueError as error:
        return str(error)
    return None


def _metric(value: Mapping[str, object], name: str) -> str:
    found = (text_of(metrics, name) for metrics in objects_of(value, "metrics"))
    return next(filter(None, found), "")


def _fields(value: Mapping[str, object], prefix: str) -> RouteFields:
    fields = RouteFields(
        prefix,
        type=text_of(value, "type") or "",
        table=text_of(value, "table") or "",
        protocol=text_of(value, "protocol") or "",
        scope=text_of(value, "scope") or "",
        prefsrc=text_of(value, "prefsrc") or "",
        metric=text_of(value, "metric") or "",
        tos="" if "encap" in value else text_of(value, "tos") or "",
        mtu=_metric(value, "mtu"),
        advmss=_metric(value, "advmss"),
        family=6 if "pref" in value else None,
        flags=words_of(value, "flags") + (("encap",) if "encap" in value else ()),
        foreign="encap" if "encap" in value else "",
    )
    several = objects_of(value, "nexthops")
    if several:
        fields.nexthops = [_nexthop(hop, fields) for hop in several]
    else:
        single = _nexthop(value, fields)
        if single.link is not None or single.gateway is not None:
            fields.nexthops = [single]
    return fields


def _nexthop(value: Mapping[str, object], fields: RouteFields) -> NexthopFields:
    gateway = text_of(value, "gateway")
    other = object_of(value, "via")
    if gateway is None and other:
        gateway = text_of(other, "host")
        fields.family = 4 if text_of(other, "family") == "inet6" else 6
    return NexthopFields(
        text_of(value, "dev"), gateway, number_of(value, "weight"), words_of(value, "flags")
    )


FORMAT = Format("ip -j route", recognise, read)

"""Two outputs of the same command that show two hosts: what differs between them is no change.

What speaks against one host are headings that name different machines, no address or MAC in common,
no device in common, and a network that one has an address in and the other reaches by a gateway.
What speaks for one is a prompt or heading that both share, or headings that say no more than when.
"""

from __future__ import annotations

import re
from itertools import chain

from podpath.assembly.scenes.hosts_named import name_host
from podpath.assembly.scenes.labels import StateLikelihood, judge_label, last_sentence
from podpath.assembly.scenes.scene import ReadSource, host_of_prompt
from podpath.evidence.node_records import AddressRecord, LinkRecord, RouteRecord
from podpath.net.addresses import Address, Prefix

_WHEN = (
    r"(?:before|beforehand|prior|previously|initially|at first|normally|original(?:ly)?|usually|"
    r"after(?:wards)?|once|then|later|now|when|while|with|without|since|as soon as|during|until)"
)
_ONLY_WHEN = re.compile(rf"\W*(?:and\s+)?{_WHEN}(?!\w)", re.IGNORECASE)
"""A heading that begins with a time or a state."""
_MACHINE = re.compile(
    rf"\W*(?!{_WHEN}(?!\w))(?P<on>(?:on|from|at)\s+)?(?:(?:the|a|my|our)\s+)?"
    rf"[`*]*(?P<name>[\w.-]+)[`*]*\s*(?P<end>[,(]\s*{_WHEN}(?!\w)|[:,]|$)",
    re.IGNORECASE,
)
"""A heading that begins with a name: `On the gateway:`, `node-blue, while it fails:`."""


def are_two_hosts(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether two outputs may well be of two hosts."""
    prompts = host_of_prompt(one), host_of_prompt(other)
    first, second = _heading(one), _heading(other)
    if None not in prompts:
        # one prompt may stand for many machines (`root@localhost`), but no network is on two
        when = _ONLY_WHEN.match(first) and _ONLY_WHEN.match(second)
        return prompts[0] != prompts[1] or (not when and _share_no_network(one, other))
    if first == second:
        return _are_apart(one, other)
    if _ONLY_WHEN.match(first) and _ONLY_WHEN.match(second):
        return False
    names = _name(one), _name(other)
    named = None not in names and names[0] != names[1]
    apart = _are_disjoint(one, other) or _share_no_network(one, other)
    return named or apart or _connects_what_is_routed(one, other)


def _heading(scene: ReadSource) -> str:
    return last_sentence(scene.source.label or "")


def _name(scene: ReadSource) -> str | None:
    """Return the machine that a heading names: alone, behind `on`, or before a word of time."""
    named = name_host(scene)
    found = _MACHINE.match(_heading(scene))
    if named is not None or found is None:
        return named
    told = found["on"] or any(letter.isalpha() for letter in found["end"])
    plain = judge_label(found["name"]) is StateLikelihood.PLAIN
    if told and plain:
        return found["name"].lower()
    return None


def _are_disjoint(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether two outputs show addresses and MACs, or devices, and none of them twice."""
    own = _list_own(one), _list_own(other)
    links = _list_links(one), _list_links(other)
    return any(first and second and not first & second for first, second in (own, links))


def _are_apart(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether no address or MAC of one output is the other's, and each shows a device that the
    other lacks: a heading that both share (`ip route show`) then names no host.
    """
    own = _list_own(one), _list_own(other)
    links = _list_links(one), _list_links(other)
    return bool(all(own) and not own[0] & own[1] and links[0] - links[1] and links[1] - links[0])


def _list_own(scene: ReadSource) -> frozenset[object]:
    """Return the addresses and MACs that a host has by an output."""
    records = scene.reading.records
    own: set[object] = {one.address for one in records if isinstance(one, AddressRecord)}
    own |= {one.prefsrc for one in records if isinstance(one, RouteRecord)}
    own |= {one.mac for one in records if isinstance(one, LinkRecord) and one.name != "lo"}
    return frozenset(one for one in own if one is not None and not _is_loopback(one))


def _is_loopback(own: object) -> bool:
    return isinstance(own, Address) and own.is_loopback


def _list_links(scene: ReadSource) -> frozenset[str]:
    """Return the devices that an output names, but for the loopback."""
    records = scene.reading.records
    links = {str(one.name) for one in records if isinstance(one, LinkRecord)}
    links |= {str(one.link) for one in records if isinstance(one, AddressRecord) and one.link}
    for record in records:
        if isinstance(record, RouteRecord):
            links |= {hop.link for hop in record.nexthops if hop.link}
    return frozenset(links - {"lo"})


def _share_no_network(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether each has networks of its own and a gateway in them, and none of either is the
    other's.
    """
    near = _list_near(one), _list_near(other)
    gateways = _list_gateways(one), _list_gateways(other)
    return all(first and second and not first & second for first, second in (near, gateways))


def _list_near(scene: ReadSource) -> frozenset[Prefix]:
    """Return the networks that an output reaches without a gateway, but for the loopback's."""
    routes = (one for one in scene.reading.records if isinstance(one, RouteRecord))
    return frozenset(one.prefix for one in routes if _is_near(one))


def _is_near(route: RouteRecord) -> bool:
    links = {hop.link for hop in route.nexthops}
    return route.prefix.length > 0 and not _has_gateway(route) and links != {"lo"}


def _list_gateways(scene: ReadSource) -> frozenset[Address]:
    """Return the gateways of an output's default routes."""
    routes = (one for one in scene.reading.records if isinstance(one, RouteRecord))
    hops = chain.from_iterable(one.nexthops for one in routes if not one.prefix.length)
    return frozenset(hop.gateway for hop in hops if hop.gateway is not None)


def _connects_what_is_routed(one: ReadSource, other: ReadSource) -> bool:
    """Tell whether one has an address in a network that the other sends to a gateway."""
    connected = _list_connected(one), _list_connected(other)
    routed = _list_routed(one), _list_routed(other)
    return bool(connected[0] & routed[1] or connected[1] & routed[0])


def _has_gateway(route: RouteRecord) -> bool:
    return any(hop.gateway for hop in route.nexthops)


def _list_connected(scene: ReadSource) -> frozenset[Prefix]:
    routes = [record for record in scene.reading.records if isinstance(record, RouteRecord)]
    return frozenset(route.prefix for route in routes if _is_connected(route))


def _is_connected(route: RouteRecord) -> bool:
    """Tell whether the host has an address in the network that a route leads to."""
    own = route.prefsrc
    return own is not None and route.prefix.covers(own) and not _has_gateway(route)


def _list_routed(scene: ReadSource) -> frozenset[Prefix]:
    return frozenset(
        record.prefix
        for record in scene.reading.records
        if isinstance(record, RouteRecord) and record.prefix.length > 0 and _has_gateway(record)
    )

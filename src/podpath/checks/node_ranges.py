"""What the API says of the cluster's nodes: their addresses, the ranges that their pods are to
have, and which routes of a node follow these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from podpath.checks.objects import ObjectSightings, read_prefix, see
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.routing import MAIN, Route

_CHOSEN = ("flannel.alpha.coreos.com/public-ip", "projectcalico.org/IPv4Address")
_NOT_BY_RANGE = frozenset({"bird", "kernel", "bgp", "zebra"})
"""Protocols of routes that do not follow what the API gave the nodes."""


class NodeRange(NamedTuple):
    """A range of pods that a node was given."""

    node: str
    prefix: Prefix
    span: Span


class RangeRoute(NamedTuple):
    """A route of the node at hand to the range of another."""

    of: NodeRange
    route: Route
    span: Span


def ranges_of(case: Case) -> tuple[NodeRange, ...]:
    """Return the ranges of all nodes, in the order of the evidence."""
    return tuple(found for node in see(case, "Node") for found in _ranges(node))


def _ranges(node: ObjectSightings) -> Iterator[NodeRange]:
    listed = node.items_at("spec", "podCIDRs")
    single = node.at("spec", "podCIDR")
    for item in listed or ((single,) if single is not None else ()):
        prefix = read_prefix(item.text)
        if prefix is not None and node.name:
            yield NodeRange(node.name, prefix, item.line)


def addresses_of(node: ObjectSightings) -> frozenset[Address]:
    """Return the addresses by which other nodes may reach a node."""
    texts = [item.text_at("address") for item in node.items_at("status", "addresses")]
    texts += [node.text_at("metadata", "annotations", name) for name in _CHOSEN]
    found = (read_address(text.partition("/")[0]) for text in texts if text)
    return frozenset(address for address in found if address is not None)


def list_addresses(nodes: Iterable[ObjectSightings]) -> set[str]:
    """Return the addresses of nodes, as their objects spell them."""
    texts: set[str] = set()
    for node in nodes:
        texts.update(item.text_at("address") for item in node.items_at("status", "addresses"))
    return texts


def follow_ranges(case: Case, ranges: Sequence[NodeRange]) -> tuple[RangeRoute, ...]:
    """Return the routes of this node that lead to the ranges of others, each to just one: where
    there is any, the plugin goes by the ranges.
    """
    far = {one.prefix: one for one in ranges if one.node != case.node.name}
    return tuple(
        RangeRoute(far[route.prefix], route, route.span)
        for route in case.node.host.routes.items
        if route.prefix in far
        and route.table == MAIN
        and route.type == "unicast"
        and route.span is not None
        and route.protocol not in _NOT_BY_RANGE
        and route.nexthops
    )

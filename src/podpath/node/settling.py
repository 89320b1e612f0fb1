"""A node with its unknown facts settled: what it would be if they were as supposed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar, cast

from podpath.net.provenance import Fact, Known, Unknown
from podpath.node.links import Link
from podpath.node.netfilter import Netfilter, Table
from podpath.node.node import Netns, Node

T = TypeVar("T")
K = TypeVar("K")


def settle_facts(node: Node, values: Mapping[str, object]) -> Node:
    """Return the node in which every unknown fact that `values` names is known to have that value;
    the others stay unknown.
    """
    namespaces = {
        name: _settle_namespace(namespace, values) for name, namespace in node.namespaces.items()
    }
    cilium = node.cilium
    if cilium is not None:
        cilium = replace(cilium, options=_settle_mapping(cilium.options, values))
    return replace(node, namespaces=namespaces, cilium=cilium)


def _settle_namespace(namespace: Netns, values: Mapping[str, object]) -> Netns:
    return replace(
        namespace,
        sysctls=_settle_mapping(namespace.sysctls, values),
        links=namespace.links._replace(
            items=tuple(_settle_link(link, values) for link in namespace.links.items)
        ),
        netfilter={
            family: _settle_netfilter(netfilter, values)
            for family, netfilter in namespace.netfilter.items()
        },
    )


def _settle_link(link: Link, values: Mapping[str, object]) -> Link:
    if not isinstance(link.peer, Unknown) or link.peer.fact not in values:
        return link
    return replace(link, peer=_settle(link.peer, values))


def _settle_netfilter(netfilter: Netfilter, values: Mapping[str, object]) -> Netfilter:
    tables = tuple(_settle_table(table, values) for table in netfilter.tables)
    return replace(netfilter, tables=tables)


def _settle_table(table: Table, values: Mapping[str, object]) -> Table:
    if not any(isinstance(fact, Unknown) and fact.fact in values for fact in table.chains.values()):
        return table
    return replace(table, chains=_settle_mapping(table.chains, values))


def _settle_mapping(facts: Mapping[K, Fact[T]], values: Mapping[str, object]) -> dict[K, Fact[T]]:
    return {key: _settle(fact, values) for key, fact in facts.items()}


def _settle(fact: Fact[T], values: Mapping[str, object]) -> Fact[T]:
    if isinstance(fact, Known) or fact.fact not in values:
        return fact
    value = values[fact.fact]
    option = next((option for option in fact.options if option.value == value), None)
    return Known(
        cast("T", value),
        option.span if option is not None else None,
        option.meaning if option is not None else "supposed",
    )

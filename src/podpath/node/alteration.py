"""A node with a change applied: what it would be after a repair, or what it would have to be for a
hypothesis to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar, assert_never

from podpath.net.addresses import Address, Family
from podpath.net.provenance import Known, Listing, Option, Unknown
from podpath.node.change import (
    AddAddress,
    AddPolicyRule,
    AddRoute,
    Change,
    DeleteAddress,
    DeleteConntrack,
    DeleteNftTable,
    DeletePolicyRule,
    DeleteRoute,
    DeleteRule,
    InsertRule,
    LoadModule,
    PutChain,
    PutFdbEntry,
    PutNeighbour,
    PutNftables,
    PutNftTable,
    PutSet,
    PutTable,
    SetCiliumOption,
    SetLink,
    SetPolicy,
    SetSysctl,
)
from podpath.node.links import BridgePort, FdbEntry, Link, Neighbour
from podpath.node.netfilter import TABLE_ORDER, Chain, IpSet, Netfilter, Rule, Table
from podpath.node.nftables import NftTable
from podpath.node.node import Cilium, Netns, Node
from podpath.xtables.legality import TableName

T = TypeVar("T")

MODULE_SYSCTLS: dict[str, tuple[tuple[str, str], ...]] = {
    "br_netfilter": (
        ("net.bridge.bridge-nf-call-iptables", "1"),
        ("net.bridge.bridge-nf-call-ip6tables", "1"),
        ("net.bridge.bridge-nf-call-arptables", "1"),
    ),
}
"""The sysctls that a module brings into every namespace, with their defaults
(br_netfilter_sysctl_default, v6.12).
"""
SPREADING: dict[str, str] = {
    "net.ipv4.ip_forward": "net.ipv4.conf.",
    "net.ipv4.conf.all.forwarding": "net.ipv4.conf.",
    "net.ipv6.conf.all.forwarding": "net.ipv6.conf.",
}
"""Forwarding switches that the kernel copies to every device when they are written
(inet_forward_change, v6.12).
"""


def apply_changes(node: Node, changes: Iterable[Change]) -> Node:
    """Return the node after the changes, in their order."""
    for change in changes:
        node = apply_change(node, change)
    return node


def apply_change(node: Node, change: Change) -> Node:
    """Return the node after one change; the same node where the change names a thing that it does
    not have.
    """
    if isinstance(change, LoadModule):
        return _load_module(node, change.name)
    if isinstance(change, SetCiliumOption):
        cilium = node.cilium or Cilium(options={})
        written = Known(change.value, None, "set by the change")
        return replace(
            node, cilium=replace(cilium, options={**cilium.options, change.name: written})
        )
    namespace = node.namespaces.get(change.netns)
    if namespace is None:
        return node
    return replace(node, namespaces={**node.namespaces, change.netns: _alter(namespace, change)})


def _alter(namespace: Netns, change: Change) -> Netns:  # noqa: C901, PLR0911, PLR0912 - one line for each kind of change
    match change:
        case SetSysctl():
            if change.kept is not None:
                return replace(namespace, sysctls={**namespace.sysctls, **_doubt(change)})
            written = Known(change.value, change.span, "set by the change")
            return replace(namespace, sysctls=_with_sysctl(namespace.sysctls, change.key, written))
        case AddRoute():
            return replace(namespace, routes=_with(namespace.routes, change.route))
        case DeleteRoute():
            return replace(namespace, routes=_without(namespace.routes, change.route))
        case AddPolicyRule():
            return replace(namespace, rules=_with(namespace.rules, change.rule))
        case DeletePolicyRule():
            return replace(namespace, rules=_without(namespace.rules, change.rule))
        case AddAddress():
            return replace(namespace, addresses=_with(namespace.addresses, change.address))
        case DeleteAddress():
            return replace(namespace, addresses=_without(namespace.addresses, change.address))
        case PutNeighbour():
            return replace(
                namespace, neighbours=_put_neighbour(namespace.neighbours, change.neighbour)
            )
        case PutFdbEntry():
            return replace(namespace, fdb=_put_entry(namespace.fdb, change.entry))
        case InsertRule() | DeleteRule() | SetPolicy() | PutChain():
            return _alter_netfilter(namespace, change)
        case PutTable():
            return _put_table(namespace, change.table)
        case PutSet():
            return _put_set(namespace, change.members)
        case PutNftTable():
            return replace(
                namespace,
                nftables=_with(_without_table(namespace.nftables, change.table), change.table),
            )
        case DeleteNftTable():
            return replace(namespace, nftables=_without_table(namespace.nftables, change.table))
        case PutNftables():
            return _put_nftables(namespace, change)
        case DeleteConntrack():
            return _forget(namespace, Address.parse(change.original_dst))
        case SetLink():
            return replace(
                namespace, links=_map(namespace.links, change.link, dict(change.attributes))
            )
        case LoadModule() | SetCiliumOption():
            return namespace
        case _:
            assert_never(change)


def _load_module(node: Node, name: str) -> Node:
    namespaces = dict(node.namespaces)
    for key, value in MODULE_SYSCTLS.get(name, ()):
        brought = Known(value, None, "set by the change")
        namespaces = {
            title: replace(namespace, sysctls=_with_sysctl(namespace.sysctls, key, brought))
            for title, namespace in namespaces.items()
        }
    modules = node.modules if name in node.modules.items else _with(node.modules, name)
    return replace(node, modules=modules, namespaces=namespaces)


def _doubt(change: SetSysctl) -> dict[str, Unknown[str]]:
    """Return a sysctl that a new default reaches, or not."""
    options = (
        Option(change.value, "copied from the new default", change.span),
        Option(change.kept or "", "written before: the kernel keeps it"),
    )
    fact = f"{change.key} in netns {change.netns} after the change"
    ask = f"whether anything wrote {change.key} since the device was made"
    return {change.key: Unknown(fact, ask, options, "the kernel shows no such thing")}


def _with_sysctl(
    sysctls: Mapping[str, object], key: str, written: Known[str]
) -> dict[str, Known[str]]:
    """Write a sysctl; a forwarding switch also writes every device's, as the kernel does."""
    after: dict[str, Known[str]] = {**sysctls, key: written}  # type: ignore[dict-item]  # facts of str, whatever their kind
    family = SPREADING.get(key)
    if family is not None:
        for other in tuple(after):
            if other.startswith(family) and other.endswith(".forwarding"):
                after[other] = written
        after[f"{family}all.forwarding"] = written
        if family == "net.ipv4.conf.":
            after["net.ipv4.ip_forward"] = written
    return after


def _with(listing: Listing[T], item: T) -> Listing[T]:
    return listing._replace(items=(*listing.items, item))


def _without(listing: Listing[T], item: T) -> Listing[T]:
    return listing._replace(items=tuple(other for other in listing.items if other != item))


def _map(links: Listing[Link], name: str, attributes: Mapping[str, str]) -> Listing[Link]:
    return links._replace(
        items=tuple(
            _with_attributes(link, attributes) if link.name == name else link
            for link in links.items
        )
    )


def _with_attributes(link: Link, attributes: Mapping[str, str]) -> Link:
    for name, value in attributes.items():
        on = value in ("on", "1", "up")
        match name:
            case "hairpin":
                link = replace(link, port=replace(link.port or BridgePort(), hairpin=on))
            case "state" if value in ("up", "down"):
                link = replace(link, up=on)
            case "promisc":
                link = replace(link, promisc=on)
            case "mtu":
                link = replace(link, mtu=int(value))
            case "vni" if link.vxlan is not None:
                link = replace(link, vxlan=replace(link.vxlan, vni=int(value)))
            case "dstport" if link.vxlan is not None:
                link = replace(link, vxlan=replace(link.vxlan, port=int(value)))
            case _:
                raise AssertionError(f"no such attribute of a link: {name}={value}")
    return link


def _forget(namespace: Netns, destination: Address) -> Netns:
    entries = namespace.conntrack
    return replace(
        namespace,
        conntrack=entries._replace(
            items=tuple(entry for entry in entries.items if entry.original.dst != destination)
        ),
    )


def _put_neighbour(neighbours: Listing[Neighbour], new: Neighbour) -> Listing[Neighbour]:
    others = tuple(
        item for item in neighbours.items if (item.address, item.link) != (new.address, new.link)
    )
    return neighbours._replace(items=(*others, new))


def _put_set(namespace: Netns, members: IpSet) -> Netns:
    netfilter = namespace.netfilter.get(members.family, Netfilter())
    after = replace(netfilter, sets={**netfilter.sets, members.name: members})
    return replace(namespace, netfilter={**namespace.netfilter, members.family: after})


def _put_table(namespace: Netns, table: Table) -> Netns:
    """Put a table in the place of the one of its name and flavor, or where it belongs."""
    netfilter = namespace.netfilter.get(table.family, Netfilter())
    others = [
        one for one in netfilter.tables if (one.name, one.flavour) != (table.name, table.flavour)
    ]
    ordered = sorted([*others, table], key=lambda one: (TABLE_ORDER.index(one.name), one.flavour))
    after: dict[Family, Netfilter] = {
        **namespace.netfilter,
        table.family: replace(netfilter, tables=tuple(ordered)),
    }
    return replace(namespace, netfilter=after)


def _put_nftables(namespace: Netns, change: PutNftables) -> Netns:
    """Put native tables, and take away what iptables-nft made of the families that are flushed."""
    netfilter = dict(namespace.netfilter)
    for family in change.flushed:
        held = netfilter.get(family)
        if held is not None:
            kept = tuple(table for table in held.tables if table.flavour != "nft")
            netfilter[family] = replace(held, tables=kept)
    whole = change.whole or namespace.nftables.complete
    shown = namespace.nftables._replace(items=change.tables, complete=whole)
    return replace(namespace, netfilter=netfilter, nftables=shown)


def _without_table(tables: Listing[NftTable], table: NftTable) -> Listing[NftTable]:
    return tables._replace(
        items=tuple(
            item for item in tables.items if (item.family, item.name) != (table.family, table.name)
        )
    )


def _alter_netfilter(
    namespace: Netns, change: InsertRule | DeleteRule | SetPolicy | PutChain
) -> Netns:
    netfilter = namespace.netfilter.get(change.family, Netfilter())
    name = change.table if isinstance(change, SetPolicy | PutChain) else change.rule.table
    if isinstance(change, PutChain) and not any(
        (table.name, table.flavour) == (name, change.flavour) for table in netfilter.tables
    ):
        made = Table(name=TableName(name), family=change.family, flavour=change.flavour, chains={})
        netfilter = replace(netfilter, tables=(*netfilter.tables, made))
    tables = tuple(
        _alter_table(table, change)
        if (table.name, table.flavour) == (name, change.flavour)
        else table
        for table in netfilter.tables
    )
    after: dict[Family, Netfilter] = {
        **namespace.netfilter,
        change.family: replace(netfilter, tables=tables),
    }
    return replace(namespace, netfilter=after)


def _alter_table(table: Table, change: InsertRule | DeleteRule | SetPolicy | PutChain) -> Table:
    match change:
        case PutChain():
            chain = replace(change.chain, rules=_numbered(change.chain.rules))
            return replace(table, chains={**table.chains, chain.name: Known(chain, chain.span)})
        case SetPolicy():
            return _with_chain(
                table, change.chain, lambda chain: replace(chain, policy=change.policy)
            )
        case InsertRule():
            rule = change.rule
            return _with_chain(table, rule.chain, lambda chain: _insert(chain, rule))
        case DeleteRule():
            rule = change.rule
            return _with_chain(table, rule.chain, lambda chain: _delete(chain, rule))
        case _:
            assert_never(change)


def _with_chain(table: Table, name: str, alter: Callable[[Chain], Chain]) -> Table:
    fact = table.chains.get(name)
    if not isinstance(fact, Known):
        return table
    return replace(table, chains={**table.chains, name: fact._replace(value=alter(fact.value))})


def _put_entry(listing: Listing[FdbEntry], entry: FdbEntry) -> Listing[FdbEntry]:
    """Put an entry in the place of those of the same device and MAC."""
    kept = tuple(
        other for other in listing.items if (other.link, other.mac) != (entry.link, entry.mac)
    )
    return listing._replace(items=(*kept, entry))


def _insert(chain: Chain, rule: Rule) -> Chain:
    rules = list(chain.rules)
    rules.insert(max(rule.position - 1, 0), rule)
    return replace(chain, rules=_numbered(rules))


def _delete(chain: Chain, rule: Rule) -> Chain:
    """Take out the rule of that position, as `-D CHAIN NUMBER` does."""
    return replace(
        chain, rules=_numbered([other for other in chain.rules if other.position != rule.position])
    )


def _numbered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(
        rule if rule.position == position else rule._replace(position=position)
        for position, rule in enumerate(rules, 1)
    )

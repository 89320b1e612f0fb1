"""What the checks ask of a node: who is enslaved to whom, which pod is behind which device, what a
sysctl is known to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from podpath.net.addresses import Address, Family, IfName, Prefix
from podpath.net.provenance import Known, Span
from podpath.node.links import InterfaceAddress, Link
from podpath.node.node import HOST, Netns, Node
from podpath.node.routing import MADE_UP, MAIN, Route

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.node.netfilter import Chain, Rule, Table

ENSLAVING = ("bond", "team", "bridge", "openvswitch")
"""Kinds of master whose slaves must carry no addresses or routes of their own. A VRF's may."""
BRIDGE_CALLS = "net.bridge.bridge-nf-call-iptables"
"""The sysctl that has bridged packets pass iptables."""
_TABLE = re.compile(r"\b(?:lookup|table) (?P<name>[\w.-]+)")


class Attachment(NamedTuple):
    """A pod's way into the host: the host's end of its veth pair, and the addresses inside."""

    netns: Netns
    inner: Link
    outer: Link
    addresses: tuple[InterfaceAddress, ...]


class Enslaved(NamedTuple):
    """A device that belongs to a bond or bridge, and the lines that say so."""

    master: str
    how: str
    spans: tuple[Span, ...]


def find_link(namespace: Netns, name: str) -> Link | None:
    """Return a device by name; None where the evidence shows none."""
    return next((link for link in namespace.links.items if link.name == name), None)


def find_enslaved(node: Node, link: Link) -> Enslaved | None:
    """Tell which bond, bridge or Open vSwitch port a host device is a slave of; None where it
    stands alone.
    """
    spans = (link.span,) if link.span is not None else ()
    for bridge in node.ovs:
        for port, members in bridge.ports.items():
            if link.name in members and link.name not in (port, bridge.name):
                how = (
                    f"a slave of the Open vSwitch bond {port}"
                    if len(members) > 1
                    else f"a port of the Open vSwitch bridge {bridge.name}"
                )
                return Enslaved(
                    port, how, (*spans, *((bridge.span,) if bridge.span is not None else ()))
                )
    if link.bond_slave_of is not None:
        return Enslaved(link.bond_slave_of, f"a slave of the bond {link.bond_slave_of}", spans)
    if link.master is None:
        return None
    if link.master == "ovs-system":
        return (
            None
            if link.kind == "openvswitch"
            else Enslaved("ovs-system", "a port of Open vSwitch", spans)
        )
    master = find_link(node.host, link.master)
    if master is not None and master.kind and master.kind not in ENSLAVING:
        return None
    kind = master.kind if master is not None and master.kind else "master"
    return Enslaved(link.master, f"a slave of the {kind} {link.master}", spans)


def find_attachments(node: Node) -> Iterator[Attachment]:
    """Yield every pod whose veth pair into the host is known, and whose address is."""
    for namespace in node.namespaces.values():
        if namespace.name == HOST:
            continue
        for inner in namespace.links.items:
            peer = inner.peer
            if not isinstance(peer, Known) or peer.value.netns != HOST:
                continue
            outer = find_link(node.host, peer.value.link)
            if outer is not None and any(
                item.link == inner.name for item in namespace.addresses.items
            ):
                addresses = tuple(
                    item for item in namespace.addresses.items if item.link == inner.name
                )
                yield Attachment(namespace, inner, outer, addresses)


def known_sysctl(namespace: Netns, key: str) -> Known[str] | None:
    """Return a sysctl that the evidence states, however its key is spelled; None where it does
    not.
    """
    fact = namespace.sysctls.get(key.replace("/", "."))
    return fact if isinstance(fact, Known) else None


def device_key(family: Family, link: IfName, name: str) -> str:
    """Spell a per-device sysctl: a dot in the device's name is written as a slash, as sysctl(8)
    does.
    """
    return f"net.ipv{family}.conf.{link.replace('.', '/')}.{name}"


def strictest(namespace: Netns, link: IfName, name: str) -> tuple[int, Known[str]] | None:
    """Return the greater of the sysctl's values for all devices and for this one, where both are
    stated.

    One that is stated and already the greatest possible decision (1 or more) is enough.
    """
    known = [known_sysctl(namespace, device_key(4, where, name)) for where in (IfName("all"), link)]
    stated = [
        (int(fact.value), fact) for fact in known if fact is not None and fact.value.isdigit()
    ]
    return max(stated, key=lambda pair: pair[0], default=None)


def best_routes(namespace: Netns, destination: Address) -> tuple[Route, ...]:
    """Return the main table's routes to an address, the one that wins first: longest prefix, then
    lowest metric.
    """
    matching = [
        route
        for route in namespace.routes.items
        if route.table == MAIN and route.prefix.covers(destination)
    ]
    return tuple(sorted(matching, key=lambda route: (-route.prefix.length, route.metric)))


def only_default_rules(namespace: Netns) -> bool:
    """Tell whether routing is by the main table alone, as far as the evidence shows."""
    return all(rule.inferred for rule in namespace.rules.items)


def spell_table(number: int, span: Span | None) -> str:
    """Return a table as its line, or the command that printed it, names it, where the number stands
    for a name that no output translates.
    """
    if span is None or number < MADE_UP:
        return str(number)
    found = _TABLE.search(span.text) or _TABLE.search(span.source.command or "")
    return found["name"] if found is not None else str(number)


def find_tables(namespace: Netns, name: str, family: Family = 4) -> Iterator[Table]:
    """Yield the tables of that name, of both flavors."""
    netfilter = namespace.netfilter.get(family)
    if netfilter is not None:
        yield from (table for table in netfilter.tables if table.name == name)


def listed_addresses(node: Node) -> frozenset[Address]:
    """Return the addresses that listings show on the machine whose evidence it is."""
    held = node.host.addresses.items
    return frozenset(item.address for item in held if item.span is not None)


def find_chain(table: Table, name: str) -> Chain | None:
    """Return a chain that the evidence states without doubt."""
    fact = table.chains.get(name)
    return fact.value if isinstance(fact, Known) else None


def chain_states(table: Table, name: str) -> tuple[Chain, ...]:
    """Return a chain in every state that outputs show it in: one where they agree."""
    fact = table.chains.get(name)
    if fact is None:
        return ()
    return (
        (fact.value,) if isinstance(fact, Known) else tuple(option.value for option in fact.options)
    )


def known_rules(table: Table) -> Iterator[Rule]:
    """Yield every rule of the table's undisputed chains."""
    for fact in table.chains.values():
        if isinstance(fact, Known):
            yield from fact.value.rules


def option_values(rule: Rule, match: str, option: str) -> tuple[str, ...]:
    """Return the values of an option of a match extension; empty where the rule has none, or has it
    negated.
    """
    for extension in rule.matches:
        if extension.name == match:
            for found in extension.options:
                if found.name == option and not found.negated:
                    return tuple(part for value in found.values for part in value.split(","))
    return ()


def dnat_destinations(table: Table) -> Iterator[tuple[Rule, Address, int]]:
    """Yield every DNAT rule with the address and port that it rewrites to; 0 where it keeps the
    port.
    """
    for rule in known_rules(table):
        if rule.target is None or rule.target.name != "DNAT":
            continue
        for option in rule.target.options:
            if option.name == "to-destination" and option.values:
                destination = _parse_destination(option.values[0])
                if destination is not None:
                    yield rule, *destination


def _parse_destination(text: str) -> tuple[Address, int] | None:
    """Read `10.0.0.1:80` or `10.0.0.1`; ranges are left to the walk."""
    host, _, port = text.rpartition(":") if text.count(":") == 1 else (text, "", "")
    try:
        return Address.parse(host), int(port) if port.isdigit() else 0
    except ValueError:
        return None


def bridge_subnets(namespace: Netns, bridge: IfName) -> tuple[Prefix, ...]:
    """Return the IPv4 subnets that a bridge has an address in."""
    return tuple(
        item.prefix
        for item in namespace.addresses.items
        if item.link == bridge and item.address.family == 4
    )


def states_mtu(link: Link) -> bool:
    """Tell whether a line says a device's MTU: `ip -br addr` says none."""
    return link.span is not None and link.mtu_inferred is None

"""Small nodes for tests, in iproute2's words.

    given_node(
        given_netns("host", "eth0 10.0.0.1/24", "lxc1 peer pod:eth0", routes=["default dev eth0"]),
        given_netns("pod", "eth0 10.1.0.2/32 peer host:lxc1", routes=["default dev eth0"]),
    )

Every thing has a span whose text is the words that it was given in, so that a test can say which of
them decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from podpath.net.addresses import (
    WIDTH,
    Address,
    Family,
    IfName,
    Mac,
    MaskedMark,
    PortRange,
    Prefix,
    unseen_mac,
)
from podpath.net.probe import Probe
from podpath.net.protocols import protocol_number
from podpath.net.provenance import (
    Basis,
    Fact,
    Inferred,
    Known,
    Listing,
    Option,
    Source,
    Span,
    Unknown,
)
from podpath.node.links import (
    Bridge,
    BridgePort,
    FdbEntry,
    InterfaceAddress,
    Link,
    Neighbour,
    OvsBridge,
    Peer,
    TunnelEnds,
    Vxlan,
)
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST, Cilium, Netns, NetnsRole, Node, Socket
from podpath.node.routing import DEFAULT_RULES, TABLES, Nexthop, PolicyRule, Route

SHUT: Netfilter = Netfilter(complete=True, sets_complete=True)
"""No table at all."""

Fields = dict[str, Any]
Words = Mapping[str, Callable[[str], Fields]]
"""What each word of a grammar sets, given the word after it."""
T = TypeVar("T")


def span(text: str, name: str = "given") -> Span:
    """Return a span whose text is these words."""
    return Span(Source(name=name, lines=(text,)), 1, 1)


def read(text: str, words: Words, flags: Mapping[str, Fields]) -> Fields:
    """Read `word value` pairs and flags to fields."""
    fields: Fields = {}
    tokens = iter(text.split())
    for token in tokens:
        fields |= flags[token] if token in flags else words[token](next(tokens))
    return fields


def field(name: str, parse: Callable[[str], object] = str) -> Callable[[str], Fields]:
    """Make a word that sets one field."""
    return lambda value: {name: parse(value)}


def flags(*names: str) -> Mapping[str, Fields]:
    """Make words that set the field of their name."""
    return {name: {name: True} for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetnsParts:
    """What a namespace holds beside its devices."""

    routes: Iterable[str] = ()
    rules: Iterable[str] = ()
    neighbours: Iterable[str] = ()
    fdb: Iterable[str] = ()
    sysctls: Mapping[str, str] | None = None


def given_node(*namespaces: Netns, **more: object) -> Node:
    """Return a node of namespaces; `more` are fields of the Node."""
    found = {netns.name: netns for netns in namespaces}
    found.setdefault(HOST, given_netns(HOST))
    fields: Fields = {"name": "node", "namespaces": found, **more}
    return Node(**fields)


def given_netns(
    name: str,
    *devices: str,
    complete: bool = True,
    netns: Fields | None = None,
    **parts: Any,  # noqa: ANN401
) -> Netns:  # the fields of Parts
    """Return a namespace. `complete` tells whether its listings are whole; `netns` holds fields of
    the Netns.
    """
    given = NetnsParts(**parts)
    parsed = [_device(name, text) for text in devices]
    fields: Fields = {
        "links": Listing(tuple(link for link, _ in parsed), complete, "ip link"),
        "addresses": Listing(
            tuple(item for _, items in parsed for item in items), complete, "ip addr"
        ),
        "routes": Listing(
            (*_connected(parsed), *map(given_route, given.routes)),
            complete,
            "ip route show table all",
        ),
        "rules": Listing(
            (*map(given_rule, given.rules), *DEFAULT_RULES[4], *DEFAULT_RULES[6]),
            complete,
            "ip rule",
        ),
        "neighbours": Listing(tuple(map(given_neighbour, given.neighbours)), complete, "ip neigh"),
        "fdb": Listing(tuple(map(given_fdb_entry, given.fdb)), complete, "bridge fdb"),
        "sysctls": {
            key: Known(value, span(f"{key} = {value}"))
            for key, value in (given.sysctls or {}).items()
        },
        "sysctls_complete": complete,
        "netfilter": {4: SHUT, 6: SHUT},
    }
    return Netns(
        name=name,
        role=NetnsRole.HOST if name == HOST else NetnsRole.POD,
        **(fields | (netns or {})),
    )


def _connected(devices: Iterable[tuple[Link, list[InterfaceAddress]]]) -> Iterable[Route]:
    """Make the routes that the kernel makes for addresses: a test lists only its own."""
    for link, items in devices:
        for item in items:
            if (
                link.up
                and not item.secondary
                and item.length < WIDTH[item.address.family]
                and link.name != "lo"
            ):
                yield Route(
                    prefix=item.prefix,
                    nexthops=(Nexthop(link=link.name),),
                    scope="link",
                    protocol="kernel",
                    prefsrc=item.address,
                    inferred=Inferred(Basis.IMPLIED, "an address implies it"),
                )


def forwarding(**more: str) -> dict[str, str]:
    """Return the sysctls of a host that forwards, and more: `rp_filter="1"` is that of `all`."""
    return {
        "net.ipv4.ip_forward": "1",
        **{f"net.ipv4.conf.all.{name}": value for name, value in more.items()},
    }


def _peer(text: str) -> Fields:
    netns, _, link = text.partition(":")
    return {"kind": "veth", "peer": Known(Peer(netns=netns, link=IfName(link)))}


_LINK: Words = {
    "peer": _peer,
    "kind": field("kind"),
    "mtu": field("mtu", int),
    "mac": field("mac", Mac),
    "master": field("master", IfName),
    "lower": field("lower", IfName),
    "slave": field("bond_slave_of"),
    "vni": lambda value: {"kind": "vxlan", "vxlan": Vxlan(vni=int(value), port=8472)},
    "to": lambda value: {"ends": TunnelEnds(remote=Address.parse(value))},
    "state": field("port_state"),
    "pvid": lambda value: {"port_pvid": int(value), "port_vlans": frozenset({int(value)})},
}
_LINK_FLAGS = {
    **flags("noarp", "promisc"),
    "down": {"up": False},
    "no-mac": {"mac": None},
    "bridge": {"kind": "bridge", "bridge": Bridge()},
    "filtering": {"bridge": Bridge(vlan_filtering=True)},
    "hairpin": {"port_hairpin": True},
    "isolated": {"port_isolated": True},
}
_ADDRESS = re.compile(r"(?<!\S)([0-9a-f.:]+)/(\d+)(?!\S)")


def _device(netns: str, text: str) -> tuple[Link, list[InterfaceAddress]]:
    name, _, rest = text.partition(" ")
    fields: Fields = {"mac": unseen_mac(f"{name} in {netns}")}
    fields |= read(_ADDRESS.sub("", rest), _LINK, _LINK_FLAGS)
    port = {
        key.removeprefix("port_"): fields.pop(key)
        for key in list(fields)
        if key.startswith("port_")
    }
    if "master" in fields:
        fields["port"] = BridgePort(**port)
    addresses: list[InterfaceAddress] = []
    for found in _ADDRESS.finditer(rest):
        address, length = Address.parse(found[1]), int(found[2])
        secondary = any(item.length == length and item.prefix.covers(address) for item in addresses)
        addresses.append(
            InterfaceAddress(
                link=IfName(name),
                address=address,
                length=length,
                secondary=secondary,
                span=span(text),
            )
        )
    return Link(name=IfName(name), span=span(text), **fields), addresses


def _table(text: str) -> int:
    return TABLES.get(text) or int(text)


_HOP: Words = {
    "via": field("gateway", Address.parse),
    "dev": field("link", IfName),
    "weight": field("weight", int),
}
_HOP_FLAGS = flags("onlink", "linkdown", "dead")
_ROUTE: Words = {
    **_HOP,
    "src": field("prefsrc", Address.parse),
    "table": field("table", _table),
    "metric": field("metric", int),
    "mtu": field("mtu", int),
    "advmss": field("advmss", int),
    "tos": field("tos", lambda text: int(text, 0)),
    "proto": field("protocol"),
    "scope": field("scope"),
}
_ROUTE_TYPES = (
    "unicast", "local", "broadcast", "multicast", "blackhole", "unreachable", "prohibit", "throw",
)  # fmt: skip
_HOP_FIELDS = frozenset({"gateway", "link", "weight", "onlink", "linkdown", "dead"})


def given_route(text: str) -> Route:
    """Read a route as `ip route` prints it."""
    head, *parts = text.split(" nexthop ")
    kind, _, rest = head.partition(" ")
    if kind not in _ROUTE_TYPES:
        kind, rest = "unicast", head
    prefix, _, rest = rest.partition(" ")
    fields = read(rest, _ROUTE, _HOP_FLAGS)
    hop = {key: fields.pop(key) for key in _HOP_FIELDS & set(fields)}
    hops = [hop] if hop else [read(part, _HOP, _HOP_FLAGS) for part in parts]
    family: Family = 6 if ":" in text else 4
    nexthops = tuple(Nexthop(**one) for one in hops)
    return Route(
        prefix=Prefix.parse(prefix, family), type=kind, nexthops=nexthops, span=span(text), **fields
    )


def _ports(text: str) -> PortRange:
    first, _, last = text.partition("-")
    return PortRange(int(first), int(last or first))


def _mark(text: str) -> MaskedMark:
    value, _, mask = text.partition("/")
    return MaskedMark(int(value, 0), int(mask, 0) if mask else 0xFFFFFFFF)


_RULE: Words = {
    "from": lambda text: {"src": Prefix.parse(text, 4)},
    "to": lambda text: {"dst": Prefix.parse(text, 4)},
    "iif": field("iif", IfName),
    "oif": field("oif", IfName),
    "fwmark": field("mark", _mark),
    "tos": field("tos", lambda text: int(text, 0)),
    "ipproto": field("protocol", protocol_number),
    "sport": field("sport", _ports),
    "dport": field("dport", _ports),
    "uidrange": field("uids", _ports),
    "lookup": field("table", _table),
    "goto": lambda text: {"action": "goto", "goto": int(text)},
    "suppress_prefixlength": field("suppress_prefixlength", int),
}
_RULE_FLAGS = {
    **flags("l3mdev"),
    "not": {"negated": True},
    **{name: {"action": name} for name in ("nop", "blackhole", "unreachable", "prohibit")},
}


def given_rule(text: str) -> PolicyRule:
    """Read a policy rule as `ip rule` prints it: `100: from 10.0.0.0/8 lookup 200`."""
    priority, _, rest = text.partition(":")
    return PolicyRule(
        family=4, priority=int(priority), span=span(text), **read(rest, _RULE, _RULE_FLAGS)
    )


_STATES = ("PERMANENT", "NOARP", "REACHABLE", "STALE", "DELAY", "PROBE", "INCOMPLETE", "FAILED")
_NEIGHBOUR: Words = {"dev": field("link", IfName), "lladdr": field("mac", Mac)}
_FDB: Words = {
    "dev": field("link", IfName),
    "master": field("bridge", IfName),
    "dst": field("dst", Address.parse),
}


def given_neighbour(text: str) -> Neighbour:
    """Read a neighbor as `ip neigh` prints it."""
    address, _, rest = text.partition(" ")
    found = read(rest, _NEIGHBOUR, {state: {"state": state} for state in _STATES})
    return Neighbour(address=Address.parse(address), span=span(text), **found)


def given_fdb_entry(text: str) -> FdbEntry:
    """Read an entry as `bridge fdb` prints it."""
    mac, _, rest = text.partition(" ")
    return FdbEntry(mac=Mac(mac), span=span(text), **read(rest, _FDB, {}))


def given_cilium(**options: str) -> Cilium:
    """Return Cilium's configuration; underscores of the option names stand for dashes."""
    facts: dict[str, Fact[str]] = {}
    for name, value in options.items():
        key = name.replace("_", "-")
        facts[key] = Known(value, span(f"{key}: {value}"))
    return Cilium(options=facts)


def given_ovs(name: str, *ports: str, active: str | None = None) -> OvsBridge:
    """Return an Open vSwitch bridge from its ports: `mgnt`, or `bond1: eth0 eth1`."""
    parsed: dict[str, tuple[IfName, ...]] = {}
    for text in ports:
        port, _, interfaces = text.partition(": ")
        parsed[port] = tuple(IfName(word) for word in (interfaces or port).split())
    return OvsBridge(
        name=name,
        ports=parsed,
        active_slave=IfName(active) if active else None,
        span=span(f"Bridge {name}"),
    )


def listening(*ports: int, protocol: int = 6) -> Listing[Socket]:
    """Return a whole listing of sockets that listen on every address."""
    sockets = tuple(Socket(protocol=protocol, local=None, port=port) for port in ports)
    return Listing(sockets, True, "ss -tuln")


def unknown(fact: str, *values: T) -> Unknown[T]:
    """Return a fact that may have each of these values, the likeliest first."""
    return Unknown(fact, "look", tuple(Option(value, str(value)) for value in values))


def with_sysctl(node: Node, key: str, value: str, netns: str = HOST) -> Node:
    """Return the node with one sysctl set."""
    before = node.namespaces[netns]
    after = replace(before, sysctls={**before.sysctls, key: Known(value, span(f"{key} = {value}"))})
    return replace(node, namespaces={**node.namespaces, netns: after})


def probe(text: str) -> Probe:
    """Read a probe."""
    return Probe.parse(text)


def ip(text: str) -> Address:
    """Read an address."""
    return Address.parse(text)

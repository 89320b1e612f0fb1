"""A node under construction: mutable lists that a generator fills, then frozen to a Node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from podpath.net import protocols
from podpath.net.addresses import Address, Family, IfName, Mac, Prefix
from podpath.net.provenance import Basis, Inferred, Known, Listing, Source, Span
from podpath.node.links import (
    Bridge,
    BridgePort,
    FdbEntry,
    InterfaceAddress,
    Link,
    Neighbour,
    Peer,
    Vxlan,
)
from podpath.node.netfilter import Chain, IpSet, Netfilter, Rule, Table
from podpath.node.nftables import NftTable
from podpath.node.node import HOST, Netns, NetnsRole, Node, Socket
from podpath.node.routing import DEFAULT_RULES, LOCAL, Nexthop, PolicyRule, Route
from podpath.xtables.legality import ChainPolicy, TableFlavour, TableName

BASE_CHAINS: dict[str, tuple[str, ...]] = {
    "raw": ("PREROUTING", "OUTPUT"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "security": ("INPUT", "FORWARD", "OUTPUT"),
}
"""Base chains of each iptables table (net/ipv4/netfilter/iptable_*.c)."""
SIX: dict[Family, str] = {4: "", 6: " of IPv6"}


@dataclass(slots=True)
class DraftTable:
    """One table being written: rules by chain, policies of base chains."""

    name: str
    flavour: str
    chains: dict[str, list[Rule]]
    policies: dict[str, ChainPolicy]


@dataclass(slots=True)
class DraftNetns:
    """One namespace being written."""

    name: str
    role: NetnsRole = NetnsRole.POD
    links: list[Link] = field(
        default_factory=lambda: [Link(name=IfName("lo"), ifindex=1, mtu=65536)]
    )
    addresses: list[InterfaceAddress] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    rules: list[PolicyRule] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    fdb: list[FdbEntry] = field(default_factory=list)
    sysctls: dict[str, str] = field(default_factory=dict)
    tables: dict[tuple[str, str], DraftTable] = field(default_factory=dict)
    sets: dict[str, IpSet] = field(default_factory=dict)
    nftables: list[NftTable] = field(default_factory=list)
    proxies: tuple[int, ...] = ()
    """Ports on which transparent sockets listen, of TCP."""
    six: bool = False
    """True where its devices have IPv6, and so addresses of their own making."""
    tables6: dict[tuple[str, str], DraftTable] = field(default_factory=dict)
    """Those of ip6tables."""

    def link(self, name: str) -> Link:
        """Return a link by name."""
        return next(link for link in self.links if link.name == name)

    def add_bridge(self, name: str, mac: str) -> None:
        """Add a bridge device."""
        self.links.append(
            Link(
                name=IfName(name),
                ifindex=len(self.links) + 1,
                kind="bridge",
                mac=Mac(mac),
                bridge=Bridge(),
            )
        )

    def add_vxlan(self, name: str, mac: str, vxlan: Vxlan, mtu: int) -> None:
        """Add a vxlan device."""
        index = len(self.links) + 1
        self.links.append(
            Link(name=IfName(name), ifindex=index, kind="vxlan", mac=Mac(mac), vxlan=vxlan, mtu=mtu)
        )

    def add_address(self, link: str, text: str) -> None:
        """Add `10.0.0.1/24` to a link; the kernel makes its local and connected routes by
        itself.
        """
        address, _, length = text.partition("/")
        parsed = Address.parse(address)
        secondary = any(
            other.link == link and other.length == int(length) and other.prefix.covers(parsed)
            for other in self.addresses
        )
        self.addresses.append(
            InterfaceAddress(
                link=IfName(link), address=parsed, length=int(length), secondary=secondary
            )
        )

    def add_route(
        self, prefix: str, link: str | None = None, gateway: str | None = None, **more: object
    ) -> None:
        """Add a unicast route, or one of the type in `more`."""
        hop = Nexthop(
            link=IfName(link) if link else None, gateway=Address.parse(gateway) if gateway else None
        )
        hops = (hop,) if link or gateway else ()
        self.routes.append(Route(prefix=Prefix.parse(prefix, 4), nexthops=hops, **more))  # type: ignore[arg-type]  # fields of Route

    def table(self, name: str, flavour: str) -> DraftTable:
        """Return a table, empty base chains included, made when first asked for."""
        key = (flavour, name)
        if key not in self.tables:
            chains: dict[str, list[Rule]] = {chain: [] for chain in BASE_CHAINS[name]}
            self.tables[key] = DraftTable(
                name, flavour, chains, dict.fromkeys(BASE_CHAINS[name], ChainPolicy.ACCEPT)
            )
        return self.tables[key]


@dataclass(slots=True)
class Draft:
    """A node being written."""

    namespaces: dict[str, DraftNetns] = field(default_factory=dict)

    def add_netns(self, name: str, role: NetnsRole = NetnsRole.POD) -> DraftNetns:
        """Add a namespace that holds only `lo`."""
        self.namespaces[name] = DraftNetns(name, role)
        return self.namespaces[name]

    def connect(self, one: str, one_link: str, other: str, other_link: str, serial: int) -> None:
        """Join two namespaces by a veth pair; `serial` makes their MACs unlike any other's."""
        for netns, link, peer, peer_link, side in (
            (one, one_link, other, other_link, 0),
            (other, other_link, one, one_link, 1),
        ):
            draft = self.namespaces[netns]
            draft.links.append(
                Link(
                    name=IfName(link),
                    ifindex=len(draft.links) + 1,
                    kind="veth",
                    mac=Mac(f"02:00:00:00:{serial:02x}:{side:02x}"),
                    peer=Known(Peer(netns=peer, link=IfName(peer_link))),
                )
            )

    def enslave(self, netns: str, link: str, bridge: str, port: BridgePort | None = None) -> None:
        """Make a link a port of a bridge."""
        draft = self.namespaces[netns]
        index = next(i for i, each in enumerate(draft.links) if each.name == link)
        draft.links[index] = replace(
            draft.links[index], master=IfName(bridge), port=port or BridgePort()
        )

    def freeze(self, kernel: str | None = None, ports: tuple[int, ...] | None = None) -> Node:
        """Make the frozen Node; every listing is complete, so no walk on it meets an unknown fact.

        Sockets listen on the ports in every namespace, and on no other; None leaves open what
        listens.
        """
        listeners = tuple(socket for port in ports or () for socket in _listeners(port))
        namespaces = {}
        for name, draft in self.namespaces.items():
            proxies = tuple(map(_proxy, draft.proxies)) if ports else ()
            sockets = Listing((*listeners, *proxies), ports is not None, "ss -tuln")
            namespaces[name] = replace(_freeze_netns(draft), sockets=sockets)
        return Node(name="generated", kernel=kernel, namespaces=namespaces)


def _listeners(port: int) -> tuple[Socket, Socket]:
    stream = Socket(protocol=protocols.TCP, local=None, port=port, transparent=False)
    datagrams = Socket(
        protocol=protocols.UDP, local=None, port=port, state="UNCONN", transparent=False
    )
    return stream, datagrams


def _proxy(port: int) -> Socket:
    return Socket(protocol=protocols.TCP, local=None, port=port, transparent=True)


def _freeze_netns(draft: DraftNetns) -> Netns:
    return Netns(
        name=draft.name,
        role=NetnsRole.HOST if draft.name == HOST else draft.role,
        links=Listing(tuple(draft.links), True, "ip link"),
        addresses=Listing(
            (_LOOPBACK, *draft.addresses, *_addresses_of_links(draft)), True, "ip addr"
        ),
        routes=Listing(
            (*_implied_routes(draft), *_implied_routes6(draft), *draft.routes),
            True,
            "ip route show table all",
        ),
        rules=Listing(
            tuple(sorted((*_default_rules(draft), *draft.rules), key=lambda rule: rule.priority)),
            True,
            "ip rule",
        ),
        neighbours=Listing(tuple(draft.neighbours), True, "ip neigh"),
        fdb=Listing(tuple(draft.fdb), True, "bridge fdb"),
        sysctls={key: Known(value) for key, value in draft.sysctls.items()},
        sysctls_complete=True,
        netfilter={
            4: _freeze_netfilter(draft, 4),
            **({6: _freeze_netfilter(draft, 6)} if draft.six else {}),
        },
        nftables=Listing(tuple(draft.nftables), True, "nft -a list ruleset"),
        conntrack=Listing((), True, "conntrack -L"),
        sockets=Listing((), False, "ss -tuln"),
    )


_LOOPBACK = InterfaceAddress(
    link=IfName("lo"),
    address=Address(4, 127 << 24 | 1),
    length=8,
    scope="host",
    inferred=Inferred(Basis.IMPLIED, "lo is up"),
)


_LOOPBACK6 = InterfaceAddress(
    link=IfName("lo"),
    address=Address(6, 1),
    length=128,
    scope="host",
    inferred=_LOOPBACK.inferred,
)
_KERNEL_METRIC = 256
"""Of the routes that IPv6 makes of addresses (`IP6_RT_PRIO_ADDRCONF`)."""


def link_local(mac: Mac | None) -> Address:
    """Return the link-local address that a device makes of its MAC (RFC 4291, appendix A)."""
    if mac is None:
        raise AssertionError("a drafted device has a MAC")
    octets = bytes.fromhex(mac.replace(":", ""))
    own = bytes((octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]))
    return Address(6, 0xFE80 << 112 | int.from_bytes(own, "big"))


def _default_rules(draft: DraftNetns) -> tuple[PolicyRule, ...]:
    return DEFAULT_RULES[4] + (DEFAULT_RULES[6] if draft.six else ())


def _addresses_of_links(draft: DraftNetns) -> list[InterfaceAddress]:
    """Make the addresses that IPv6 gives every device that is up."""
    if not draft.six:
        return []
    own = [
        InterfaceAddress(link=link.name, address=link_local(link.mac), length=64, scope="link")
        for link in draft.links
        if link.up and link.mac is not None
    ]
    return [_LOOPBACK6, *own]


def _implied_routes6(draft: DraftNetns) -> list[Route]:
    """Make the routes that IPv6 adds for each address (`net/ipv6/addrconf.c:inet6_addr_add v6.12`,
    `addrconf_dad_completed`, `addrconf_join_anycast`, `addrconf_add_mroute`).
    """
    if not draft.six:
        return []
    made: dict[tuple[object, ...], Route] = {}
    for item in (*draft.addresses, *_addresses_of_links(draft)):
        if item.address.family == 6:
            for route in _list_routes6_of(item, draft):
                made.setdefault((route.prefix, route.table, route.nexthops), route)
    return list(made.values())


def _list_routes6_of(item: InterfaceAddress, draft: DraftNetns) -> Iterator[Route]:
    connected = Route(
        prefix=item.prefix,
        nexthops=(Nexthop(link=item.link),),
        metric=_KERNEL_METRIC,
        protocol="kernel",
        inferred=Inferred(Basis.IMPLIED, f"{item.address} is on {item.link}"),
    )
    yield connected
    local = replace(connected, type="local", table=LOCAL, metric=0)
    yield replace(local, prefix=Prefix.of(item.address))
    if item.link == "lo":
        return
    forwards = draft.sysctls.get("net.ipv6.conf.all.forwarding", "0")
    if draft.sysctls.get(f"net.ipv6.conf.{item.link}.forwarding", forwards) == "1" and (
        item.length < 127
    ):
        yield replace(local, type="anycast", prefix=Prefix.of(item.prefix.address))
    yield replace(connected, type="multicast", table=LOCAL, prefix=Prefix.parse("ff00::/8"))


def _implied_routes(draft: DraftNetns) -> list[Route]:
    """Make the routes that `fib_add_ifaddr` (net/ipv4/fib_frontend.c v6.12) adds for each address
    of a link that is up.
    """
    up = {link.name for link in draft.links if link.up}
    held = [address for address in (_LOOPBACK, *draft.addresses) if address.link in up]
    own = [address for address in held if address.address.family == 4]
    return [route for address in own for route in _list_routes_of(address, draft)]


def _list_routes_of(address: InterfaceAddress, draft: DraftNetns) -> Iterator[Route]:
    connected = Route(
        prefix=address.prefix,
        nexthops=(Nexthop(link=address.link),),
        prefsrc=address.address,
        scope="link",
        protocol="kernel",
        inferred=Inferred(Basis.IMPLIED, f"{address.address} is on {address.link}"),
    )
    local = replace(connected, type="local", table=LOCAL, scope="host")
    broadcast = replace(
        connected,
        prefix=Prefix.of(address.prefix.broadcast),
        type="broadcast",
        table=LOCAL,
    )
    primary = _find_primary(address, draft).address
    yield replace(local, prefix=Prefix.of(address.address), prefsrc=primary)
    if address.scope == "host":
        yield local
        yield broadcast
    elif not address.secondary and address.length < 32:
        yield connected
        if address.length < 31:
            yield broadcast


def _find_primary(address: InterfaceAddress, draft: DraftNetns) -> InterfaceAddress:
    """Return the first address of the same network on the same link; a primary one is its own."""
    if not address.secondary:
        return address
    for other in draft.addresses:
        if not other.secondary and (other.link, other.prefix) == (address.link, address.prefix):
            return other
    return address


def _freeze_netfilter(draft: DraftNetns, family: Family) -> Netfilter:
    tables = []
    for table in (draft.tables if family == 4 else draft.tables6).values():
        chains: dict[str, Known[Chain]] = {}
        for name, rules in table.chains.items():
            placed = []
            for position, rule in enumerate(rules, 1):
                label = f"{table.flavour} {table.name} {name} rule {position}{SIX[family]}"
                source = Source(name=f"generated/{draft.name}", lines=(label,))
                placed.append(
                    rule._replace(
                        table=table.name, chain=name, position=position, span=Span(source, 1, 1)
                    )
                )
            chains[name] = Known(
                Chain(name=name, rules=tuple(placed), policy=table.policies.get(name))
            )
        tables.append(
            Table(
                name=TableName(table.name),
                family=family,
                flavour=TableFlavour(table.flavour),
                chains=chains,
            )
        )
    return Netfilter(tables=tuple(tables), complete=True, sets=draft.sets, sets_complete=True)

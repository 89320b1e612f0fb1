"""A node that is being put together: the same parts as the frozen model, in tables that the steps
of the assembly fill.

Every step of the assembly reads the evidence and writes here; inferences read here what outputs
said before them and only add. `freeze` gives the node. The parts (links, addresses, routes) are the
frozen ones of the model from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from podpath.assembly.drafts.lookup import NamespaceAddresses, NamespaceRoutes, Owners
from podpath.net.addresses import Address, Family, IfName
from podpath.net.provenance import Fact, Inferred, Known, Listing, Span
from podpath.node.links import FdbEntry, InterfaceAddress, Link, Neighbour, OvsBridge
from podpath.node.node import (
    HOST,
    Cilium,
    CniNetwork,
    Netns,
    NetnsRole,
    Node,
    Pod,
    Service,
    Socket,
    XfrmPolicy,
)
from podpath.node.routing import DEFAULT_RULES, PolicyRule, Route

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.node.netfilter import ConntrackEntry, Netfilter
    from podpath.node.nftables import NftTable

T = TypeVar("T")

ASKS: Mapping[str, str] = {
    "link": "ip -d link",
    "address": "ip addr",
    "route": "ip route show table all",
    "rule": "ip rule",
    "neigh": "ip neigh",
    "fdb": "bridge fdb",
    "sockets": "ss -tuln",
}
"""The command that prints the whole listing of each kind."""


@dataclass(slots=True, kw_only=True)
class NetnsDraft:
    """One network namespace under construction."""

    name: str
    role: NetnsRole = NetnsRole.POD
    inferred: Inferred | None = None
    links: dict[IfName, Link] = field(default_factory=dict)
    addresses: NamespaceAddresses = field(default_factory=NamespaceAddresses)
    addressed: set[IfName] = field(default_factory=set)
    """Devices whose IPv4 addresses an output lists whole."""
    routes: NamespaceRoutes = field(default_factory=NamespaceRoutes)
    rules: list[PolicyRule] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    proxied: set[tuple[IfName, Address]] = field(default_factory=set)
    policies: list[XfrmPolicy] = field(default_factory=list)
    fdb: list[FdbEntry] = field(default_factory=list)
    sockets: list[Socket] = field(default_factory=list)
    socket_protocols: frozenset[int] = frozenset()
    """Protocols whose sockets a whole listing shows."""
    sysctls: dict[str, Fact[str]] = field(default_factory=dict)
    sysctls_complete: bool = False
    counters: dict[str, Known[int]] = field(default_factory=dict)
    netfilter: Mapping[Family, Netfilter] = field(default_factory=dict)
    conntrack: Listing[ConntrackEntry] | None = None
    nftables: Listing[NftTable] | None = None
    complete: set[str] = field(default_factory=set)
    """Kinds that an output lists whole."""
    cut: set[str] = field(default_factory=set)
    """Kinds whose only listing ends where the text ends."""
    whole_tables: set[tuple[Family, int]] = field(default_factory=set)
    """Routing tables that an output lists whole."""
    routed: frozenset[Family] = frozenset()
    """Families whose routes an output lists whole."""
    spans: dict[str, Span] = field(default_factory=dict)
    """Where the listing of each kind stands."""

    def ask(self, kind: str) -> str:
        """Spell the command that prints the whole listing of a kind in this namespace."""
        return ask_in(self.name, ASKS[kind])

    def owns(self, address: Address) -> bool:
        """Tell whether the address is one of this namespace's own."""
        return address in self.addresses.own

    def add_link(self, link: Link) -> Link:
        """Add a device that nothing listed, or give the listed one of that name."""
        return self.links.setdefault(link.name, link)

    def on_link(self, address: Address) -> InterfaceAddress | None:
        """Return the own address whose prefix holds another address most closely; None where none
        does.
        """
        return self.addresses.subnets.longest(address)

    def route_to(self, address: Address) -> Route | None:
        """Return the likely route to an address: of the main table, longest prefix first, then
        lowest metric.
        """
        return self.routes.main.longest(address)

    def leads_out(self, link: Link) -> bool:
        """Tell whether a device leads to other hosts and not to a pod, whatever its kind: a node
        may be a container itself.

        It has the default route, or an address with a subnet (the host's end of a pod's veth has
        none, or one alone), or it is a slave of something else than a bridge.
        """
        master = self.links.get(link.master) if link.master is not None else None
        if link.bond_slave_of is not None or (
            link.master is not None and (master is None or master.kind != "bridge")
        ):
            return True
        return link.name in self.addresses.wide_links or link.name in self.routes.default_links

    def freeze(self) -> Netns:
        """Return the finished namespace."""
        rules = self.rules or [*DEFAULT_RULES[4], *DEFAULT_RULES[6]]
        return Netns(
            name=self.name,
            role=self.role,
            inferred=self.inferred,
            links=self._list("link", tuple(self.links.values())),
            addresses=self._list("address", tuple(self.addresses)),
            routes=self._list("route", tuple(self.routes)),
            rules=self._list("rule", tuple(rules)),
            neighbours=self._list("neigh", tuple(self.neighbours)),
            proxied=frozenset(self.proxied),
            policies=tuple(self.policies),
            fdb=self._list("fdb", tuple(self.fdb)),
            sockets=self._list("sockets", tuple(self.sockets)),
            socket_protocols=self.socket_protocols,
            addressed=frozenset(self.addressed),
            routed=self.routed,
            sysctls=dict(self.sysctls),
            sysctls_complete=self.sysctls_complete,
            counters=dict(self.counters),
            netfilter=dict(self.netfilter),
            nftables=self.nftables or Listing((), False, ask_in(self.name, "nft -a list ruleset")),
            conntrack=self.conntrack
            or Listing((), False, ask_in(self.name, "conntrack -L -o extended,id")),
        )

    def _list(self, kind: str, items: tuple[T, ...]) -> Listing[T]:
        complete = kind in self.complete
        cut = kind in self.cut and not complete
        return Listing(items, complete, self.ask(kind), self.spans.get(kind), cut)


@dataclass(slots=True, kw_only=True)
class NodeDraft:
    """A node under construction. It always holds the host's namespace."""

    name: str = "node"
    hinted: tuple[Address, ...] = ()
    """Addresses that are said to be the node's own, by its name or by Kubernetes."""
    kernel: str | None = None
    namespaces: dict[str, NetnsDraft] = field(
        default_factory=lambda: {HOST: NetnsDraft(name=HOST, role=NetnsRole.HOST)}
    )
    modules: dict[str, bool] = field(default_factory=dict)
    """Modules by name, and whether the evidence shows them loaded."""
    modules_complete: bool = False
    modules_span: Span | None = None
    ovs: list[OvsBridge] = field(default_factory=list)
    cilium: Cilium | None = None
    cni: list[CniNetwork] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    owners: Owners = field(default_factory=Owners)

    def __post_init__(self) -> None:
        """Let the namespaces that are there already tell whose their addresses are."""
        for name, netns in self.namespaces.items():
            netns.addresses.join(name, self.owners)

    @property
    def host(self) -> NetnsDraft:
        """The node's own namespace."""
        return self.namespaces[HOST]

    def netns(self, name: str, inferred: Inferred | None = None) -> NetnsDraft:
        """Return a namespace, made new where the draft does not hold it yet."""
        if name not in self.namespaces:
            self.namespaces[name] = NetnsDraft(name=name, inferred=inferred)
            self.namespaces[name].addresses.join(name, self.owners)
        return self.namespaces[name]

    def owner(self, address: Address) -> NetnsDraft | None:
        """Return the namespace that an address belongs to; None where no output says so."""
        name = self.owners.owner(address)
        return None if name is None else self.namespaces[name]

    def freeze(self) -> Node:
        """Return the finished node."""
        loaded = tuple(name for name, is_loaded in self.modules.items() if is_loaded)
        return Node(
            name=self.name,
            kernel=self.kernel,
            namespaces={name: netns.freeze() for name, netns in self.namespaces.items()},
            modules=Listing(loaded, self.modules_complete, "lsmod", self.modules_span),
            ovs=tuple(self.ovs),
            cilium=self.cilium,
            cni=tuple(self.cni),
            services=tuple(self.services),
            pods=tuple(self.pods),
        )


def ask_in(netns: str, command: str) -> str:
    """Spell a command as it is asked in a namespace: as it stands on the host, else with the place
    to enter.
    """
    if netns == HOST:
        return command
    if netns.startswith("pid "):
        return f"nsenter -t {netns.removeprefix('pid ')} -n {command}"
    return f"in the network namespace of {netns}: {command}"

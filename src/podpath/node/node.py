"""A node: its network namespaces and what is node-wide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from podpath.net import protocols
from podpath.net.addresses import Address, Family, IfName, Prefix
from podpath.net.provenance import Fact, Inferred, Known, Listing, Option, Span, Unknown
from podpath.node.links import FdbEntry, InterfaceAddress, Link, Neighbour, OvsBridge
from podpath.node.routing import DEFAULT_RULES, PolicyRule, Route

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.node.netfilter import ConntrackEntry, Netfilter, Table
    from podpath.node.nftables import NftTable
    from podpath.node.wires import Wire

HOST = "host"
"""The name of the node's own network namespace."""


class NetnsRole(StrEnum):
    """Whose a network namespace is."""

    HOST = "host"
    POD = "pod"
    OTHER = "other"
    """Neither: another machine that somebody put in its place, a router, a test's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Socket:
    """A listening or connected socket (`ss`)."""

    protocol: int
    local: Address | None
    """None: any address."""
    port: int
    state: str = "LISTEN"
    link: IfName | None = None
    process: str = ""
    """The name of its program; empty where no output shows it."""
    transparent: bool | None = None
    """Whether it takes what is for other hosts (IP_TRANSPARENT), as `ss --inet-sockopt` shows; None
    where no output does.
    """
    span: Span | None = None

    @property
    def is_listening(self) -> bool:
        """Whether it takes what comes from anybody: of TCP only one that listens does."""
        return self.protocol != protocols.TCP or self.state == "LISTEN"

    def has_port(self, protocol: int, port: int) -> bool:
        """Tell whether it has a port of a protocol, which is asked for as by a range: one that NAT
        draws stands for several.
        """
        return self.protocol == protocol and self.port <= port <= self.port

    def is_at(self, address: Address) -> bool:
        """Tell whether it is bound to an address, or to any of that family."""
        if self.local is None or self.local == address:
            return True
        return self.local.is_unspecified and self.local.family == address.family


@dataclass(frozen=True, slots=True, kw_only=True)
class XfrmPolicy:
    """A policy of IPsec (`ip xfrm policy`)."""

    src: Prefix
    dst: Prefix
    direction: str
    """Which way its packets go, in the words of `ip xfrm policy`."""
    blocks: bool
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Netns:
    """One network namespace. Every listing says whether it is whole."""

    name: str
    role: NetnsRole = NetnsRole.POD
    links: Listing[Link]
    addresses: Listing[InterfaceAddress]
    routes: Listing[Route]
    """All tables, in the order listed; a walk sorts them as the kernel does."""
    addressed: frozenset[IfName] = frozenset()
    """Devices whose IPv4 addresses an output lists whole, where it does not list all devices."""
    routed: frozenset[Family] = frozenset()
    """Families whose routes are listed whole: every table that the policy rules look up."""
    rules: Listing[PolicyRule] = Listing(DEFAULT_RULES[4] + DEFAULT_RULES[6], False, "ip rule")
    neighbours: Listing[Neighbour] = Listing((), False, "ip neigh")
    proxied: frozenset[tuple[IfName, Address]] = frozenset()
    """Addresses that a device answers for (`ip neigh show proxy`)."""
    fdb: Listing[FdbEntry] = Listing((), False, "bridge fdb")
    sysctls: Mapping[str, Fact[str]] = field(default_factory=dict)
    """Dotted keys; in the per-device ones the device name is spelled as the kernel's directory
    is.
    """
    sysctls_complete: bool = False
    """True after a whole `sysctl -a`: a key that is missing does not exist (its module is not
    loaded).
    """
    netfilter: Mapping[Family, Netfilter] = field(default_factory=dict)
    nftables: Listing[NftTable] = Listing((), False, "nft -a list ruleset")
    """Native tables; those of iptables are in `netfilter`."""
    conntrack: Listing[ConntrackEntry] = Listing((), False, "conntrack -L -o extended,id")
    policies: tuple[XfrmPolicy, ...] = ()
    """Policies of IPsec, as far as they are shown."""
    sockets: Listing[Socket] = Listing((), False, "ss -tuln")
    socket_protocols: frozenset[int] = frozenset({protocols.TCP, protocols.UDP})
    """Protocols whose sockets the listing shows, where it is whole: `ss -tln` says nothing of
    UDP.
    """
    counters: Mapping[str, Known[int]] = field(default_factory=dict)
    """What the kernel counted (`nstat -as`), by nstat's names."""
    inferred: Inferred | None = None
    """Why the namespace is taken to exist where no listing shows it."""
    node: str = ""
    """The node that it is on, where that is another one than the model's own."""
    inside: str = ""
    """Its name on that node; empty where it is on the model's own."""

    @property
    def place(self) -> str:
        """Return what stands before a command that is asked in the namespace: nothing on the
        host.
        """
        where = f"on {self.node}: " if self.node else ""
        name = self.inside or self.name
        if self.role == NetnsRole.HOST:
            return where
        return f"{where}in the network namespace of {name}: "

    @property
    def tables(self) -> list[Table]:
        """The tables of iptables, of both families."""
        return [table for netfilter in self.netfilter.values() for table in netfilter.tables]

    def holds(self, address: Address) -> bool:
        """Tell whether an address is the namespace's own."""
        return any(item.address == address for item in self.addresses.items)

    def shows_addresses(self, link: IfName) -> bool:
        """Tell whether an IPv4 address of a device that is not listed is not there."""
        return self.addresses.complete or link in self.addressed

    def shows_sockets(self, protocol: int) -> bool:
        """Tell whether a socket of the protocol that is not listed is not there."""
        return self.sockets.complete and protocol in self.socket_protocols

    def listens(self, protocol: int, address: Address, port: int) -> bool:
        """Tell whether a socket takes what comes to an address and port; with no whole listing of
        sockets one is presumed to.
        """
        if not self.shows_sockets(protocol):
            return True
        return any(
            socket.is_listening and socket.has_port(protocol, port) and socket.is_at(address)
            for socket in self.sockets.items
        )

    def sysctl(
        self, key: str, default: str, options: tuple[tuple[str, str], ...] = ()
    ) -> Fact[str]:
        """Return a sysctl's value, or the question for it.

        `default` is what a fresh kernel has, taken as the likeliest; `options` are further (value,
        meaning) pairs.
        """
        fact = self.sysctls.get(key)
        if fact is not None:
            return fact
        if self.sysctls_complete:
            return Known(default, None, f"{key} is not among the namespace's sysctls")
        choices = (
            Option(default, "the kernel's default"),
            *(Option(value, meaning) for value, meaning in options if value != default),
        )
        where = f"on {self.node}: " if self.node else ""
        if self.role == NetnsRole.HOST:
            entered = ""
        else:
            entered = f"nsenter into {self.inside or self.name}: "
        return Unknown(f"{key} in netns {self.name}", f"{where}{entered}sysctl {key}", choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontend:
    """A service as Cilium's load balancer has it in its maps."""

    backends: tuple[tuple[Address, int], ...] = ()
    flags: frozenset[str] = frozenset()
    """As they are printed: `ClusterIP`, `NodePort`, `non-routable`."""
    spans: tuple[Span, ...] = ()
    """Of the frontend itself, then of each backend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cilium:
    """What Cilium's configuration says about what its BPF programs do. Unset options have the
    version's default.
    """

    options: Mapping[str, Fact[str]]
    """Keys of the cilium-config ConfigMap (`enable-bpf-masquerade`), whatever spelling the evidence
    had.
    """
    frontends: Mapping[tuple[Address, int, int], Frontend] = field(default_factory=dict)
    """By address, port and protocol (0: all), where a whole listing of the maps shows them."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CniNetwork:
    """One file of the CNI configuration directory."""

    path: str
    name: str
    version: str
    plugins: tuple[str, ...]
    """Plugin types in chain order."""
    span: Span | None = None
    """The whole file."""
    fault: str = ""
    """Why the file is no configuration; empty for one that is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A Kubernetes Service and its endpoints."""

    namespace: str
    name: str
    type: str
    addresses: tuple[Address, ...]
    ports: tuple[ServicePort, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePort:
    """One port of a Service."""

    protocol: int
    port: int
    name: str = ""
    node_port: int | None = None
    endpoints: tuple[tuple[Address, int], ...] = ()
    complete: bool = True
    """False where the listing ended in "+ 7 more..."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod that the evidence describes."""

    namespace: str
    name: str
    address: Address | None = None
    node: str | None = None
    netns: str | None = None
    """The namespace of the model that is this pod's; None where unknown."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The frozen model of one node."""

    name: str
    namespaces: Mapping[str, Netns]
    """Always holds `host`."""
    kernel: str | None = None
    """`uname -r`; None where the evidence does not say."""
    modules: Listing[str] = Listing((), False, "lsmod")
    ovs: tuple[OvsBridge, ...] = ()
    cilium: Cilium | None = None
    """None where nothing in the evidence speaks of Cilium."""
    cni: tuple[CniNetwork, ...] = ()
    services: tuple[Service, ...] = ()
    pods: tuple[Pod, ...] = ()
    beside: Mapping[str, Node] = field(default_factory=dict)
    """The other nodes of its cluster by name, each as its own evidence has it."""
    wires: tuple[Wire, ...] = ()
    """What connects it with them."""

    def home_of(self, netns: Netns) -> Node:
        """Return the node that a namespace is on: its kernel, its modules."""
        if netns.node:
            return self.beside.get(netns.node, self)
        return self

    @property
    def host(self) -> Netns:
        """The node's own network namespace."""
        return self.namespaces[HOST]

    def find_holder(self, address: Address, *, pods_only: bool = False) -> str | None:
        """Return the namespace that has an address: of any, or of pods."""
        for name, netns in self.namespaces.items():
            if netns.holds(address) and not (pods_only and name == HOST):
                return name
        return None


def may_have(node: Node, device: str) -> bool:
    """Tell whether a node may have a device of this name: it is listed in one of its namespaces, or
    the host's devices are not listed whole.
    """
    spaces = node.namespaces.values()
    listed = any(link.name == device for space in spaces for link in space.links.items)
    return listed or not node.host.links.complete

"""Changes to a node, as data: what a repair would do, applied to the frozen model."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.addresses import Family
from podpath.net.provenance import Span
from podpath.node.links import FdbEntry, InterfaceAddress, Neighbour
from podpath.node.netfilter import Chain, IpSet, Rule, Table
from podpath.node.nftables import NftTable
from podpath.node.routing import PolicyRule, Route
from podpath.xtables.legality import ChainPolicy, TableFlavour


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSysctl:
    """`sysctl -w KEY=VALUE` in a namespace."""

    netns: str
    key: str
    value: str
    span: Span | None = None
    """The line that asks for it, where somebody wrote one."""
    kept: str | None = None
    """The value that may stay instead: a new default reaches only devices whose own value nobody
    wrote before (`devinet_copy_dflt_conf`, net/ipv4/devinet.c v6.12). None where it does not stay.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadModule:
    """`modprobe NAME`: node-wide, with the sysctls that the module brings at their defaults."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRoute:
    """`ip route del`."""

    netns: str
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRoute:
    """`ip route add`."""

    netns: str
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class AddPolicyRule:
    """`ip rule add`."""

    netns: str
    rule: PolicyRule


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePolicyRule:
    """`ip rule del`."""

    netns: str
    rule: PolicyRule


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteRule:
    """`iptables -D`."""

    netns: str
    family: Family
    flavour: TableFlavour
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertRule:
    """`iptables -I CHAIN POSITION`: the rule's own table, chain and position say where."""

    netns: str
    family: Family
    flavour: TableFlavour
    rule: Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """`iptables -P CHAIN ACCEPT`."""

    netns: str
    family: Family
    flavour: TableFlavour
    table: str
    chain: str
    policy: ChainPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAddress:
    """`ip addr add`."""

    netns: str
    address: InterfaceAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteAddress:
    """`ip addr del`."""

    netns: str
    address: InterfaceAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNeighbour:
    """`ip neigh replace`."""

    netns: str
    neighbour: Neighbour


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFdbEntry:
    """`bridge fdb replace`."""

    netns: str
    entry: FdbEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class PutChain:
    """`iptables-restore --noflush` of one chain: it has these rules then, and is made where it is
    missing.
    """

    netns: str
    family: Family
    flavour: TableFlavour
    table: str
    chain: Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class PutTable:
    """`iptables-restore` of one table: it is this one then."""

    netns: str
    table: Table
    replaced: tuple[tuple[Span, Span], ...] = ()
    """Rules that are gone, each with the line of a file that took it away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutSet:
    """`ipset restore` of one set: it has these members then."""

    netns: str
    members: IpSet


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNftTable:
    """`nft -f` of one native table, in the place of the one of that family and name."""

    netns: str
    table: NftTable


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteNftTable:
    """`nft delete table`."""

    netns: str
    table: NftTable


@dataclass(frozen=True, slots=True, kw_only=True)
class PutNftables:
    """`nft -f` of a script: the namespace has these tables then, in the order of their making."""

    netns: str
    tables: tuple[NftTable, ...]
    flushed: tuple[Family, ...] = ()
    """Families of which all tables were flushed, those that iptables-nft made among them."""
    whole: bool = False
    """True where all was flushed, so that no other table exists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCiliumOption:
    """An option of the cilium-config ConfigMap, once the agent has taken it over."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteConntrack:
    """`conntrack -D`: forget the entries of one original destination."""

    netns: str
    original_dst: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLink:
    """`ip link set`: the named attributes of a device, or of it as a bridge port (`hairpin`), and
    those that a vxlan device is made with (`vni`, `dstport`).
    """

    netns: str
    link: str
    attributes: tuple[tuple[str, str], ...]


Change = (
    SetSysctl
    | LoadModule
    | DeleteRoute
    | AddRoute
    | AddPolicyRule
    | DeletePolicyRule
    | DeleteRule
    | InsertRule
    | SetPolicy
    | AddAddress
    | DeleteAddress
    | PutNeighbour
    | PutFdbEntry
    | PutChain
    | PutTable
    | PutSet
    | PutNftTable
    | DeleteNftTable
    | PutNftables
    | SetCiliumOption
    | DeleteConntrack
    | SetLink
)

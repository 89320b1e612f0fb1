"""What outputs list of a node, as records: its devices, addresses, routes, sets.

Captures alone have none of it, and are read without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from podpath.evidence.records import Record
from podpath.net.addresses import Address, Family, IfName, Mac, MaskedMark, PortRange, Prefix
from podpath.net.provenance import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRecord(Record):
    """A device of `ip link` or `ip addr`."""

    name: IfName
    ifindex: int | None = None
    kind: str | None = None
    flags: tuple[str, ...] | None = None
    mtu: int | None = None
    state: str | None = None
    master: str | None = None
    peer_name: str | None = None
    """The part behind `@` where it is a name."""
    peer_ifindex: int | None = None
    """The part behind `@` where it is `ifN`, or JSON's `link_index`."""
    peer_netns: str | None = None
    """`link-netns NAME`, or the id of `link-netnsid N` as text."""
    mac: Mac | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    """Options of the kind (`vlan_filtering` of a bridge, `id` of a vxlan), spelled as `info_data`
    of `ip -d -j`; `on`/`off`.
    """
    port_kind: str | None = None
    """What its master is: `bridge`, `bond`, `vrf`, `openvswitch` (`info_slave_kind`)."""
    port_details: Mapping[str, str] = field(default_factory=dict)
    """Options as a port of its master (`hairpin`, `isolated`), spelled as `info_slave_data`;
    `on`/`off` for what is switched.
    """
    qdisc: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRecord(Record):
    """An address of `ip addr`."""

    link: IfName | None
    """None where the fragment does not show the device."""
    address: Address
    length: int
    peer: Address | None = None
    broadcast: Address | None = None
    scope: str | None = None
    flags: tuple[str, ...] = ()
    """`secondary`, `dynamic`, `noprefixroute`, `deprecated`, `tentative`, ..."""


class NexthopRecord(NamedTuple):
    """One nexthop of a route."""

    link: str | None
    gateway: Address | None
    weight: int | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRecord(Record):
    """A route of `ip route` or `route -n`."""

    prefix: Prefix
    type: str | None = None
    """None: unicast."""
    nexthops: tuple[NexthopRecord, ...] = ()
    table: str | None = None
    metric: int | None = None
    prefsrc: Address | None = None
    scope: str | None = None
    protocol: str | None = None
    tos: int | None = None
    mtu: int | None = None
    mtu_locked: bool = False
    advmss: int | None = None
    flags: tuple[str, ...] = ()
    unread: str = ""
    """Attributes that are not understood: what the route does with a packet is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRuleRecord(Record):
    """A line of `ip rule`."""

    family: Family
    priority: int | None
    negated: bool = False
    src: Prefix | None = None
    dst: Prefix | None = None
    iif: str | None = None
    oif: str | None = None
    mark: MaskedMark | None = None
    tos: int | None = None
    protocol: int | None = None
    sport: PortRange | None = None
    dport: PortRange | None = None
    uids: PortRange | None = None
    l3mdev: bool = False
    action: str = "lookup"
    table: str | None = None
    goto: int | None = None
    suppress_prefixlength: int | None = None
    unread: str = ""
    """Selectors that are not known, as they are spelled: what else has to hold for the rule to
    count.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourRecord(Record):
    """A line of `ip neigh` or `arp -n`."""

    address: Address
    link: str | None
    mac: Mac | None = None
    state: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SysctlRecord(Record):
    """One sysctl, from `sysctl`, a sysctl.d file or a /proc/sys file."""

    key: str
    """Dotted; a dot inside a device name is spelled `/` as sysctl(8) does."""
    value: str
    configured: bool = False
    """True for a line of a configuration file: wanted, not necessarily in force."""
    missing: bool = False
    """True where the command says that there is no such key (its module is not loaded); the value
    is empty then.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class SparedSysctlRecord(Record):
    """`-KEY` in a file of sysctls: a key that no pattern of the file sets."""

    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRecord(Record):
    """A line of lsmod: a loaded module."""

    name: str
    used_by: tuple[str, ...] = ()
    loaded: bool = True
    """False where the output shows that it is not loaded (`lsmod | grep NAME` printed nothing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeRecord(Record):
    """A bridge and ports of it (`brctl show`)."""

    name: IfName
    ports: tuple[IfName, ...]
    stp: bool | None = None
    bridge_id: str | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgePortRecord(Record):
    """A port of `bridge link`."""

    port: IfName
    bridge: str | None
    state: str | None = None
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FdbRecord(Record):
    """A line of `bridge fdb`."""

    mac: Mac
    link: IfName | None
    """None where only the port's number is printed (`brctl showmacs`)."""
    vlan: int | None = None
    master: str | None = None
    dst: Address | None = None
    port_no: int | None = None
    """The port's number in its bridge: `no` in the link's `port_details`."""
    flags: tuple[str, ...] = ()
    """`self`, `permanent`, `extern_learn`, `static`, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeVlanRecord(Record):
    """A VLAN of a port of `bridge vlan`."""

    port: IfName
    vlan: int
    last: int | None = None
    pvid: bool = False
    untagged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscRecord(Record):
    """A line of `tc qdisc`."""

    kind: str
    link: IfName
    root: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class XfrmPolicyRecord(Record):
    """An entry of `ip xfrm policy`."""

    src: Prefix
    dst: Prefix
    direction: str
    """Which way its packets go, as it is printed."""
    action: str
    """What becomes of them, as it is printed."""
    of_socket: bool = False
    """True where it counts for one socket alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketRecord(Record):
    """A line of `ss` or `netstat`."""

    protocol: int
    state: str
    local: Address | None
    """None: any address; `::` where the socket is of IPv6 only."""
    port: int | None
    link: str | None = None
    process: str | None = None
    transparent: bool | None = None
    """Whether IP_TRANSPARENT is set; None where its options are not printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsPortRecord(Record):
    """A port of an Open vSwitch bridge (`ovs-vsctl show`)."""

    bridge: str
    port: str
    interfaces: tuple[tuple[str, str | None], ...]
    """Interface names with their type (`internal`, `patch`; None for a system device)."""
    tag: int | None = None
    peer: str = ""
    """Of a patch port, the port of another bridge that it leads to."""
    program: Span | None = None
    """The line above it that says that a program puts flows into the bridge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsBondRecord(Record):
    """What `ovs-appctl bond/show` says of a bond."""

    name: str | None
    mode: str | None
    active_slave: str | None
    active_mac: Mac | None
    slaves: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CiliumFrontendRecord(Record):
    """A row of `cilium bpf lb list`: a backend of a frontend, or what kind of frontend it is."""

    address: Address
    port: int
    protocol: int
    """0 where the maps hold one entry for all protocols."""
    backend: tuple[Address, int] | None
    """None for the row of the frontend itself (0.0.0.0:0)."""
    flags: frozenset[str]
    whole: bool
    """False where the listing may be a part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsFlowListingRecord(Record):
    """The head of a listing of flows or groups (`ovs-ofctl dump-flows`, `dump-groups`)."""

    bridge: str
    """Empty where no command names it."""
    what: str
    """`flows` or `groups`."""
    whole: bool
    """False where the command asked for some of them, or a filter stands behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsFlowRecord(Record):
    """A flow of a bridge."""

    bridge: str
    table: int
    priority: int
    match: tuple[tuple[str, str], ...]
    """Fields with their values; empty for `tcp` and the like."""
    actions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsGroupRecord(Record):
    """A group of a bridge."""

    bridge: str
    number: int
    type: str
    buckets: tuple[str, ...]
    """The actions of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsPortNumberRecord(Record):
    """A port's OpenFlow number (`ovs-ofctl show`)."""

    bridge: str
    port: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IpSetRecord(Record):
    """A `create` line of `ipset save`, or a heading of `ipset list`."""

    name: str
    type: str
    family: Family
    options: Mapping[str, str]
    size: int | None = None
    """How many entries `ipset list` says it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IpSetEntryRecord(Record):
    """An `add` line of `ipset save`, or a member of `ipset list`."""

    name: str
    parts: tuple[str, ...]
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nomatch: bool = False


class VethPairRecord(NamedTuple):
    """The two ends of a veth pair, as a bundle's manifest states them."""

    netns: str
    link: IfName
    peer_netns: str
    peer_link: IfName


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecord(Record):
    """What a bundle's `bundle.json` says of the node and its network namespaces."""

    node: str | None = None
    kernel: str | None = None
    """`uname -r`."""
    taken_at: float | None = None
    """Seconds since the epoch."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """`host`, `pod` or `other`, by the namespace's name."""
    pods: Mapping[str, str] = field(default_factory=dict)
    """`NAMESPACE/NAME` of the pod, by the namespace's name."""
    nsids: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By the namespace's name: whom its numbers for other namespaces (`link-netnsid`) stand for, as
    the kernel said. A number that is missing is of a namespace that is not in the bundle.
    """
    veths: tuple[VethPairRecord, ...] = ()

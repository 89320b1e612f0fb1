"""What readers give: typed, tolerant records, each with the span it was read from.

A record keeps what its line says and nothing else: a field that the text does not show is None (or
empty), never a default. Text and JSON forms of one command give the same records. `assembly` alone
turns them into the Node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from podpath.net.addresses import Address, Family, IfName, Mac, MaskedMark, PortRange, Prefix
from podpath.net.failures import Result
from podpath.net.packet import Packet
from podpath.net.probe import USUALLY, Sending
from podpath.net.provenance import Gap, Span

if TYPE_CHECKING:  # what captures alone show has none, and they are slow to load
    from podpath.net.messages import MessageKind
    from podpath.net.settings import SettingsFile
    from podpath.net.statements import Statement

R = TypeVar("R", bound="Record")


class Reading(NamedTuple):
    """What one reader made of one source: together the spans cover every line that is not blank."""

    records: tuple[Record, ...]
    gaps: tuple[Gap, ...]

    def of(self, kind: type[R]) -> list[R]:
        """Return the records of a type, in their order."""
        return [record for record in self.records if isinstance(record, kind)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all records."""

    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingRecord(Record):
    """A line that belongs to the format but states no fact: a heading, a column title, a separator,
    a trailer.
    """

    text: str = ""
    partial: bool = False
    """True where it says that lines are missing (`...`, `--` of a grep)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord(Record):
    """A line of a known kind, wherever it stands: a log, an event, the error of a command."""

    kind: MessageKind
    values: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    """How many lines of the source say the same."""
    speaker: str = ""
    """Who printed the line, by its name and number: `nginx[812]`; empty where it does not say."""
    again: tuple[int, ...] = ()
    """The numbers of other lines that say the same, the first hundreds of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementRecord(Record):
    """Something that an output states of the host and that no walk asks for."""

    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsRecord(Record):
    """A configuration file, or a part of one, with what it sets."""

    file: SettingsFile


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
class AttemptRecord(Record):
    """A connection that somebody tried, and what came of it: a curl, a ping, a probe, a client's
    log line.
    """

    protocol: int
    dst: Address
    dport: int
    """0 for ICMP."""
    result: Result
    src: Address | None = None
    who: str = ""
    """`curl`, `ping`, `kubelet readiness probe`, `container log`, ..."""
    origin: str | None = None
    """Where it ran: `host`, `pod`, a namespace's name; None where the text does not say."""
    detail: str = ""
    """The message that says how it failed."""
    sending: Sending = USUALLY
    """How it was sent, where the typed command says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCommandRecord(Record):
    """A command that changes the node, as typed at a prompt (`modprobe br_netfilter`, `sysctl -w
    ...`, `ip route del ...`).
    """

    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketRecord(Record):
    """One packet of tcpdump's text."""

    time: float | None
    """Seconds since midnight, or since the epoch where the date stands there too."""
    packet: Packet | None
    """None for what is not IP, and for ARP."""
    link: str | None = None
    direction: str | None = None
    relative: bool = True
    """True where sequence and acknowledgement numbers may be relative to the connection's first
    packet.
    """
    smac: str | None = None
    """As printed: MACs in articles are often replaced by words (`MGNT_MAC`)."""
    dmac: str | None = None
    arp: ArpRecord | None = None
    note: str = ""
    """What the printer said further: `HTTP: GET / HTTP/1.1`."""
    tunnel: str = ""
    """The tunnel that it was in: `VXLAN vni 1`."""
    mtu: int = 0
    """What an ICMP error says that fits; 0 where it names none."""
    wrong_sum: bool = False
    """True where the printer calls the checksum of its transport header wrong."""


class ArpRecord(NamedTuple):
    """The body of an ARP frame."""

    operation: str
    sender: Address | None
    target: Address | None
    sender_mac: str | None
    target_mac: str | None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConntrackRecord(Record):
    """A line of `conntrack -L` or /proc/net/nf_conntrack."""

    family: Family
    protocol: int
    state: str | None
    timeout: int | None
    original: ConnTupleRecord
    reply: ConnTupleRecord | None
    unreplied: bool = False
    assured: bool = False
    offloaded: bool = False
    mark: int | None = None
    zone: int | None = None
    zone_original: int | None = None
    zone_reply: int | None = None
    id: int | None = None


class ConnTupleRecord(NamedTuple):
    """One direction of a conntrack line; None where digits were elided."""

    src: Address
    dst: Address
    sport: int | None
    dport: int | None
    icmp_type: int | None = None
    icmp_id: int | None = None


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

"""Network devices and their addresses and neighbors, as the kernel holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from podpath.net.addresses import Address, IfName, Mac, Prefix
from podpath.net.provenance import Fact, Inferred, Span

if TYPE_CHECKING:  # most bridges have none
    from podpath.node.openflow import OpenFlow

_INNER_PORTS = frozenset({"tun", "vxlan"})
"""Kinds of a bridge's ports that lead to a guest or a tunnel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The other end of a veth pair."""

    netns: str
    link: IfName


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgePort:
    """What a bridge holds of one of its ports (`bridge -d link`)."""

    state: str = "forwarding"
    hairpin: bool = False
    isolated: bool = False
    learning: bool = True
    flood: bool = True
    bcast_flood: bool = True
    """False: no broadcast goes out of it, an ARP request neither."""
    mcast_flood: bool = True
    """False: no multicast that nobody joined goes out of it."""
    neigh_suppress: bool = False
    pvid: int | None = 1
    """VLAN of untagged frames; None: it takes none."""
    vlans: frozenset[int] = frozenset({1})
    vlan_span: Span | None = field(default=None, compare=False)
    """The first of the lines that list its VLANs; None where none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """What a bridge device has beyond a link (`ip -d link`)."""

    vlan_filtering: bool = False
    nf_call_iptables: bool = False
    """The bridge's own switch, OR-ed with the sysctl of its namespace."""
    nf_call_ip6tables: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Vxlan:
    """What a vxlan device has beyond a link."""

    vni: int
    port: int
    local: Address | None = None
    remote: Address | None = None
    dev: IfName | None = None
    learning: bool = True
    checksum: bool | None = True
    """Whether it computes the checksum of its outer packets (`udpcsum`); None: nothing tells."""
    external: bool = False
    """True: a program or a route says for each packet where it goes (Cilium, Open vSwitch)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelEnds:
    """Between which addresses an ipip or gre device is a tunnel (`ip -d link`)."""

    remote: Address | None = None
    """None: whatever the route's gateway is, and from whomever it comes."""
    local: Address | None = None
    ttl: int = 0
    """Of the outer packets; 0: that of the inner one (`ttl inherit`)."""
    sends_key: str = ""
    takes_key: str = ""
    external: bool = False
    """True: routes, or BPF programs, say for each packet where it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Geneve:
    """What a geneve device has beyond a link (`ip -d link`)."""

    vni: int
    port: int
    remote: Address | None = None
    external: bool = False
    """True: a program says for each packet where it goes (Open vSwitch, Cilium)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedPeer:
    """A peer of a WireGuard device, as the device holds it (`wg show`)."""

    key: str
    """The public key that it is known by."""
    endpoint: Address | None = None
    port: int = 0
    allowed: tuple[Prefix, ...] = ()
    """Where packets are sent to it, and from where they are taken of it."""
    preshared: bool = False
    shook_hands: bool = False
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wireguard:
    """What a WireGuard device has beyond a link."""

    key: str
    """Its own public key."""
    port: int
    mark: int = 0
    """What the packets that it sends are marked with (`fwmark`)."""
    peers: tuple[KeyedPeer, ...] = ()
    complete: bool = True
    """False where peers may be missing."""
    span: Span | None = None


class MacvlanMode(StrEnum):
    """Whom a macvlan device reaches on the wire that it shares (`ip link`). Mode `source` is
    none of them: what comes in is picked by who sends it, from a list that no walk knows.
    """

    BRIDGE = "bridge"
    PRIVATE = "private"
    VEPA = "vepa"
    PASSTHRU = "passthru"


@dataclass(frozen=True, slots=True, kw_only=True)
class Macvlan:
    """What a macvlan device has beyond a link."""

    parent: Peer
    """The device whose wire it shares, in whichever namespace that is."""
    mode: MacvlanMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdisc:
    """A queueing discipline of a device; `clsact` and `ingress` are where filters hang."""

    kind: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A network device."""

    name: IfName
    ifindex: int | None = None
    """None where the evidence does not say."""
    kind: str = ""
    """iproute2's kind (`veth`, `bridge`, `vxlan`, `bond`, `openvswitch`, ...); empty for hardware
    and where unknown.
    """
    up: bool = True
    """IFF_UP: administratively up."""
    carrier: bool = True
    """IFF_LOWER_UP."""
    noarp: bool = False
    promisc: bool = False
    mtu: int = 1500
    mtu_inferred: Inferred | None = None
    """That no output shows the MTU: Ethernet's is taken."""
    mac: Mac | None = None
    master: IfName | None = None
    """The bridge, bond or VRF it is enslaved to (`ovs-system` for a port of Open vSwitch)."""
    lower: IfName | None = None
    """The device that a VLAN or macvlan sits on."""
    peer: Fact[Peer] | None = None
    """The other end of a veth; None for every other kind: its frames leave the node."""
    bridge: Bridge | None = None
    port: BridgePort | None = None
    vxlan: Vxlan | None = None
    ends: TunnelEnds | None = None
    """Of an ipip or gre device; None where the listing does not say."""
    geneve: Geneve | None = None
    """Of a geneve device; None where the listing does not say."""
    wireguard: Wireguard | None = None
    """Of a WireGuard device; None where no output of `wg show` tells."""
    macvlan: Macvlan | None = None
    """Of a macvlan device; None where the listing does not say whose wire it shares, or how."""
    bond_slave_of: str | None = None
    """The bond or OVS port that it is a slave of, where that is not its `master` (Open vSwitch)."""
    span: Span | None = None
    """Where it stands; None where only other facts imply it."""
    xdp: bool = False
    """True where a program looks at frames before the stack does."""
    qdiscs: tuple[Qdisc, ...] = ()
    """Its queueing disciplines (`tc qdisc`), as far as they are shown."""
    outward: bool = False
    """True for a veth that leads out of the node, which is a container itself, and to no pod."""
    inferred: Inferred | None = None
    """Why it is taken to exist where no listing shows it; None for a listed link."""
    stands_for: str = ""
    """Which device is meant, in words, where the name is made up because no output shows it: such a
    name is never part of a command.
    """

    @property
    def leaves_node(self) -> bool:
        """Whether it leads out of the node where it is a bridge's port."""
        if self.kind == "veth":
            return self.outward
        return self.kind not in _INNER_PORTS and self.peer is None


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceAddress:
    """An address on a device. Their order is the kernel's: the first primary one of a scope is
    preferred.
    """

    link: IfName
    address: Address
    length: int
    scope: str = "global"
    """As `ip` prints it: `global`, `site`, `link`, `host`, another one by its number."""
    secondary: bool = False
    broadcast: Address | None = None
    peer: Address | None = None
    """The far end of a point-to-point address."""
    noprefixroute: bool = False
    tentative: bool = False
    """True while duplicate address detection has not passed: nobody can use it yet."""
    dad_failed: bool = False
    """True where duplicate address detection found somebody else with it."""
    leased: bool = False
    """True where it ends by itself (`dynamic`): a DHCP client or a router's announcement set it."""
    span: Span | None = None
    inferred: Inferred | None = None
    stands_for: str = ""
    """Which address is meant, in words, where this one is made up because no output shows it."""

    @property
    def prefix(self) -> Prefix:
        """The on-link prefix of the address (of its peer, for a point-to-point one)."""
        return Prefix.of(self.peer or self.address, self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entry of the neighbor table (ARP or ND)."""

    address: Address
    link: IfName
    mac: Mac | None = None
    state: str = "REACHABLE"
    """NUD state: PERMANENT, NOARP, REACHABLE, STALE, DELAY, PROBE, INCOMPLETE, FAILED."""
    span: Span | None = None
    inferred: Inferred | None = None
    """Why it is taken to be there where no listing shows it: a capture shows who answers for the
    address, say.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class FdbEntry:
    """A forwarding entry of a bridge or a vxlan device."""

    mac: Mac
    link: IfName
    """The port that the MAC is behind."""
    bridge: IfName | None = None
    vlan: int | None = None
    local: bool = False
    """True for an own address of the bridge or port (`permanent`)."""
    dst: Address | None = None
    """The remote tunnel end, of a vxlan entry."""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OvsBridge:
    """An Open vSwitch bridge: ports by name, each with its interfaces (more than one: a bond)."""

    name: str
    ports: Mapping[str, tuple[IfName, ...]] = field(default_factory=dict)
    bond_mode: str | None = None
    active_slave: IfName | None = None
    patches: Mapping[str, str] = field(default_factory=dict)
    """Patch ports, each with the port of another bridge that it leads to."""
    openflow: OpenFlow | None = None
    """None where no output shows its flows."""
    program: Span | None = None
    """The line that says that a program puts flows into it (a controller, `fail_mode: secure`)."""
    span: Span | None = None

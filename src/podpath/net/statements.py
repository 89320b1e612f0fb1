"""What outputs state of a host beside the facts that a walk asks for: answers of `ip route get`,
offloads, peers, leases.

Each is one plain value. It becomes a fact of the case with its line and its namespace; no walk
reads it, checks do.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from podpath.net.addresses import Address, IfName, Prefix
from podpath.net.firewall import FirewallStatement


class RouteAnswer(NamedTuple):
    """What the kernel answered when somebody asked it for the way to an address (`ip route
    get`).
    """

    dst: Address | None
    """None where the answer is an error and the command does not show the address."""
    type: str = "unicast"
    """`unicast`, `local`, `broadcast`, `unreachable`, `blackhole`, `prohibit`."""
    link: IfName | None = None
    gateway: Address | None = None
    prefsrc: Address | None = None
    src: Address | None = None
    """The source that was asked with (`from ADDRESS`)."""
    iif: str | None = None
    """The device that was asked with: the question is then that of a packet that comes in there."""
    table: str | None = None
    error: str = ""
    """What it said instead of a way: `Network is unreachable`."""
    mtu: int | None = None
    """The path's MTU, where an ICMP error told it (`cache expires 537sec mtu 1400`)."""
    mtu_locked: bool = False
    """True where the error told less than the kernel believes (`mtu lock 552`)."""


class OffloadFeature(NamedTuple):
    """A feature of a device, as `ethtool -k` lists it."""

    link: IfName
    feature: str
    on: bool
    fixed: bool = False


class DeviceCount(NamedTuple):
    """A counter of a device: of `ip -s link`, ifconfig, `ethtool -S` or /proc/net/dev."""

    link: IfName
    name: str
    """`rx_errors`, `rx_dropped`, `tx_carrier`, ... or what the driver calls it."""
    value: int


class LinkMode(NamedTuple):
    """What a card and its partner agreed on, as `ethtool DEVICE`, mii-tool or lshw says it."""

    link: IfName
    speed: int | None = None
    """In Mbit/s; None where it is unknown or not shown."""
    half: bool | None = None
    """Whether it is half duplex; None where that is not shown."""
    negotiated: bool | None = None
    """Whether the two ends negotiate; None where it is not shown."""
    detected: bool | None = None
    """Whether there is a link; None where it is not shown."""
    most: int | None = None
    """The fastest mode that the card supports, in Mbit/s."""


class ArpAnswer(NamedTuple):
    """Who answered an `arping`."""

    target: Address
    link: IfName | None
    macs: tuple[str, ...]
    """Every MAC that answered; none where nobody did."""


class NeighbourCount(NamedTuple):
    """How many entries the neighbor table had, as somebody counted them (`ip neigh | wc -l`)."""

    value: int


class Hop(NamedTuple):
    """A line of traceroute, tracepath or mtr."""

    dst: Address | None
    number: int
    addresses: tuple[Address, ...]
    mark: str = ""
    """What it says of the failure: `!H`, `!N`, `!X`, `!F`."""
    mtu: int | None = None
    """The path's MTU from here on, as tracepath says it."""


class WireguardInterface(NamedTuple):
    """A device of `wg show`."""

    link: IfName
    key: str
    """Its public key."""
    port: int
    mark: int = 0


class WireguardPeer(NamedTuple):
    """A peer of `wg show`."""

    link: IfName
    key: str
    endpoint: str = ""
    allowed: tuple[Prefix, ...] = ()
    handshake: str = ""
    """When it last shook hands, in words; empty where it never did."""
    received: str = ""
    sent: str = ""
    preshared: bool = False
    """True where both ends have to hold one more key."""


class DeviceManager(StrEnum):
    """A program that lists the devices that it manages."""

    NETWORK_MANAGER = "NetworkManager"
    NETWORKD = "systemd-networkd"


class ManagedDevice(NamedTuple):
    """A device as a manager lists it (`nmcli device`, `networkctl`)."""

    manager: DeviceManager
    link: IfName
    state: str
    profile: str = ""
    file: str = ""
    """The file by which the manager configures it; empty where the output does not name one."""


class ConfiguredDevice(NamedTuple):
    """What a configuration file wants of a device: interfaces(5), netplan, ifcfg, .network."""

    manager: str
    """`ifupdown`, `netplan`, `network-scripts`, `systemd-networkd`; `CNI` for a plugin's parent."""
    link: IfName
    ports: tuple[str, ...] = ()
    """The ports or slaves that it is to have."""
    addresses: tuple[str, ...] = ()
    gateway: str = ""
    matched: bool = False
    """True where the file finds the device by its MAC or driver, so that its name says nothing."""


class ListenQueue(NamedTuple):
    """The queue of a listening TCP socket, as ss shows it: in that state its columns mean something
    else than for others.
    """

    port: int
    waiting: int
    """Connections that are open and that the program has not accepted (Recv-Q)."""
    backlog: int
    """How many may wait (Send-Q)."""


class UnitState(NamedTuple):
    """What `systemctl status` says of a unit."""

    unit: str
    """`nginx.service`."""
    title: str
    """What its file calls it, in words."""
    active: str
    """`active`, `inactive`, `failed`, `activating`, `deactivating`."""
    detail: str
    """What stands behind it in brackets: `running`, `dead`, `Result: exit-code`."""
    loaded: str = ""
    """`loaded`, `not-found`, `masked`; empty where its line is not shown."""
    enabled: str = ""
    """`enabled`, `disabled`, `static`; empty where its line does not say."""
    once: bool = False
    """True where it ran once and ended well, or its own condition kept it from starting."""


class BondState(NamedTuple):
    """What /proc/net/bonding says of a bond, or of one of its slaves."""

    bond: IfName
    mode: str = ""
    slave: str = ""
    up: bool | None = None
    partner: str = ""
    """The MAC of the link partner in 802.3ad; zeros where none answers."""
    aggregator: str = ""
    """The number of the aggregator that a slave is in."""


class PortSwitch(NamedTuple):
    """A switch of a bridge's ports, as a file of each says it, where no name of a port is shown."""

    bridge: str
    """Empty where the path names ports alone."""
    switch: str
    """`hairpin_mode`, `isolated`."""
    on: bool


class ClockRead(NamedTuple):
    """What a host's clock showed, without its zone, when its outputs were printed."""

    moment: datetime


class WarningEvent(NamedTuple):
    """An event of Kubernetes that warns."""

    subject: str
    """Whose it is, as far as that is shown: `pod/web-0`."""
    reason: str
    """`Evicted`, `FailedScheduling`, `BackOff`."""


class NameAnswer(NamedTuple):
    """A name that was asked for, and the one that a resolver's tool says was found."""

    asked: str
    found: str


class NameReply(NamedTuple):
    """What a name server answered to one question."""

    name: str
    type: str
    """`A`, `AAAA`."""
    code: str
    """`NOERROR`, `NXDOMAIN`, `SERVFAIL`, `REFUSED`, `NOTIMP`."""
    empty: bool = False
    """True where it says that it has no record of that type: `ANSWER: 0`, `No answer`."""


class NothingFound(NamedTuple):
    """What a grep over an output looked for, where it printed nothing (`iptables-save | grep
    10.96.0.1`), or the chain that a program was to list, where there is none.
    """

    program: str
    words: tuple[str, ...]
    """Its arguments; of a chain, the table that it was looked for in."""
    sought: str


class NoObjects(NamedTuple):
    """What `kubectl get` found none of: `No resources found`."""

    kinds: tuple[str, ...]
    """The words of the command, without their group: `l2advertisements`, `netpol`."""
    namespace: str
    """Where it looked; empty where in all of them."""


class NoRoutes(NamedTuple):
    """A routing table whose listing printed nothing (`ip route show table 100`)."""

    table: str
    """Its name or number, as the command says it."""


class FolderListing(NamedTuple):
    """The names in a folder, as `ls` prints them."""

    path: str
    names: tuple[str, ...]
    whole: bool
    """False where an option, a filter or who pasted them leaves some out."""


class TypedDevice(NamedTuple):
    """What somebody typed of a device: it becomes a bridge's port, or gets an address."""

    link: IfName
    bridge: str = ""
    """The bridge that it becomes a port of; empty where it is given an address."""


class LineCount(NamedTuple):
    """How many lines a program printed, as somebody counted them."""

    program: str
    words: tuple[str, ...]
    """Its arguments."""
    picked: str
    """What filters before the count, or the count itself, picked lines by; empty where all
    counted.
    """
    value: int


Statement = (
    RouteAnswer | OffloadFeature | DeviceCount | LinkMode | ArpAnswer | Hop | WireguardInterface
    | WireguardPeer | ManagedDevice | ConfiguredDevice | BondState | UnitState | PortSwitch
    | ListenQueue | FirewallStatement | WarningEvent | ClockRead | NameAnswer | NeighbourCount
    | NothingFound | NoObjects | NoRoutes | NameReply | FolderListing | LineCount
    | TypedDevice
)  # fmt: skip

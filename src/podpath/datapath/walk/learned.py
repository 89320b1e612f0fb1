"""What packets leave behind for those that follow: connections, neighbors, bridge ports and BPF
maps.

One `Learned` belongs to one branch of a conversation. The evidence is never changed: what a packet
taught is kept here, beside what the node's listings show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from podpath.datapath.conntrack.connection import Connection
from podpath.datapath.conntrack.table import ConntrackTable
from podpath.datapath.tracing.trace import RuleHit
from podpath.net.addresses import Address, Mac
from podpath.node.links import Link
from podpath.node.netfilter import ConnTuple


class NeighbourKey(NamedTuple):
    """What a neighbor table finds an entry by."""

    netns: str
    link: str
    address: Address


class FdbKey(NamedTuple):
    """What a bridge's forwarding database finds a port by."""

    netns: str
    bridge: str
    mac: Mac


class PeerKey(NamedTuple):
    """What a WireGuard device finds a peer by."""

    netns: str
    link: str
    key: str


class BpfMap(StrEnum):
    """The maps of Cilium's programs that a walk keeps entries of."""

    MASQUERADE = "snat"
    """Answers to what was masqueraded, and connections from outside (cilium_snat_v4_external)."""
    POD_SERVICE = "lxc"
    """Services that a pod's program translated (cilium_lb4_services_v2)."""
    POD_SERVICE_ANSWER = "lxc answer"
    OUTSIDE_SERVICE_ANSWER = "outside answer"
    """What pods of the node answer to those who came by a service from outside."""
    SOCKET_SERVICE = "socket"
    """Services that a socket's program translated at connect."""
    SOCKET_SERVICE_ANSWER = "socket answer"
    """The service that a socket was told of instead of its endpoint (cilium_lb4_reverse_sk)."""


class BpfKey(NamedTuple):
    """What a map finds an entry by."""

    map: BpfMap
    packet: ConnTuple
    """The tuple of the packets that meet it."""


class BpfTranslation(NamedTuple):
    """What a BPF program makes of one direction of a connection."""

    address: Address
    port: int
    link: Link | None = None
    """The device of the endpoint that the packet goes straight to."""


class SocketKey(NamedTuple):
    """What a socket of a connection is found by: a packet that comes for it."""

    netns: str
    packet: ConnTuple


@dataclass(slots=True)
class NeighbourTables:
    """What ARP and neighbor discovery taught the namespaces of the node."""

    heard: MutableMapping[NeighbourKey, Mac] = field(default_factory=dict)
    """What requests taught those who answered them: by the listener, and the sender's address."""
    answered: MutableMapping[NeighbourKey, Mac] = field(default_factory=dict)
    """What a namespace's own requests brought."""
    resolved: MutableMapping[NeighbourKey, bool] = field(default_factory=dict)
    """Next hops that were sent to before: their Ethernet header is cached."""
    outside: MutableMapping[Address, Mac] = field(default_factory=dict)
    """What stands for the MACs of hosts outside the model, where their addresses are watched."""
    asking: list[NeighbourKey] = field(default_factory=list)
    """Next hops that are being asked for: what is for them waits, and asks for nothing."""


@dataclass(slots=True)
class Learned:
    """What the packets of one branch left behind so far."""

    conntrack: dict[str, ConntrackTable] = field(default_factory=dict)
    """By namespace; made from the evidence's entries when first needed."""
    neighbours: NeighbourTables = field(default_factory=NeighbourTables)
    fdb: dict[FdbKey, Link] = field(default_factory=dict)
    """The port behind which a bridge saw a MAC."""
    bpf: MutableMapping[BpfKey, BpfTranslation] = field(default_factory=dict)
    """What Cilium's programs hold of connections."""
    labels: dict[Connection, int] = field(default_factory=dict)
    """Labels of connections that flows of Open vSwitch have set, or left at 0."""
    discovery: list[RuleHit] = field(default_factory=list)
    """Rules that matched messages of neighbor discovery."""
    redirects: Counter[tuple[str, Address]] = field(default_factory=Counter)
    """How often a namespace told a host of a shorter way by IPv6."""
    sockets: MutableMapping[SocketKey, bool] = field(default_factory=dict)
    """Sockets that this connection has made, and whether each is transparent."""
    endpoints: dict[PeerKey, tuple[Address, int]] = field(default_factory=dict)
    """Where peers of WireGuard devices sent from."""

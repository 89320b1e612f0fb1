"""What devices do with a frame: take it off the wire, hand it on, wrap it in a tunnel, send it out
of the node.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.net.addresses import Address, Mac, Prefix


@distinct
class ReceivedOn(NamedTuple):
    """The frame comes in on a device."""

    link: str


@distinct
class LinkDown(NamedTuple):
    """The device is down."""

    link: str


@distinct
class HandedToMaster(NamedTuple):
    """The receive handler of an enslaved device hands the frame on before IP sees it."""

    link: str
    master: str


@distinct
class SharesWire(NamedTuple):
    """A macvlan device sends on the wire of the device that it shares."""

    link: str
    parent: str
    netns: str


@distinct
class FrameForOther(NamedTuple):
    """The frame is for a MAC that the device does not have."""

    mac: Mac
    link: str
    own: Mac


@distinct
class LoopedBack(NamedTuple):
    """The loopback device gives the packet back to the host."""

    link: str


@distinct
class DiscardedOnLoopback(NamedTuple):
    """A route leads out of the loopback device, and the host does not have the address."""

    link: str
    address: Address


@distinct
class SentThroughSlave(NamedTuple):
    """A bond sends by its active slave, with its own MAC."""

    link: str
    slave: str


@distinct
class SwallowedByDummy(NamedTuple):
    """A dummy device swallows what it sends."""

    link: str


@distinct
class NoCarrier(NamedTuple):
    """Nothing is at the other end of the device: what is queued on it is dropped
    (`net/sched/sch_generic.c:noop_enqueue v6.12`).
    """

    link: str


@distinct
class HandedToPeer(NamedTuple):
    """A veth hands the frame to its other end."""

    link: str
    peer: str
    netns: str
    """The namespace of the other end."""
    crosses: bool
    """True where that is another namespace."""


@distinct
class LeftNode(NamedTuple):
    """The frame leaves the node."""

    link: str
    inferred: str = ""
    """Why the device is taken to be there; empty where the evidence shows it."""


@distinct
class LeftByPort(NamedTuple):
    """The frame leaves the node by a port of a master, with the port's own MAC."""

    link: str
    mac: Mac
    master: str


@distinct
class CrossedWire(NamedTuple):
    """The frame goes over the wire to another node; that the wire delivers it is assumed."""

    link: str
    node: str
    peer: str
    """The device by which it comes in there."""
    subnet: Prefix | None
    """The network of the two devices; None where routers stand between them."""


@distinct
class TooLongForEnd(NamedTuple):
    """The device at the other end of the wire takes no frame of that length."""

    link: str
    length: int
    mtu: int


@distinct
class VniUnknown(NamedTuple):
    """A tunnel's packet has a network identifier that no device of the node has."""

    link: str
    """The device that listens on its port."""
    vni: int
    own: int


@distinct
class OwnFrameReturned(NamedTuple):
    """A frame comes out of a tunnel with the tunnel device's own MAC as its source."""

    link: str
    mac: str


@distinct
class TunnelPortClosed(NamedTuple):
    """A tunnel's packet comes to a port at which no tunnel device of the node listens."""

    link: str
    """The device of that network."""
    port: int
    own: int
    up: bool
    """False where the device is down: it listens to nothing."""


@distinct
class OuterChecksumWrong(NamedTuple):
    """NAT has left the checksum of a tunnel's outer packet wrong, so that nobody takes it."""

    link: str
    """The tunnel's device that computed it."""


@distinct
class TunnelFromOther(NamedTuple):
    """A tunnel's packet comes from another end than its device is configured for."""

    link: str
    source: Address
    remote: Address


@distinct
class NoPeerFor(NamedTuple):
    """No peer of a WireGuard device may have what is sent."""

    link: str
    address: Address


@distinct
class NoEndpointOf(NamedTuple):
    """A WireGuard device knows no address of the peer that is to have the packet."""

    link: str
    key: str


@distinct
class KeyUnknown(NamedTuple):
    """The two ends of a WireGuard tunnel do not know each other by the keys that they have."""

    link: str
    key: str
    """The key that the other end has, or is taken to have."""
    is_own: bool
    """True where it is this end's own key that the other has wrong."""


@distinct
class PresharedAlone(NamedTuple):
    """One end of a WireGuard tunnel alone holds a preshared key."""

    link: str


@distinct
class SourceNotAllowed(NamedTuple):
    """A WireGuard device takes no packet from this address of the peer that sent it."""

    link: str
    address: Address


@distinct
class NoDevice(NamedTuple):
    """The route names no device to leave on."""


@distinct
class TunnelsNested(NamedTuple):
    """A tunnel would wrap what is wrapped too often already: the kernel takes it for a circle."""

    link: str
    depth: int


@distinct
class NoRemoteEnd(NamedTuple):
    """A tunnel knows no remote end that has the MAC."""

    link: str
    mac: Mac | None


@distinct
class WrappedForUnknownEnd(NamedTuple):
    """A tunnel wraps the packet for a remote end that is not in evidence: the outer packet is not
    walked.
    """

    link: str


@distinct
class Wrapped(NamedTuple):
    """A tunnel wraps the packet for a remote end."""

    link: str
    remote: Address


@distinct
class Unwrapped(NamedTuple):
    """A tunnel takes the inner packet out."""

    link: str


@distinct
class ReachedSocket(NamedTuple):
    """The packet reaches a port of a namespace, or the protocol itself where that has no ports."""

    port: int | None
    netns: str


@distinct
class EchoIgnored(NamedTuple):
    """A sysctl of the host says that it answers no such echo request."""

    key: str


DeviceReason = (
    ReceivedOn | LinkDown | NoCarrier | HandedToMaster | SharesWire | FrameForOther | LoopedBack
    | DiscardedOnLoopback
    | SentThroughSlave | SwallowedByDummy | HandedToPeer | LeftNode | LeftByPort | CrossedWire
    | TooLongForEnd | VniUnknown | OwnFrameReturned | TunnelPortClosed | TunnelFromOther
    | NoPeerFor | NoEndpointOf | KeyUnknown | PresharedAlone | SourceNotAllowed | NoDevice
    | OuterChecksumWrong
    | TunnelsNested | NoRemoteEnd | WrappedForUnknownEnd | Wrapped | Unwrapped | ReachedSocket
    | EchoIgnored
)  # fmt: skip

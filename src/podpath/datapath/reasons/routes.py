"""What routing and forwarding decide: where a packet goes, whether its source may be, its TTL and
its size.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.reasons.distinct import distinct
from podpath.datapath.vocabulary import PacketType
from podpath.net.addresses import Address


@distinct
class NoRoute(NamedTuple):
    """No route leads to the address."""

    address: Address


@distinct
class RouteRefuses(NamedTuple):
    """The route to the address is of a type that lets nothing pass: `unreachable`, `blackhole`,
    `prohibit`, `throw`.
    """

    address: Address
    type: str


@distinct
class PolicyRuleRefuses(NamedTuple):
    """A policy rule refuses the address."""

    address: Address
    priority: int


Lookup = NoRoute | RouteRefuses | PolicyRuleRefuses


@distinct
class NoAddressOf(NamedTuple):
    """The source is no address of the namespace that sends."""

    source: Address
    netns: str


@distinct
class LoopbackStays(NamedTuple):
    """A loopback source does not leave on another device."""

    source: Address
    link: str


@distinct
class NoDeviceChosen(NamedTuple):
    """No device is chosen for a group or broadcast address."""

    address: Address


@distinct
class NoStreamToMany(NamedTuple):
    """A stream's other end is one host: no socket connects to a group or broadcast address."""

    address: Address
    type: str
    """The type of its route: `broadcast`, `multicast`."""


@distinct
class IntoOwnTunnel(NamedTuple):
    """The way to a tunnel's remote end leads into the tunnel again."""

    address: Address
    tunnel: str


@distinct
class RoutedOut(NamedTuple):
    """Output routing found the way."""

    address: Address
    link: str | None
    """None where the route names no device."""
    gateway: Address | None


@distinct
class RoutedOn(NamedTuple):
    """Input routing found the way on."""

    address: Address
    link: str | None
    gateway: Address | None


@distinct
class LocalAddress(NamedTuple):
    """The destination is an address of the namespace."""

    address: Address
    netns: str
    type: str
    """The type of its route: `local`, `broadcast`, `anycast`."""


@distinct
class LimitedBroadcast(NamedTuple):
    """The destination is 255.255.255.255."""

    address: Address


@distinct
class ForwardingOff(NamedTuple):
    """The namespace does not forward what comes in on the device, and sends no ICMP error
    either.
    """

    netns: str
    link: str
    address: Address | None = None
    """The destination, where no route leads to it besides."""


@distinct
class MartianSource(NamedTuple):
    """No packet on a wire comes from the source."""

    source: Address


@distinct
class MartianDestination(NamedTuple):
    """Nothing is sent on to an address of 0.0.0.0/8."""

    address: Address


@distinct
class DestinationOfType(NamedTuple):
    """Nothing is sent on along a route of the type."""

    address: Address
    type: str


@distinct
class LoopbackFromWire(NamedTuple):
    """An address of 127.0.0.0/8 is not let in from a wire: route_localnet is 0."""

    address: Address
    link: str


@distinct
class ReversePathHolds(NamedTuple):
    """The way back to the source leads over the device that the packet came in on."""

    source: Address
    link: str
    mode: int
    """rp_filter: 1 is strict, 2 loose."""


@distinct
class ReversePathFailed(NamedTuple):
    """The way back to the source does not lead over the device that the packet came in on.

    The step's decision says whether that ends the packet: with mode 0, and with a loose filter, it
    may not.
    """

    source: Address
    way_back: tuple[str, ...]
    """The devices of the route back; empty where no route leads there."""
    mode: int
    """The larger rp_filter of `all` and the device: 0 is off, 1 strict, 2 loose."""
    device: str
    unnumbered: bool
    """True where a loose filter is as good as strict, since the device has no address."""


@distinct
class SourceOfType(NamedTuple):
    """The source is looked up to a route that is not unicast."""

    source: Address
    link: str
    type: str


@distinct
class OwnSource(NamedTuple):
    """The source is an address of the host itself."""

    source: Address
    link: str
    """The device that has it."""


@distinct
class NotForOneHost(NamedTuple):
    """A frame to a broadcast or group MAC is not forwarded."""

    pkt_type: PacketType


@distinct
class GivenToSocket(NamedTuple):
    """A rule gave the packet to a proxy's socket, and what has a socket is not forwarded."""


@distinct
class TtlExceeded(NamedTuple):
    """The packet's TTL ends here."""

    ttl: int


@distinct
class MtuExceeded(NamedTuple):
    """The packet does not fit, and may not be fragmented."""

    length: int
    mtu: int


@distinct
class Fragmented(NamedTuple):
    """The packet goes in fragments."""

    length: int
    pieces: int
    longest: int
    """Bytes of the longest fragment."""


@distinct
class RedirectSent(NamedTuple):
    """The packet goes back out of the device that it came in on: its sender is told of the next
    hop.
    """

    link: str
    nexthop: Address


SourceReason = ReversePathHolds | ReversePathFailed | SourceOfType | OwnSource
"""What source validation says."""
InputReason = (
    LocalAddress | LimitedBroadcast | ForwardingOff | MartianSource | MartianDestination
    | DestinationOfType | LoopbackFromWire | NoRoute | RouteRefuses | PolicyRuleRefuses
)  # fmt: skip
"""What input routing says besides."""
OutputReason = (
    NoAddressOf | LoopbackStays | NoDeviceChosen | NoStreamToMany | NoRoute | RouteRefuses
    | PolicyRuleRefuses
)  # fmt: skip
"""Why output routing finds no way."""
RouteReason = (
    SourceReason | InputReason | OutputReason | IntoOwnTunnel | RoutedOut | RoutedOn | NotForOneHost
    | GivenToSocket | TtlExceeded | MtuExceeded | Fragmented | RedirectSent
)  # fmt: skip

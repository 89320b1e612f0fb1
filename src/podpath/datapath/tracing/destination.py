"""Where routing sends a packet: `struct dst_entry` with its `fib_result`."""

from __future__ import annotations

from dataclasses import dataclass

from podpath.net.addresses import Address
from podpath.net.provenance import Inferred, Span
from podpath.node.links import Link
from podpath.node.routing import Route


@dataclass(frozen=True, slots=True)
class Destination:
    """What routing decided on a packet."""

    type: str
    """`unicast`, `local`, `broadcast`, `blackhole`, `unreachable`, `prohibit`, ..."""
    link: Link | None
    """The device that the packet leaves on; `lo` for local delivery; None for an error type."""
    gateway: Address | None
    """The next hop; None: the destination itself."""
    prefsrc: Address | None
    """The source address that a local sender takes."""
    route: Route | None
    mtu: int = 1500
    spans: tuple[Span, ...] = ()
    """The route's line, and the policy rule's where it is not a default one."""
    mtu_inferred: Inferred | None = None
    """That the MTU is one that no output shows."""

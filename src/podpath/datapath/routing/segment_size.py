"""The maximum segment size of TCP: what an end offers by its route, and what a path bears
(net/ipv4/route.c:ipv4_default_advmss v6.12, net/ipv6/route.c:ip6_default_advmss v6.12,
net/netfilter/xt_TCPMSS.c:tcpmss_mangle_packet v6.12).
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.output import route_output
from podpath.datapath.tracing.destination import Destination
from podpath.datapath.walk.skb import Skb
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Family
from podpath.net.packet import TCP_HEADERS, Packet

LEAST = {4: 256, 6: 1220}
"""Bytes that are offered whatever the MTU: `ip_rt_min_advmss`, `ip6_rt_min_advmss`."""
USUAL_LEAST = {4: 536, 6: 1220}
"""Bytes that an end takes of whom no option says more: TCP_MSS_DEFAULT, IPV6_MIN_MTU - 60."""
LONGEST = {4: 0xFFFF, 6: 0xFFFF + 40}
"""The largest MTU that counts: IP_MAX_MTU, IP6_MAX_MTU."""


class PathMss(NamedTuple):
    """What segments a path bears, in bytes."""

    bytes: int
    """0 where neither way's MTU is known."""
    exact: bool = True
    """False where it may be less: one way's MTU is not known."""


def offered_mss(destination: Destination, family: Family) -> int:
    """Return what a SYN offers that leaves by this route; 0 where no output shows the MTU."""
    route = destination.route
    if route is not None and route.advmss:
        return route.advmss
    if destination.mtu_inferred is not None:
        return 0
    return max(min(destination.mtu, LONGEST[family]) - TCP_HEADERS[family], LEAST[family])


def path_mss(walk: Walk, skb: Skb) -> PathMss:
    """Return what fits the packet's route and the route back to its source
    (`tcpmss_reverse_mtu`).
    """
    family = skb.packet.family
    back = route_output(
        walk.choices, walk.engine.namespace(skb.netns.name), FlowKey(skb.packet.src)
    ).destination
    ways = [way for way in (skb.destination, back) if way is not None]
    known = [way.mtu for way in ways if way.mtu_inferred is None]
    least = min(known, default=0)
    return PathMss(
        max(min(least, LONGEST[family]) - TCP_HEADERS[family], 0), len(known) == len(ways)
    )


def lower_mss(packet: Packet, wanted: PathMss) -> Packet:
    """Return the packet of a SYN with an MSS that is no larger than wanted: it never grows. What
    had no such option gets one, unless it carries data.
    """
    if packet.may_offer_mss:
        if not wanted.exact and packet.mss:
            return packet._replace(mss=0)
        lower = not packet.mss or wanted.bytes < packet.mss
        if lower:
            return packet._replace(mss=wanted.bytes)
        return packet
    if packet.payload:
        return packet
    added = min(wanted.bytes, USUAL_LEAST[packet.family])
    return packet._replace(mss=added, length=packet.length + 4)

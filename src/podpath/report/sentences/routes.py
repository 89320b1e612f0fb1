"""What routing and forwarding decide, in words."""

from __future__ import annotations

from typing import assert_never

from podpath.datapath.reasons import routes
from podpath.datapath.reasons.routes import InputReason, OutputReason, RouteReason, SourceReason
from podpath.net.addresses import Address

MODES = {0: "off", 1: "strict", 2: "loose"}
"""rp_filter in words."""


def spell_route(reason: RouteReason) -> str:  # noqa: C901, PLR0911  # one arm for each reason
    """Say what routing or forwarding decided."""
    if isinstance(reason, SourceReason):
        return _spell_source(reason)
    if isinstance(reason, InputReason):
        return _spell_input(reason)
    if isinstance(reason, OutputReason):
        return _spell_output(reason)
    match reason:
        case routes.IntoOwnTunnel(address, tunnel):
            return (
                f"the route to {address} leads into {tunnel} again, which drops what it would "
                "encapsulate twice"
            )
        case routes.RoutedOut(address, link, gateway):
            return f"{address} goes out on {_way(link, gateway)}"
        case routes.RoutedOn(address, link, gateway):
            return f"{address} is forwarded out of {_way(link, gateway)}"
        case routes.NotForOneHost(pkt_type):
            return f"a frame to a {pkt_type} MAC is not forwarded"
        case routes.GivenToSocket():
            return (
                "a rule has given it to a proxy's socket: it may only be delivered here, and no "
                "route says so"
            )
        case routes.TtlExceeded(ttl):
            return f"its TTL of {ttl} expires here"
        case routes.MtuExceeded(length, mtu):
            return f"its {length} bytes exceed the MTU of {mtu}, and it may not be fragmented"
        case routes.Fragmented(length, pieces, longest):
            return f"its {length} bytes go in {pieces} fragments of up to {longest} bytes"
        case routes.RedirectSent(link, nexthop):
            came = f"it goes back out of {link}, where it came in"
            return f"{came}: its sender is told to use {nexthop} directly (ICMP redirect)"
        case _:
            assert_never(reason)


def _way(link: str | None, gateway: Address | None) -> str:
    name = "nowhere" if link is None else link
    if gateway is None:
        return name
    return f"{name} via {gateway}"


def _spell_source(reason: SourceReason) -> str:
    match reason:
        case routes.ReversePathHolds(source, link, mode):
            return f"the route back to {source} uses {link}; rp_filter is {MODES.get(mode, mode)}"
        case routes.ReversePathFailed():
            return _spell_failed(reason)
        case routes.SourceOfType(source, link, kind):
            looked_up = (
                f"the source {source} of a packet from {link} resolves to a route of type {kind}"
            )
            return f"{looked_up}: no packet may come from there"
        case routes.OwnSource(source, link):
            return f"the source {source} is the host's own address on {link}"
        case _:
            assert_never(reason)


def _spell_failed(reason: routes.ReversePathFailed) -> str:
    source, way_back, mode, device, unnumbered = reason
    over = f"uses {', '.join(way_back)}, not {device}"
    way = f"the route back to {source} {over}" if way_back else f"no route leads to {source}"
    meaning = f"{MODES.get(mode, mode)}"
    if unnumbered:
        meaning += f", which amounts to strict because {device} has no address"
    return f"{way}; rp_filter is {meaning} (the larger of all and {device})"


def _spell_input(reason: InputReason) -> str:  # one arm for each reason
    match reason:
        case routes.LocalAddress(address, netns, kind):
            return f"{address} is {'an' if kind == 'local' else f'a {kind}'} address of {netns}"
        case routes.LimitedBroadcast(address):
            return f"{address} is the limited broadcast address"
        case routes.ForwardingOff(netns, link, address):
            if address is None:
                who = f"{netns} does"
            else:
                who = f"{address} is not for {netns}, which does"
            return f"{who} not forward what comes in on {link}, and no ICMP error is sent"
        case routes.MartianSource(source):
            return f"{source} is not a valid source address on a wire"
        case routes.MartianDestination(address):
            return f"nothing is forwarded to {address}: it is in 0.0.0.0/8"
        case routes.DestinationOfType(address, kind):
            return f"nothing is forwarded to {address}: a route of type {kind} leads there"
        case routes.LoopbackFromWire(address, link):
            if address.family == 6:
                return (
                    f"{address} is a loopback address, which {link} does not accept from the wire"
                )
            return (
                f"{address} is in 127.0.0.0/8, which {link} does not accept from the wire: "
                "route_localnet is 0"
            )
        case routes.NoRoute() | routes.RouteRefuses() | routes.PolicyRuleRefuses():
            return _spell_lookup(reason)
        case _:
            assert_never(reason)


def _spell_output(reason: OutputReason) -> str:
    match reason:
        case routes.NoAddressOf(source, netns):
            return f"{source} is not an address of {netns}"
        case routes.LoopbackStays(source, link):
            return f"{source} does not leave on {link}"
        case routes.NoDeviceChosen(address):
            return f"no device is chosen for {address}"
        case routes.NoStreamToMany(address, kind):
            return f"TCP makes no connection to {address}, which is a {kind} address"
        case routes.NoRoute() | routes.RouteRefuses() | routes.PolicyRuleRefuses():
            return _spell_lookup(reason)
        case _:
            assert_never(reason)


def _spell_lookup(reason: routes.Lookup) -> str:
    match reason:
        case routes.NoRoute(address):
            return f"no route leads to {address}"
        case routes.RouteRefuses(address, kind):
            return f"the route for {address} is of type {kind}"
        case routes.PolicyRuleRefuses(address, priority):
            return f"the policy rule of priority {priority} refuses {address}"
        case _:
            assert_never(reason)

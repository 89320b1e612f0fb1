"""allowed-lacks-route: a route leads into a WireGuard device, but no peer's allowed IPs cover its
addresses.

What it is
    `ip route` sends a range through a WireGuard device, or people say that it is behind one, and
    `wg show` lists the device's peers: none of their allowed IPs includes an address in that range.

Why it breaks
    WireGuard chooses the peer by allowed IPs. Without one it drops the packet: the sender gets
    ENOKEY (`Required key not available`), a forwarded packet an ICMP host unreachable. Packets
    that come in with a source outside the peer's ranges are dropped silently.

How to confirm
    wg show DEVICE allowed-ips
    ip route show dev DEVICE

How to fix
    Add the range to the peer behind which it is, on this host, and the ranges of this host's pods
    on the other: wg set DEVICE peer KEY allowed-ips LIST (the list replaces the old one), and in
    the configuration file.

References
    wg_xmit, wg_allowedips_lookup_dst (drivers/net/wireguard/device.c, allowedips.c v6.12); wg(8)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.said import find_said
from podpath.checks.stated import statements_of
from podpath.checks.told import LOSSES, list_failing
from podpath.net.addresses import Prefix
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.statements import RouteAnswer, WireguardPeer
from podpath.net.technologies import Technology
from podpath.node.case import Case, Stated

CATEGORIES = (Category.TUNNEL_CONFIGURATION, Category.WRONG_ROUTE)
NAME = "allowed-lacks-route"
KERNEL = "kernel"
"""Who sets the route of the device's own network: nobody need be there but who is wanted."""
TOLD = 0.6
"""Where prose alone says which network is meant."""
POSSIBLE = 0.7
"""A peer that an output leaves out may have the range."""


def check(case: Case) -> Iterator[Finding]:
    """Report each stated route into a WireGuard device that no listed peer covers."""
    peers: dict[tuple[str, str], list[tuple[WireguardPeer, Stated]]] = defaultdict(list)
    for peer, stated in statements_of(case, WireguardPeer):
        peers[stated.netns, peer.link].append((peer, stated))
    for (netns, link), listed in peers.items():
        allowed = [prefix for peer, _ in listed for prefix in peer.allowed]
        if not allowed:
            continue
        spans = tuple(stated.span for _, stated in listed)
        wanted = dict(_list_ways(case, netns, link))
        for prefix, span in wanted.items():
            if not _holds(allowed, prefix):
                yield _report(prefix, link, (span, *spans), _find_refused(case, netns, prefix))
        told = next(_list_told(case), None) if len(peers) == 1 and not wanted else None
        if told is not None and not _holds(allowed, told[0]):
            yield _report_told(told[0], link, spans, told[1])


def _holds(allowed: Sequence[Prefix], prefix: Prefix) -> bool:
    return any(one.covers(prefix) or prefix.covers(one) for one in allowed)


def _list_told(case: Case) -> Iterator[tuple[Prefix, Span]]:
    """Yield the networks that sentences about WireGuard say cannot be reached."""
    for one in list_failing(case):
        if Technology.WIREGUARD in one.mentions and one.failure in {None, *LOSSES}:
            yield from ((prefix, one.span) for prefix in one.prefixes if prefix.length)


def _report_told(prefix: Prefix, link: str, peers: tuple[Span, ...], said: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No peer of {link} has {prefix} in its allowed IPs.",
        evidence=(*peers, said),
        reasoning=("wg-quick makes routes of allowed IPs, and WireGuard drops what is in none.",),
        breaks=(f"packets to {prefix}, and those from there",),
        prevention="Add networks behind a peer to its allowed IPs on each other peer.",
        certainty=TOLD,
        asks=(
            FollowUp(
                f"whether {prefix} is to be reached through {link}",
                f"wg show {link} allowed-ips; ip route get ADDRESS",
                "it is: add it to the allowed IPs of the peer in front of it, and route it there",
            ),
        ),
        marks=(str(prefix),),
    )


def _find_refused(case: Case, netns: str, prefix: Prefix) -> Span | None:
    """Return the line by which the kernel says that it has no peer for what was sent to a range
    (ENOKEY).
    """
    tried = {
        one.span.source
        for one in case.attempts
        if one.is_bad and one.probe.netns == netns and prefix.covers(one.probe.dst)
    }
    said = find_said(case, MessageKind.DESTINATION_NOT_ALLOWED)
    return next((one.span for one in said if one.span.source in tried), None)


def _list_ways(case: Case, netns: str, link: str) -> Iterator[tuple[Prefix, Span]]:
    """Yield what outputs send by a device: routes by their prefix, answers by their address."""
    namespace = case.node.namespaces.get(netns)
    for route in namespace.routes.items if namespace is not None else ():
        links = {hop.link for hop in route.nexthops}
        stated = route.inferred is None and route.type == "unicast" and route.prefix.length > 0
        chosen = stated and route.protocol != KERNEL
        if chosen and route.span is not None and links == {link}:
            yield route.prefix, route.span
    for answer, stated_answer in statements_of(case, RouteAnswer):
        here = answer.link == link and stated_answer.netns == netns and answer.type == "unicast"
        if here and answer.dst is not None:
            yield Prefix.of(answer.dst), stated_answer.span


def _report(prefix: Prefix, link: str, spans: tuple[Span, ...], refused: Span | None) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{prefix} is routed into {link}, but no peer's allowed IPs hold it.",
        evidence=(*spans, *((refused,) if refused is not None else ())),
        reasoning=("WireGuard has no peer for such a packet, and drops it.",),
        breaks=(f"packets to {prefix}, and those from there",),
        prevention="Change routes and allowed IPs together.",
        certainty=POSSIBLE if refused is None else 1.0,
        asks=(
            FollowUp(
                f"whether any peer of {link} has {prefix}",
                f"wg show {link} allowed-ips",
                f"none has it: WireGuard drops packets to {prefix}",
            ),
        ),
        marks=(str(prefix.address) if prefix.length in {32, 128} else str(prefix),),
    )

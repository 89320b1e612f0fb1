"""neighbour-unanswered: a capture shows repeated ARP or neighbor discovery requests for an address,
and nobody answers.

What it is
    tcpdump prints at least three requests for one address (`who-has`, `neighbor solicitation ...
    who has`), and no output in the ticket shows an answer for it. Names and masked addresses count
    as written. Or the neighbor table shows `(incomplete)`, INCOMPLETE or FAILED for an address that
    is reported unreachable. For an IPv6 address in the LAN's own network that is behind the host (a
    pod, a container, a guest), the host itself has to answer (proxy_ndp).

Why it breaks
    Without the MAC, nothing is sent to that address: connections to it, or through it as a gateway,
    end with "no route to host" after three seconds, or time out. Either nobody has the address, or
    the request does not reach its owner (VLAN, a switch or hypervisor that drops the MAC, multicast
    snooping), or the owner does not answer (arp_ignore, a different prefix length).

How to confirm
    tcpdump -nn -e -i DEVICE arp or icmp6    # at both ends: does the request arrive?
    ip neigh show dev DEVICE
    arping -I DEVICE ADDRESS; ndisc6 ADDRESS DEVICE

How to fix
    Find the last point that shows the request. If it reaches the owner, check the owner's addresses
    and arp_ignore; if not, check VLANs, port security and multicast in between. For addresses
    behind a host: net.ipv6.conf.all.proxy_ndp=1 with `ip -6 neigh add proxy ADDRESS dev DEVICE`,
    ndppd, or a prefix that is routed to the host.

References
    arp_process (net/ipv4/arp.c v6.12); ndisc_recv_ns (net/ipv6/ndisc.c v6.12); RFC 4861
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.said import find_said
from podpath.checks.told import list_failing, list_failing_addresses, list_lost
from podpath.checks.topology import known_sysctl
from podpath.net.addresses import Address, read_address
from podpath.net.complaints import Complaint
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import Netns

CATEGORIES = (
    Category.NEIGHBOUR_UNRESOLVED,
    Category.VLAN,
    Category.MAC_NOT_ALLOWED,
    Category.IPV6,
)
NAME = "neighbour-unanswered"
SILENT = frozenset({"FAILED", "INCOMPLETE"})
"""States of an entry whose requests were not answered."""
LEAST = 3
"""Requests for one address: the kernel sends so many before it gives up."""


NEAR = 40
"""Characters between the word for a workload and the address that it is said to have."""
_WORKLOAD = re.compile(r"\b(?:pods?|containers?|guests?|vms?)\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(
    r"[.;]\s|\b(?:reach|connect|ping|see|get|to|from|servers?|hosts?|nodes?|routers?|gateway|machine|"
    r"nas|printer)\w*",
    re.IGNORECASE,
)
"""What makes an address that of somebody else."""
ALL_PROXY = "net.ipv6.conf.all.proxy_ndp"


def check(case: Case) -> Iterator[Finding]:
    """Report the addresses that are asked for most and that nobody answers for."""
    if not any(True for _ in list_failing(case)):
        return
    answered = {_target(one) for one in find_said(case, MessageKind.NEIGHBOUR_ANSWERED)}
    asked: Counter[str] = Counter()
    first: dict[str, Message] = {}
    for one in find_said(case, MessageKind.NEIGHBOUR_ASKED):
        if _is_of_itself(one) or _target(one) in answered:
            continue
        asked[_target(one)] += one.times
        first.setdefault(_target(one), one)
    named = {str(address) for address in list_failing_addresses(case)}
    often = [
        (target, times)
        for target, times in asked.most_common()
        if times >= LEAST or (times > 1 and _is_unproxied(case, target))
    ]
    often.sort(key=lambda found: found[0] not in named)
    for target, times in often[:1]:
        likely = target in named and _shows_both_ways(case)
        found = _report(first[target], times, likely=likely)
        closed = _find_closed(case, first[target], target)
        if closed is not None:
            yield _blame_host(found, closed, target)
        else:
            behind = times >= LEAST and _is_unproxied(case, target)
            yield _settle(found) if behind else found
    if not often:
        yield from _find_listed(case, answered)


def _find_listed(case: Case, answered: Collection[str]) -> Iterator[Finding]:
    """Report the first address out of reach whose entry says that nobody answered, on any
    device.
    """
    failing = list_failing_addresses(case)
    items = case.node.host.neighbours.items
    known = {one.address for one in items if one.state not in SILENT}
    for one in items:
        silent = one.state in SILENT and one.address in failing and one.address not in known
        if silent and one.span is not None and str(one.address) not in answered:
            yield _tell(
                str(one.address),
                one.span,
                f"Nobody answers for {one.address}: its entry on {one.link} is {one.state}.",
                certainty=0.7,
            )
            return


def _is_unproxied(case: Case, target: str) -> bool:
    """Tell whether it is a global IPv6 address that people say a workload has whose answers do not
    arrive: the LAN asks for it, and nobody answers in its place.
    """
    address = read_address(target)
    if address is None or address.family != 6 or address.is_link_local:
        return False
    own = {one.address for one in case.node.host.addresses.items}
    own = {one.address for one in case.node.host.addresses.items}
    named = any(address in one.addresses and _has(one, target) for one in list_lost(case))
    return named and address not in own


def _has(complaint: Complaint, address: str) -> bool:
    """Tell whether a sentence says of a workload that it has the address, and not that it does not
    reach it.
    """
    for found in _WORKLOAD.finditer(complaint.span.text):
        between, _, behind = complaint.span.text[found.end() :].partition(address)
        if behind and len(between) < NEAR and not _OF_ANOTHER.search(between):
            return True
    return False


def _find_closed(case: Case, asked: Message, target: str) -> tuple[str, Span] | None:
    """Return why this host does not answer for an address of IPv6 behind it, with the line that
    says so: it is to answer, and the switch for that is off; or it routes it to another device, and
    is told to answer for nothing.
    """
    host, address = case.node.host, read_address(target)
    if address is None or address.family != 6 or host.holds(address):
        return None
    for device, proxied in host.proxied:
        key = f"net.ipv6.conf.{device.replace('.', '/')}.proxy_ndp"
        own, common = known_sysctl(host, key), known_sysctl(host, ALL_PROXY)
        off = own is not None and common is not None and {own.value, common.value} == {"0"}
        if proxied == address and off and own is not None and own.span is not None:
            return f"{key} is 0, so the kernel answers for none of the addresses listed", own.span
    return _find_behind(host, asked, address) if not host.proxied else None


def _find_behind(host: Netns, asked: Message, address: Address) -> tuple[str, Span] | None:
    """Return the route to an address behind this host that lies within the network of another of
    its devices, on which the capture shows the requests.
    """
    holding = [
        route
        for route in host.routes.items
        if route.prefix.covers(address) and route.prefix.length > 0 and not route.inferred
    ]
    inner = max(holding, key=lambda route: route.prefix.length, default=None)
    if inner is None or inner.span is None or not inner.nexthops:
        return None
    link = inner.nexthops[0].link
    captured = (asked.span.source.command or "").split()
    outer = [
        route.nexthops[0]
        for route in holding
        if route.nexthops and route.nexthops[0].link in captured
    ]
    if link is None or not any(hop.gateway is None and hop.link != link for hop in outer):
        return None
    return f"the host has {address} behind {link}, and is not told to answer for it", inner.span


def _blame_host(found: Finding, closed: tuple[str, Span], target: str) -> Finding:
    why, span = closed
    return replace(
        found,
        claim=f"Nobody answers neighbor solicitations for {target}: {why}.",
        evidence=(*found.evidence, span),
        certainty=1.0,
        asks=(),
        repairs=(
            Repair(
                title="let the host answer in its place",
                commands=(
                    f"sysctl -w {ALL_PROXY}=1",
                    f"ip -6 neigh add proxy {target} dev DEVICE",
                ),
            ),
        ),
    )


def _settle(found: Finding) -> Finding:
    reason = (
        "It is an address of a container or guest within the LAN's network: the host has to answer "
        "neighbor solicitations in its place (proxy_ndp, ndppd), and does not."
    )
    return replace(found, certainty=1.0, asks=(), reasoning=(*found.reasoning, reason))


def _target(message: Message) -> str:
    text = message.values["target"]
    address = read_address(text)
    return text if address is None else str(address)


def _is_of_itself(message: Message) -> bool:
    """Tell whether the request announces its sender, or looks for a duplicate: silence is right."""
    asker = message.values.get("asker", "")
    return asker == message.values["target"] or asker.strip("0.:") == ""


def _shows_both_ways(case: Case) -> bool:
    """Tell whether any output shows an answer, or a packet of the other side: a capture that shows
    requests alone may have been filtered for them.
    """
    return bool(find_said(case, MessageKind.NEIGHBOUR_ANSWERED))


def _report(message: Message, times: int, *, likely: bool) -> Finding:
    target = message.values["target"]
    asker = message.values.get("asker", "") or "somebody"
    claim = f"Nobody answers for {target}: {asker} asks for it {times} times."
    return _tell(target, message.span, claim, certainty=0.9 if likely else 0.7)


def _tell(target: str, span: Span, claim: str, *, certainty: float) -> Finding:
    ask = FollowUp(
        f"how far the request for {target} gets, and whether its owner answers",
        "tcpdump -nn -e -i any arp or icmp6 (at both ends, and on the bridge or switch between)",
        "it does not arrive: VLAN, port security or multicast in between; it arrives and is not "
        "answered: the owner's addresses, arp_ignore",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(span,),
        reasoning=("Nothing is sent to an address whose MAC is not known.",),
        breaks=(f"connections to {target}, and through it as a gateway",),
        prevention="Monitor the neighbor entries of gateways.",
        certainty=certainty,
        marks=(target,),
        asks=(ask,),
    )

"""answer-on-other-device: a request comes in on one device, and its answer leaves by another.

What it is
    Captures show a connection's first packet on one device only, again and again, and its answer on
    another device only. The client keeps retrying. Or packets from a container come in on its
    bridge, and the answers to them leave on another device.

Why it breaks
    The answer takes the route to the client, not the way that the request came. The next router,
    a stateful firewall or the cloud never saw the request on that side and drops the answer.

How to confirm
    ip route get CLIENT from SERVER
    ip rule; ip route show table all

How to fix
    Give the second device a table of its own with its gateway, and a rule for its address: ip
    route add default via GATEWAY dev DEVICE table 100; ip rule add from SERVER lookup 100. Or route
    the client's network through the device that its packets come in on.

References
    ip-rule(8); RFC 3704, 2.3; ip_route_output_key_hash_rcu (net/ipv4/route.c v6.12)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from podpath.checks.captured import quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import is_inner_bridge, is_tunnel, uplinks
from podpath.checks.told import list_failing
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.case import Case, Sighting
from podpath.node.node import HOST

CATEGORIES = (Category.ASYMMETRIC_PATH, Category.POLICY_ROUTING, Category.WRONG_ROUTE)
NAME = "answer-on-other-device"
POSSIBLE = 0.7
"""What lies behind the devices is not shown: it may forward both directions."""
_INNER = re.compile(r"(?:veth|cali|lxc|tap|vnet|nic)\w*")
"""Ports of bridges, behind which containers are, too."""
AGAIN = 2
"""Requests that show that the client goes on asking."""
_Ends = tuple[str | None, int, Address, int, Address, int]


def check(case: Case) -> Iterator[Finding]:
    """Report each server whose answers leave by a device that the requests do not come in on."""
    frames: dict[_Ends, list[Sighting]] = defaultdict(list)
    for seen in case.sightings:
        if seen.link is not None and not seen.tunnel:
            frames[_ends(seen.netns, seen.packet)].append(seen)
    told: set[tuple[str | None, str | None, Address]] = set()
    failing = any(True for _ in list_failing(case))
    for ends, asked in frames.items():
        netns, protocol, client, port, server, service = ends
        answers = frames.get((netns, protocol, server, service, client, port), [])
        lost = _find_lost(asked, answers) if failing else None
        if lost is not None and lost[1].link not in _list_above(case, lost[0]):
            yield _report_lost(*lost, sure=_leads_elsewhere(case, lost[1]))
            return
        if not _fails(asked, answers):
            continue
        came, left = _list_outer(asked, "in"), _list_outer(answers, "out")
        if not came or not left or not _are_apart(case, came, left):
            continue
        group = (came[0].link, left[0].link, server)
        if group not in told:
            told.add(group)
            yield _report(came, left)


def _find_lost(
    asked: Sequence[Sighting], answers: Sequence[Sighting]
) -> tuple[Sighting, Sighting] | None:
    """Return a request that came in from a container's bridge, and its answer that left by another
    kind of device, while none left by the bridge.
    """
    came = [seen for seen in asked if seen.direction == "in" and is_inner_bridge(seen.link or "")]
    left = [seen for seen in answers if seen.direction == "out"]
    if not came or not left or any(seen.link == came[0].link for seen in left):
        return None
    inner = any(_INNER.match(seen.link or "") for seen in left)
    return None if inner else (came[0], left[0])


def _list_above(case: Case, seen: Sighting) -> frozenset[str]:
    """Return the bridge's ports, as far as outputs list them."""
    namespace = case.node.namespaces.get(seen.netns or HOST)
    links = namespace.links.items if namespace is not None else ()
    return frozenset(str(link.name) for link in links if link.master == seen.link)


def _leads_elsewhere(case: Case, answer: Sighting) -> bool:
    """Tell whether a device is no port of a bridge, by its name or by the default route."""
    namespace = case.node.namespaces.get(answer.netns or HOST)
    name = answer.link or ""
    return is_tunnel(name) or (namespace is not None and name in uplinks(namespace))


def _report_lost(request: Sighting, answer: Sighting, *, sure: bool) -> Finding:
    packet, came, left = request.packet, request.link, answer.link
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{packet.src} sends through the bridge {came}, but the answer from {packet.dst} "
            f"leaves through {left}: it does not come back."
        ),
        evidence=quote([answer], [request]),
        reasoning=(
            f"What is behind {came} gets only what leaves by {came}.",
            f"A route or a policy rule sends {packet.src} to {left}.",
        ),
        breaks=(f"connections from {packet.src} to {packet.dst}",),
        prevention="Leave the containers' networks out of what a VPN's table takes.",
        certainty=1.0 if sure else POSSIBLE,
        asks=()
        if sure
        else (
            FollowUp(
                f"whether {left} is a port of {came}",
                f"ip -d link show {left}; ip route get {packet.src}",
                f"it has another master or none: answers to {packet.src} are lost there",
            ),
        ),
        marks=(str(left), str(packet.src)),
    )


def _ends(netns: str | None, packet: Packet) -> _Ends:
    sport, dport = packet.sport, packet.dport
    return netns, packet.protocol, packet.src, sport, packet.dst, dport


def _fails(asked: Sequence[Sighting], answers: Sequence[Sighting]) -> bool:
    """Tell whether SYNs and SYN-ACKs are all that is seen, more than one request."""
    if asked[0].packet.protocol != protocols.TCP or len(asked) < AGAIN or not answers:
        return False
    opening = all(_opens(seen.packet, answer=False) for seen in asked)
    return opening and all(_opens(seen.packet, answer=True) for seen in answers)


def _list_outer(seen: Sequence[Sighting], way: str) -> Sequence[Sighting]:
    """Return the sightings of one direction by devices that lead to other hosts, where a capture of
    all devices shows the packets at the containers' devices, too; else all of them.
    """
    if not any(_INNER.fullmatch(one.link or "") for one in seen):
        return seen
    outer = [one for one in seen if not _INNER.fullmatch(one.link or "")]
    return [one for one in outer if one.direction == way]


def _opens(packet: Packet, *, answer: bool) -> bool:
    acknowledges = bool(packet.flags & protocols.ACK)
    return bool(packet.flags & protocols.SYN) and acknowledges is answer


def _are_apart(case: Case, asked: Sequence[Sighting], answers: Sequence[Sighting]) -> bool:
    """Tell whether both directions were seen on one device each, of which neither is stacked on
    the other.
    """
    incoming, outgoing = {seen.link for seen in asked}, {seen.link for seen in answers}
    turned = any(seen.direction == "out" for seen in asked) or any(
        seen.direction == "in" for seen in answers
    )
    if turned or len(incoming) != 1 or len(outgoing) != 1 or incoming == outgoing:
        return False
    one, other = str(asked[0].link), str(answers[0].link)
    if other.split(".", maxsplit=1)[0] == one or one.split(".", maxsplit=1)[0] == other:
        return False
    namespace = case.node.namespaces.get(asked[0].netns or HOST)
    links = namespace.links.items if namespace is not None else ()
    below = {
        (str(link.name), under)
        for link in links
        for under in (link.lower, link.master, link.bond_slave_of)
    }
    return (one, other) not in below and (other, one) not in below


def _report(asked: Sequence[Sighting], answers: Sequence[Sighting]) -> Finding:
    packet, came, left = asked[0].packet, asked[0].link, answers[0].link
    sure = all(seen.direction is not None for seen in (*asked, *answers))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"SYNs from {packet.src} to {packet.dst} come in on {came}, but the answers leave on "
            f"{left}, and the client keeps asking."
        ),
        evidence=quote(answers[:1], asked[:2]),
        reasoning=(
            f"The route to {packet.src} leads by {left}, not by the device of the requests.",
        ),
        breaks=(f"connections from {packet.src} to {packet.dst}",),
        prevention="Give each device with a gateway its own table, and rules by source address.",
        certainty=1.0 if sure else POSSIBLE,
        asks=()
        if sure
        else (
            FollowUp(
                f"why answers to {packet.src} leave by {left}",
                f"ip route get {packet.src} from {packet.dst}; ip rule; ip route show table all",
                f"it answers dev {left}: a rule and a table for {packet.dst} by {came} are missing",
            ),
        ),
        marks=(str(left), str(packet.src), str(packet.dst)),
    )

"""private-source-leaves: a capture on the host's own NIC shows a container's packets leaving for a
public address with a private source, and no reply.

What it is
    tcpdump on the uplink prints requests from an address of a container engine's or plugin's range
    (172.17.0.0/16, the network of a bridge that the evidence shows, or the pods' range) to a public
    address.

Why it breaks
    No router on the Internet has a route back to a private address, so nothing comes back.
    MASQUERADE or SNAT in POSTROUTING has to change the source to the host's: the rule is missing,
    or does not cover this range or device (--iptables=false, --ip-masq=false, a flushed nat table,
    a plugin's agent that covers only pods).

How to confirm
    iptables -t nat -S POSTROUTING; nft list table ip nat
    tcpdump -nn -i UPLINK host DESTINATION       # the source is the container's

How to fix
    Have the owner of the range rewrite its rule (restart the engine, allow it to write rules),
    or: iptables -t nat -A POSTROUTING -s RANGE ! -o BRIDGE -j MASQUERADE

References
    RFC 1918; iptables-extensions(8), MASQUERADE; dockerd(8), --ip-masq
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import is_inner_bridge
from podpath.checks.told import WORKLOADS, find_told, list_failing
from podpath.net.addresses import Address, Prefix
from podpath.net.complaints import Circumstance, EndKind
from podpath.net.packet import Packet
from podpath.node.case import Case, Sighting
from podpath.node.node import HOST

CATEGORIES = (Category.MASQUERADE_MISSING,)
NAME = "private-source-leaves"
NEAR = 0.5
"""Where routes to pods may be announced to other machines (BGP, a cloud's own)."""
LEAST = 2
"""Requests without an answer that show it."""
ENGINES = (Prefix.parse("172.17.0.0/16"),)
"""What engines give to containers where nobody says otherwise."""
PLUGINS = tuple(
    Prefix.parse(text)
    for text in ("10.244.0.0/16", "10.42.0.0/16", "10.88.0.0/16", "10.233.64.0/18")
)
"""What installers and plugins give to pods where nobody says otherwise: kubeadm's guides, K3s and
RKE, Podman, Kubespray. Hosts have addresses there, too, so that people must speak of pods.
"""
_NOT_PUBLIC = tuple(
    Prefix.parse(text)
    for text in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3",
    )
)  # fmt: skip
"""The ranges of documentation (RFC 5737) count as public: tickets have them in the place of public
addresses.
"""
_CARD = re.compile(r"(?:en[opsx]|ens|bond|wl|wwan|ppp|em\d|eth)\w*")
_IN_CONTAINERS = re.compile(r"eth\d+")
"""Names of cards that containers have, too: a capture there shows the address before it leaves."""


def check(case: Case) -> Iterator[Finding]:
    """Report the first container whose own address leaves by the uplink and gets no answer."""
    pods = tuple(_list_told(case))
    ranges = (*ENGINES, *_list_bridged(case), *pods)
    tunneled = {(one.packet.src, one.packet.dst) for one in case.sightings if one.tunnel}
    asked: dict[tuple[Address, Address], list[Sighting]] = defaultdict(list)
    near: dict[tuple[Address, Address], list[Sighting]] = defaultdict(list)
    answered: set[tuple[Address, Address]] = set()
    for seen in case.sightings:
        packet = seen.packet
        answered.add((packet.dst, packet.src))
        if not _is_on_uplink(seen):
            continue
        if _is_public(packet.dst):
            if not _is_in(packet.src, ranges) and not _came_by_tunnel(packet, tunneled):
                continue
            asked[packet.src, packet.dst].append(seen)
        elif _is_in(packet.src, pods) and not _is_in(packet.dst, pods):
            near[packet.src, packet.dst].append(seen)
    fails = any(True for _ in list_failing(case))
    for ends, packets in asked.items():
        if fails and ends not in answered and len(packets) >= LEAST:
            yield _report(case, packets, forwarded=ends in tunneled)
            return
    for ends, packets in near.items():
        if fails and ends not in answered and len(packets) >= LEAST:
            yield _report_near(packets)
            return


def _came_by_tunnel(packet: Packet, tunneled: set[tuple[Address, Address]]) -> bool:
    """Tell whether a packet came to this host in a tunnel, from a private address."""
    return (packet.src, packet.dst) in tunneled and _is_in(packet.src, _NOT_PUBLIC)


def _list_bridged(case: Case) -> Iterator[Prefix]:
    """Yield the networks of bridges for containers that an output shows."""
    for own in case.node.host.addresses.items:
        if is_inner_bridge(own.link) and own.span is not None and own.address.family == 4:
            yield own.prefix


def _list_told(case: Case) -> Iterator[Prefix]:
    """Yield the ranges that pods usually have, and those that people say they have, where pods or
    containers are said to have no way out.
    """
    for one in list_failing(case):
        if one.source in WORKLOADS and one.target is EndKind.OUTSIDE:
            yield from PLUGINS
            yield from (prefix for prefix in one.prefixes if _is_private(prefix))


def _is_private(prefix: Prefix) -> bool:
    return prefix.family == 4 and any(one.covers(prefix) for one in _NOT_PUBLIC)


def _is_on_uplink(seen: Sighting) -> bool:
    link = seen.link or ""
    return seen.netns in {None, HOST} and not seen.tunnel and _CARD.fullmatch(link) is not None


def _is_public(address: Address) -> bool:
    return address.family == 4 and not _is_in(address, _NOT_PUBLIC)


def _is_in(address: Address, ranges: Sequence[Prefix]) -> bool:
    return address.family == 4 and any(one.covers(address) for one in ranges)


def _report_near(seen: Sequence[Sighting]) -> Finding:
    """Report packets to a private address outside of the cluster, which may know the way back."""
    src, dst, link = seen[0].packet.src, seen[0].packet.dst, seen[0].link or ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets from the pod {src} leave on {link} untranslated: {dst} may have no route "
            "back to that address."
        ),
        evidence=tuple(one.span for one in seen[:LEAST]),
        reasoning=("Machines outside of the cluster know the nodes' addresses alone.",),
        breaks=("traffic of pods to machines that have no route to their range",),
        prevention="After each change of the plugin's options, check what it masquerades.",
        certainty=NEAR,
        marks=(str(src),),
        asks=(
            FollowUp(
                f"whether {dst} knows a way back to {src}",
                f"ip route get {src} (on {dst}); iptables -t nat -S POSTROUTING",
                "none by this node, and no rule translates the range: answers are lost",
            ),
        ),
    )


def _report(case: Case, seen: Sequence[Sighting], *, forwarded: bool) -> Finding:
    first = seen[0]
    src, dst, link = first.packet.src, first.packet.dst, first.link or ""
    at_node = find_told(case, Circumstance.SEEN_AT_NODE) is not None
    outside = any(one.source in WORKLOADS for one in list_failing(case))
    sure = forwarded or (outside and (at_node or _IN_CONTAINERS.fullmatch(link) is None))
    ask = FollowUp(
        "whether a rule translates packets from this range",
        "iptables -t nat -S POSTROUTING; nft list ruleset | grep -i -e masquerade -e snat",
        "no rule covers it: it leaves with an address that nobody can reply to",
    )
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Packets from {src} leave on {link} untranslated: {dst} cannot reply to that address."
        ),
        evidence=tuple(one.span for one in seen[:LEAST]),
        reasoning=("There is no route back from a public address to a private source.",),
        breaks=("traffic from this range beyond the host's own networks",),
        prevention="After each change of the engine's options, check that its rules are there.",
        certainty=1.0 if sure else 0.7,
        marks=(str(src),),
        asks=() if sure else (ask,),
    )

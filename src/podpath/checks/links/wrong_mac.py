"""wrong-mac: frames to an address carry a MAC that its owner does not have.

What it is
    A capture with link-layer headers shows that an address uses one MAC, that frames to it carried
    this MAC, and that later frames to it carry another MAC, which the address never uses.

Why it breaks
    The device that has the address does not accept frames with another destination MAC unless it is
    in promiscuous mode: a capture shows them, and they are lost anyway. Something taught the
    neighbors or the switch the wrong MAC (see foreign-arp, duplicate-address). The other direction
    works, and the neighbors recover when their entry is renewed, often half a minute later.

How to confirm
    tcpdump -nei DEVICE host ADDRESS  # destination MAC of what arrives, source MAC of what leaves
    ip neigh show ADDRESS                        # on the neighbors
    ip -br link                                  # which device has that MAC

How to fix
    Announce the right MAC: arping -U -c 3 -I DEVICE ADDRESS
    Then find who sent the ARP that taught the wrong one: tcpdump -nei any arp

References
    eth_type_trans (net/ethernet/eth.c): a frame for another MAC becomes PACKET_OTHERHOST;
    ip_rcv_core (net/ipv4/ip_input.c)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from podpath.capture.connections import FORWARDED_WITHIN, CapturedFlow
from podpath.capture.frames import clock, counted, seconds_between
from podpath.checks.captured import (
    CapturedTraffic,
    count,
    is_group,
    list_routers,
    order_of,
    quote,
    words_of,
)
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.links.foreign_arp import find_foreign
from podpath.net import protocols
from podpath.net.addresses import Address, Mac
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.ARP_WRONG_ANSWER,)
NAME = "wrong-mac"
LEAST = 2
"""Frames with the foreign MAC: a single one may be damaged, unless ARP is seen to mend it."""
DAMAGED = 2
"""Bytes in which a damaged MAC differs from the one that was meant, at most."""
POSSIBLE = 0.5
"""Where the address may be behind a router: each of several gateways has a MAC of its own."""
ASK = FollowUp(
    "whether the address is on this link",
    "ip route get ADDRESS; ip neigh show ADDRESS",
    "`via` a gateway: frames to it carry a gateway's MAC, and nothing is wrong; directly on the "
    "device: its own MAC is the right one",
)


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each address to which frames go with a foreign MAC, after they went with its own;
    foreign ARP tells more.
    """
    taught = {(arp.sender, arp.sender_mac) for arp, _ in find_foreign(case)}
    own = _list_own(case, taught)
    sent: dict[tuple[int, Address], list[Sighting]] = defaultdict(list)
    for seen in case.sightings:
        alone = seen.packet.dmac is not None and not is_group(seen.packet.dmac)
        if alone and not seen.tunnel and seen.packet.src != seen.packet.dst:
            sent[seen.capture, seen.packet.dst].append(seen)
    routers = list_routers(case)
    for (capture, address), frames in sent.items():
        macs = own.get((capture, address), set())
        right = [seen for seen in frames if seen.packet.dmac in macs]
        wrong = [seen for seen in frames if seen.packet.dmac not in macs]
        foreign = {(address, seen.packet.dmac) for seen in wrong}
        if not right or len(foreign) != 1 or not foreign.isdisjoint(taught):
            continue
        if len(wrong) < LEAST and not _is_mended_by_arp(case, wrong[0], right):
            continue
        if wrong[0].packet.dmac in routers or is_answered(traffic, address, wrong):
            continue
        if any(_is_forwarded(seen, right) for seen in wrong):
            continue
        yield _report(case, address, wrong, right, sure=macs.isdisjoint(routers))


def _is_forwarded(seen: Sighting, right: Sequence[Sighting]) -> bool:
    """Tell whether who has the foreign MAC is a router that sends the frame on to the right one."""
    packet = seen.packet
    for other in right:
        apart = seconds_between(seen, other)
        same = other.packet._replace(smac=packet.smac, dmac=packet.dmac) == packet
        if same and apart is not None and 0 <= apart < FORWARDED_WITHIN:
            return other.packet.smac != packet.smac
    return False


def _is_mended_by_arp(case: Case, wrong: Sighting, right: Sequence[Sighting]) -> bool:
    """Tell whether a single frame went to a MAC unlike the address' own, until the address told its
    own by ARP and frames carried that again.
    """
    latest = {seen.packet.dmac: order_of(seen) for seen in sorted(right, key=order_of)}
    never = (float("-inf"), 0)
    for arp in case.arps:
        told = (arp.time or 0.0, arp.span.line)
        own = arp.capture == wrong.capture and arp.sender == wrong.packet.dst
        if own and order_of(wrong) < told < latest.get(arp.sender_mac, never):
            return _count_unlike(arp.sender_mac, wrong.packet.dmac) > DAMAGED
    return False


def _count_unlike(one: Mac | None, other: Mac | None) -> int:
    """Return in how many bytes two MACs differ."""
    pairs = zip((one or "").split(":"), (other or "").split(":"), strict=False)
    return sum(ours != theirs for ours, theirs in pairs)


def is_answered(traffic: CapturedTraffic, address: Address, wrong: Sequence[Sighting]) -> bool:
    """Tell whether what went with the foreign MAC arrived: the address answers it before the same
    is sent again with another MAC.
    """
    known = {id(seen) for seen in wrong}
    for flow in traffic.flows:
        for frames, back in ((flow.forward, flow.backward), (flow.backward, flow.forward)):
            if not frames or frames[0].packet.dst != address:
                continue
            for seen in frames:
                if id(seen) in known and _has_reply(flow, seen, frames, back):
                    return True
    return False


def _has_reply(
    flow: CapturedFlow[Sighting],
    asked: Sighting,
    frames: Sequence[Sighting],
    back: Sequence[Sighting],
) -> bool:
    end = min(
        (
            order_of(seen)
            for seen in frames
            if order_of(seen) > order_of(asked) and seen.packet.dmac != asked.packet.dmac
        ),
        default=(float("inf"), 0),
    )
    replies = [seen for seen in back if order_of(asked) < order_of(seen) < end]
    if flow.protocol != protocols.TCP:
        return bool(replies)
    first = flow.first_number(frames)
    syn_or_fin = bool(asked.packet.flags & (protocols.SYN | protocols.FIN))
    reach = counted(asked.packet.seq, first) + asked.packet.payload + syn_or_fin
    return (bool(asked.packet.payload) or syn_or_fin) and any(
        seen.packet.flags & protocols.ACK
        and (counted(seen.packet.ack, first) - reach) & 0xFFFFFFFF < 1 << 31
        for seen in replies
    )


def _list_own(
    case: Case, taught: AbstractSet[tuple[Address, Mac | None]]
) -> dict[tuple[int, Address], set[Mac]]:
    """Return the MACs with which each address of a capture sends, without what foreign ARP says."""
    own: dict[tuple[int, Address], set[Mac]] = defaultdict(set)
    for seen in case.sightings:
        if seen.packet.smac is not None and not seen.tunnel:
            own[seen.capture, seen.packet.src].add(seen.packet.smac)
    for arp in case.arps:
        if arp.sender_mac is not None and (arp.sender, arp.sender_mac) not in taught:
            own[arp.capture, arp.sender].add(arp.sender_mac)
    return own


def _report(
    case: Case,
    address: Address,
    wrong: Sequence[Sighting],
    right: Sequence[Sighting],
    *,
    sure: bool,
) -> Finding:
    first, last = min(wrong, key=order_of), max(wrong, key=order_of)
    cure = min(
        (seen for seen in right if order_of(seen) > order_of(last)), key=order_of, default=None
    )
    usual, foreign = right[0].packet.dmac, first.packet.dmac
    owner = next((link.name for link in case.node.host.links.items if link.mac == foreign), None)
    sent = [
        seen
        for seen in case.sightings
        if seen.packet.src == address and order_of(first) <= order_of(seen) <= order_of(last)
    ]
    end = cure.time if cure is not None else None
    reasons = [
        f"{address} sends with {usual}, and frames to it carry {usual}.",
        f"{count(len(wrong), 'frame')} to it with {foreign} instead, {words_of(first.time, end)}.",
    ]
    if owner is not None:
        reasons.append(f"{foreign} is the MAC of {owner}, which does not own {address}.")
    reasons.append(
        f"The owner of {usual} does not accept frames to {foreign}: they are seen here but "
        "lost anyway."
    )
    if sent:
        reasons.append(f"Meanwhile {address} keeps sending: only inbound traffic is lost.")
    if not sure:
        reasons.append(f"{usual} also sends for other addresses: {address} may be behind a router.")
    until = f" until {clock(end)}" if end is not None else ""
    since = f" from {clock(first.time)}" if first.time is not None else ""
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        claim=(
            f"Frames to {address} carry {foreign} instead of {usual}{since}{until}: only inbound "
            "traffic is lost."
        ),
        evidence=quote([first], [cure] if cure is not None else [], wrong[1:], right[:1], sent[:1]),
        reasoning=tuple(reasons),
        breaks=(f"everything inbound to {address} during that time; outbound is fine",),
        repairs=(
            Repair(
                title="announce the right MAC to recover at once",
                commands=(f"arping -U -c 3 -I DEVICE {address}",),
            ),
        ),
        marks=tuple(str(word) for word in (foreign, address)),
    )

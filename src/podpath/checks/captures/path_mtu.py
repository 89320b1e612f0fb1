"""path-mtu-black-hole: large packets vanish on the path while small ones pass.

What it is
    A capture shows a connection whose handshake and small packets arrive, while a full-sized
    segment is retransmitted again and again and never acknowledged; or a segment is sent again
    after a router said that it does not fit, and the router says so again.

Why it breaks
    Some hop on the path has a smaller MTU than the sender assumes (a tunnel, a VPN, a cloud
    network) and drops what does not fit. Its "fragmentation needed" message would tell the sender
    the right size, but it is lost or filtered (the capture shows none), or it arrives and is
    ignored. Logins work, pages hang.

How to confirm
    ping -M do -s 1472 DESTINATION               # and smaller, until one passes
    ip route get DESTINATION                     # the learned mtu
    nstat -az TcpExtTCPMTUPFail TcpExtTCPMTUPSuccess

How to fix
    Let ICMP type 3 code 4 (ICMPv6 type 2) through. Set the right MTU on the pods' devices (the CNI
    plugin's `mtu`), or clamp the MSS: iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN
    -j TCPMSS --clamp-mss-to-pmtu. As a stopgap: net.ipv4.tcp_mtu_probing = 1

References
    tcp_v4_mtu_reduced (net/ipv4/tcp_ipv4.c); tcp_mtu_probing (net/ipv4/tcp_timer.c); RFC 2923, 2.1;
    RFC 4821
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedFlow
from podpath.capture.frames import counted, errors_about, repeated_data
from podpath.checks.captured import CapturedTraffic, order_of, quote, times
from podpath.checks.captures.icmp_error import is_size_error
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.MTU,)
NAME = "path-mtu-black-hole"
LARGE = 500
"""Bytes of payload: every path carries 576 (RFC 1122), so nothing smaller is too large."""
REPEATS = 3
"""How often a segment has to be sent: one lost packet comes through the second time."""


POSSIBLE = 0.6
"""Where nothing comes back once the segment is lost: the whole path may be gone."""
ASK = FollowUp(
    "whether small packets still pass",
    "ping -c 3 -s 56 DESTINATION; ping -M do -c 3 -s 1472 DESTINATION",
    "only the large ping fails: the path's MTU is smaller; both fail: the path or the host is gone",
)


class _Stuck(NamedTuple):
    """A large segment that does not get through, and a smaller one that does; none where a router
    says again and again that it does not fit.
    """

    copies: Sequence[Sighting]
    passed: Sighting | None
    heard: bool
    """True where the other side is heard after the segment was first sent."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each connection whose large segments are lost while its small ones pass."""
    told: set[tuple[Address, Address]] = set()
    for flow in traffic.flows:
        if flow.protocol != protocols.TCP:
            continue
        for frames, back in ((flow.forward, flow.backward), (flow.backward, flow.forward)):
            stuck = _find_stuck(traffic, flow, frames, back) or _find_unheeded(case, flow, frames)
            ends = (frames[0].packet.src, frames[0].packet.dst) if frames else None
            if stuck is not None and ends is not None and ends not in told:
                told.add(ends)
                yield _report(case, flow, stuck)


def _find_stuck(
    traffic: CapturedTraffic,
    flow: CapturedFlow[Sighting],
    frames: Sequence[Sighting],
    back: Sequence[Sighting],
) -> _Stuck | None:
    lost = [
        copies
        for copies in repeated_data(frames)
        if len(copies) >= REPEATS and not flow.acknowledges(copies[0])
    ]
    if not lost or not back:
        return None
    copies = max(lost, key=lambda same: same[0].packet.payload)
    smallest_lost = min(same[0].packet.payload for same in lost)
    if smallest_lost < LARGE or _carries(traffic, copies[0], smallest_lost):
        return None
    passed = [
        seen
        for seen in frames
        if seen.packet.payload < smallest_lost and _arrived(flow, seen, frames)
    ]
    heard = any(order_of(seen) > order_of(copies[0]) for seen in back)
    if not passed or (not heard and _is_small_lost(frames, copies, smallest_lost)):
        return None
    return _Stuck(copies, passed[-1], heard)


def _find_unheeded(
    case: Case, flow: CapturedFlow[Sighting], frames: Sequence[Sighting]
) -> _Stuck | None:
    """Return the segment that is sent again after a router said that it does not fit, and of which
    it then says so again. One such answer is how a sender learns the path's MTU; and what a card
    is to cut may look as large as before.
    """
    for copies in repeated_data(frames):
        sender = copies[0].packet.src
        if flow.acknowledges(copies[0]):
            continue
        errors = _list_size_errors(case, copies[0].packet)
        asked = {one.packet.dst for one in case.sightings if one.packet.src == sender}
        if len(asked) > 1 and any(one.packet.quoted is None for one in errors):
            continue
        between = [one for one in errors if order_of(copies[0]) < order_of(one)]
        again = [seen for seen in copies if between and order_of(between[0]) < order_of(seen)]
        if again and order_of(again[0]) < order_of(between[-1]):
            return _Stuck(copies, None, heard=True)
    return None


def _list_size_errors(case: Case, packet: Packet) -> list[Sighting]:
    """Return the errors that say of a packet like this one that it does not fit."""
    errors = [
        seen
        for seen in errors_about(case.sightings)
        if is_size_error(seen.packet)
        and seen.packet.dst == packet.src
        and (seen.packet.quoted is None or seen.packet.quoted.dst == packet.dst)
    ]
    return sorted(errors, key=order_of)


def _is_small_lost(frames: Sequence[Sighting], copies: Sequence[Sighting], size: int) -> bool:
    """Tell whether something smaller was sent since the loss began, before the sender last tried:
    where nothing at all comes back, it did not get through either.
    """
    return any(
        seen.packet.payload < size
        and (seen.packet.payload or seen.packet.flags & protocols.FIN)
        and order_of(copies[0]) < order_of(seen) < order_of(copies[-1])
        for seen in frames
    )


def _carries(traffic: CapturedTraffic, lost: Sighting, size: int) -> bool:
    """Tell whether the same path carries segments as large as those that are lost: some of that
    size, between the same hosts, are acknowledged.
    """
    for flow in traffic.flows:
        if flow.protocol != protocols.TCP:
            continue
        for seen in (*flow.forward, *flow.backward):
            packet = seen.packet
            large = packet.payload >= size and not packet.flags & (protocols.SYN | protocols.RST)
            same = (packet.src, packet.dst) == (lost.packet.src, lost.packet.dst)
            if large and same and flow.acknowledges(seen):
                return True
    return False


def _arrived(flow: CapturedFlow[Sighting], seen: Sighting, frames: Sequence[Sighting]) -> bool:
    """Tell whether a small packet is known to have arrived: acknowledged data, or the ACK of a
    handshake that stands.
    """
    if seen.packet.payload:
        return flow.acknowledges(seen)
    if seen.packet.flags & protocols.SYN:
        first = flow.first_number(frames)
        back = flow.backward if frames is flow.forward else flow.forward
        plain = [
            one
            for one in back
            if not one.packet.flags & (protocols.SYN | protocols.RST)
            and one.packet.flags & protocols.ACK
        ]
        return any(counted(one.packet.ack, first) >= 1 for one in plain)
    return False


def _report(case: Case, flow: CapturedFlow[Sighting], stuck: _Stuck) -> Finding:
    packet = stuck.copies[0].packet
    size = packet.payload + (40 if packet.family == 4 else 60)
    errors = _list_size_errors(case, packet)
    sent = (
        f"{packet.payload} bytes ({size} or more with headers) is sent "
        f"{times(len(stuck.copies))} at {flow.where}"
    )
    reasons = [f"A segment of {sent}, and is never acknowledged."]
    small = ""
    if stuck.passed is not None:
        small = " while small ones do"
        reasons.append(
            "Smaller packets in the same direction arrive, with up to "
            f"{stuck.passed.packet.payload} bytes of payload."
        )
    if errors:
        limit = f": {errors[0].mtu} bytes would fit" if errors[0].mtu else ""
        reasons.append(
            f"{errors[0].packet.src} reports that it does not fit{limit}, but the sender keeps "
            "using the same size."
        )
    else:
        reasons.append(
            "No ICMP error that names a smaller size is seen here: none was sent, or it was lost "
            "on its way."
        )
    if not stuck.heard and not errors:
        reasons.append("Nothing at all comes back since: the path or the host may be gone instead.")
    sure = stuck.passed is not None and (stuck.heard or bool(errors))
    passed = [stuck.passed] if stuck.passed is not None else []
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        claim=(
            f"Large packets from {packet.src} to {packet.dst} do not get through{small}: "
            f"{flow.words} hangs."
        ),
        evidence=quote(stuck.copies, passed, errors),
        reasoning=tuple(reasons),
        breaks=(f"{flow.words}: it hangs at its first full-sized segment",),
        prevention="Set the CNI plugin's MTU to the path's MTU minus the tunnel's headers.",
        marks=(f"{packet.src}.{packet.sport}", f"length {packet.payload}"),
    )

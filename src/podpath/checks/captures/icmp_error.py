"""icmp-error: a router or host on the path reports that it did not deliver a packet.

What it is
    A capture shows an ICMP error: destination unreachable, time exceeded, fragmentation needed,
    redirect. It quotes the packet that caused it, and so identifies the connection.

Why it breaks
    The sender of the error dropped the packet and says why: no route (net or host unreachable), no
    answer to ARP (host unreachable), a filter (admin prohibited), no listener (port unreachable), a
    packet that does not fit (fragmentation needed: part of path MTU discovery, and harmless if it
    arrives), a loop (time exceeded).

How to confirm
    tcpdump -nvi any 'icmp[icmptype] != icmp-echo and icmp[icmptype] != icmp-echoreply'
    traceroute -n DESTINATION

How to fix
    Look at the sender of the error: its routes, its neighbors, its filter. `iptables-save | grep
    REJECT` finds the rules that send such errors; kube-proxy writes one for each service without
    endpoints.

References
    icmp_send (net/ipv4/icmp.c); RFC 792; RFC 1812, 5.2.7; RFC 4443
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from podpath.capture.connections import CapturedFlow
from podpath.capture.frames import errors_about, times_sent
from podpath.checks.captured import SHOWN, CapturedTraffic, order_of, quote, times
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.told import list_failing, list_failing_addresses
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint
from podpath.net.packet import Packet, spell_ends
from podpath.node.case import Case, Sighting

CATEGORIES = (
    Category.NO_ROUTE,
    Category.NO_LISTENER,
    Category.HOST_FIREWALL,
    Category.MTU,
    Category.NEIGHBOUR_UNRESOLVED,
)
NAME = "icmp-error"
_REASONS = {
    0: "its network is unreachable", 1: "its host is unreachable",
    2: "its protocol is not supported there", 3: "nobody listens on its port",
    4: "it does not fit and must not be fragmented", 5: "its source route failed",
    6: "its network is unknown", 7: "its host is unknown", 9: "its network is prohibited",
    10: "its host is prohibited", 13: "a filter prohibits it",
}  # fmt: skip
_OTHERS = {
    4: "the sender should slow down",
    5: "there is a better route",
    11: "its TTL ran out",
    12: "its header has a fault",
}
_REASONS6 = {
    0: "there is no route to it", 1: "it is prohibited",
    2: "its source address does not reach that far", 3: "its address is unreachable",
    4: "nobody listens on its port",
}  # fmt: skip
_OTHERS6 = {
    1: "it cannot be delivered",
    2: "it does not fit",
    3: "its hop limit ran out",
    4: "its header has a fault",
}
POSSIBLE = 0.5
"""Of an error about another connection than the one that people complain of."""
ASK = FollowUp(
    "whether the refused connection is the one that fails",
    "tcpdump -nvi any 'icmp[icmptype] != icmp-echo and icmp[icmptype] != icmp-echoreply'",
    "the error quotes the failing connection's endpoints: look at the host that sent it",
)
BROADCAST = Address.parse("255.255.255.255")
_HARMLESS = ((protocols.ICMP, 4), (protocols.ICMP, 5))
"""Types that do not say that a packet was dropped for good."""
RAN_OUT = ((protocols.ICMP, 11), (protocols.ICMPV6, 3))
WELL_KNOWN = 1024
"""The first port that is no server's by custom."""
REPEATED = 3
"""Refusals of one client's packets, or to one port, that are no accident."""
ROUTERS = 3
"""Routers that say in turn that packets to one destination ran out of hops."""
GONE_ON = 0.5
"""Seconds in which an error comes back from the hop that sent one before."""
TRACED = (range(33434, 33535), range(44444, 44544))
"""Ports that traceroute and tracepath send to, one further for each packet."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report what errors say, once for each sender, reason and destination, tied to the connection
    that it is about.
    """
    groups: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    for seen in errors_about(case.sightings):
        packet, quoted = seen.packet, seen.packet.quoted
        target = (quoted.dst, quoted.dport) if quoted is not None else None
        groups[
            packet.src, packet.dst, packet.protocol, packet.icmp_type, packet.icmp_code, target
        ].append(seen)
    traced = _find_traced(case)
    notes: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for (sender, _, *kind, _), errors in groups.items():
        about = _find_refused(errors[0].packet, traffic)
        found = _report(errors, about, traffic, traced)
        quoted = errors[0].packet.quoted
        if found.severity is Severity.FAULT:
            yield found if _is_meant(case, traffic, about) else _doubt(found)
        elif quoted is None or sender != quoted.dst:
            yield found
        else:
            notes[sender, *kind, quoted.src, quoted.sport].append(found)
    for alike in notes.values():
        yield _sum_up(alike) if len(alike) > 1 else alike[0]


def _sum_up(alike: Sequence[Finding]) -> Finding:
    """Make one note of those that differ by the port alone that is closed to the same sender: a
    client's that has its answer.
    """
    first, more = alike[0], len(alike) - 1
    spans = [span for one in alike[:SHOWN] for span in one.evidence[:2]]
    return replace(
        first,
        evidence=tuple(dict.fromkeys((*spans, *first.evidence))),
        reasoning=(*first.reasoning, f"{more} more of its ports refuse the same sender that way."),
    )


def _find_refused(error: Packet, traffic: CapturedTraffic) -> list[CapturedFlow[Sighting]]:
    """Return the connections that an error is about: where it quotes no ports, only those that get
    no answer; which of several others it means nobody can tell.
    """
    quoted = error.quoted
    about = [flow for flow in traffic.flows if _is_about(error, flow)]
    if quoted is None or quoted.sport or quoted.dport:
        return about
    waiting = [flow for flow in about if not _has_answer(flow, quoted.dst, traffic)]
    return waiting or (about if len(about) == 1 else [])


def _find_traced(case: Case) -> set[tuple[Address, Address]]:
    """Return who asks routers on the way to whom: a traceroute has its packets run out of hops at
    one after the other, where a loop or a low TTL has one or two that say so. One of pings goes on
    with a request that gets past them.
    """
    said: dict[tuple[Address, Address], set[Address]] = defaultdict(set)
    last: dict[tuple[Address, Address], Sighting] = {}
    for seen in errors_about(case.sightings):
        packet = seen.packet
        if packet.quoted is not None and (packet.protocol, packet.icmp_type) in RAN_OUT:
            said[packet.dst, packet.quoted.dst].add(packet.src)
            last[packet.dst, packet.quoted.dst] = seen
    end = max((seen.time or 0.0 for seen in case.sightings), default=0.0)
    passing = set()
    for seen in case.sightings:
        packet = seen.packet
        error = last.get((packet.src, packet.dst))
        asks = protocols.ECHO_REQUESTS.get(packet.protocol) == packet.icmp_type
        later = error is not None and order_of(seen) > order_of(error)
        if asks and later and (seen.time or 0.0) + GONE_ON <= end:
            passing.add((packet.src, packet.dst))
    return passing | {ends for ends, routers in said.items() if len(routers) >= ROUTERS}


def _is_meant(
    case: Case, traffic: CapturedTraffic, about: Sequence[CapturedFlow[Sighting]]
) -> bool:
    """Tell whether what is refused is what people complain of.

    Its ends are those of what fails, as far as anybody names them; where nobody names any, it is
    all of the capture that is open.
    """
    waiting = [flow for flow in traffic.flows if not (flow.forward and flow.backward)]
    named = list_failing_addresses(case)
    if not named:
        return all(flow in about for flow in waiting)
    if any(_is_complained_of(case, flow) for flow in about):
        return True
    theirs = [flow for flow in waiting if not named.isdisjoint(dict(flow.ends))]
    return bool(theirs) and all(flow in about and _is_from(case, flow) for flow in theirs)


def _is_complained_of(case: Case, flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether a connection fails by what people say, or by what they tried."""
    probes = [attempt.probe for attempt in case.attempts if attempt.is_bad]
    tried = [_fits(flow, one.dst, one.dport) for one in probes]
    tried += [_fits(flow, one.dst, one.dport) for one in case.unplaced if one.dst is not None]
    return any(tried) or any(_is_told(one, flow) for one in list_failing(case))


def _fits(flow: CapturedFlow[Sighting], dst: Address, dport: int) -> bool:
    return flow.server[0] == dst and dport in {0, flow.server[1]}


def _is_told(complaint: Complaint, flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether a sentence names whom a connection is to, and no other client or port."""
    targets = set(complaint.addresses) - set(complaint.sources)
    sources = set(complaint.sources)
    if not complaint.addresses or (complaint.ports and flow.server[1] not in complaint.ports):
        return False
    if sources and flow.client[0] not in sources:
        return False
    return flow.server[0] in targets


def _is_from(case: Case, flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether a sentence names the client of a connection, and nobody that it is to."""
    return any(
        complaint.addresses == (flow.client[0],)
        and not (complaint.ports and flow.server[1] not in complaint.ports)
        for complaint in list_failing(case)
    )


def _doubt(finding: Finding) -> Finding:
    reason = "Nothing shows that the refused connection is the one that fails."
    return replace(finding, certainty=POSSIBLE, asks=(ASK,), reasoning=(*finding.reasoning, reason))


def is_size_error(packet: Packet) -> bool:
    """Tell whether an error says that a packet did not fit."""
    if packet.protocol == protocols.ICMPV6:
        return packet.icmp_type == 2
    return (packet.protocol, packet.icmp_type, packet.icmp_code) == (protocols.ICMP, 3, 4)


def find_refusals(case: Case, traffic: CapturedTraffic) -> list[Sighting]:
    """Return the errors that refuse a packet: an answer that comes late, a traceroute and what goes
    to many are no such packet.

    An error that quotes none, or was captured without it, refuses one that nobody can name. Answers
    that are refused one after the other are more than late, and a traceroute has its packets go to
    one port after the other. A packet that ran out of hops, or did not fit, counts where the
    captures do not show its connection: how that went on is not known.
    """
    found: list[Sighting] = []
    late: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    for seen in errors_about(case.sightings):
        quoted = seen.packet.quoted
        if _is_for_many(quoted):
            continue
        if not _refuses(seen.packet):
            found += [seen] if _is_of_unseen(case, seen.packet, traffic) else []
            continue
        if quoted is None:
            found.append(seen)
            continue
        about = _find_refused(seen.packet, traffic)
        answer = 0 < quoted.sport < WELL_KNOWN <= quoted.dport
        if not answer and _is_traced(seen.packet, about, frozenset()):
            late[seen.packet.src, quoted.src, quoted.sport, quoted.dport].append(seen)
        elif answer or any(_is_late_answer(flow, quoted, traffic) for flow in about):
            late[seen.packet.src, quoted.src].append(seen)
        else:
            found.append(seen)
    for errors in late.values():
        if len(times_sent(errors)) >= REPEATED:
            found += errors
    return sorted(found, key=order_of)


def _is_of_unseen(case: Case, error: Packet, traffic: CapturedTraffic) -> bool:
    """Tell whether an error speaks of a packet that ran out of hops or did not fit, and whose
    connection no capture shows, unless somebody traces a path.
    """
    ran_out = (error.protocol, error.icmp_type) in RAN_OUT
    if not (ran_out or is_size_error(error)):
        return False
    if error.quoted is None:
        mine = [flow for flow in traffic.flows if error.dst in dict(flow.ends)]
        return not any(map(_traces, mine)) if ran_out else not mine
    about = [flow for flow in traffic.flows if _is_about(error, flow)]
    return not about and not (ran_out and _is_traced(error, about, _find_traced(case)))


def _traces(flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether a flow may ask for errors: pings, and datagrams to the ports of a traceroute."""
    pings = flow.protocol in protocols.ECHO_REQUESTS
    return pings or (flow.protocol == protocols.UDP and not _is_untraced(flow.server[1]))


def _is_late_answer(flow: CapturedFlow[Sighting], quoted: Packet, traffic: CapturedTraffic) -> bool:
    """Tell whether what is refused is a server's packet to a client that has been heard of: it has
    its answer and does not wait for more. A server that refuses was out of reach for a while, even
    where it answers before or after.
    """
    return quoted.dst == flow.client[0] and _has_answer(flow, quoted.dst, traffic)


def _refuses(packet: Packet) -> bool:
    """Tell whether an error says that its sender dropped a packet for good, of whatever size."""
    kinds = (
        (protocols.ICMP, 3),
        (protocols.ICMP, 12),
        (protocols.ICMPV6, 1),
        (protocols.ICMPV6, 4),
    )
    return (packet.protocol, packet.icmp_type) in kinds and not is_size_error(packet)


def is_refused_by_error(errors: Iterable[Sighting], flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether one of the ICMP errors says why a connection does not come about."""
    return any(_is_about(seen.packet, flow) and not is_size_error(seen.packet) for seen in errors)


def _is_about(error: Packet, flow: CapturedFlow[Sighting]) -> bool:
    """Tell whether an error quotes a packet of this connection, as far as its line names it."""
    quoted = error.quoted
    if quoted is None:
        return False
    for near, far in ((flow.client, flow.server), (flow.server, flow.client)):
        protocol = quoted.protocol in (0, flow.protocol)
        ports = quoted.dport in (0, far[1]) and quoted.sport in (0, near[1])
        if quoted.dst == far[0] and error.dst == near[0] and protocol and ports:
            return True
    return False


def _report(
    errors: Sequence[Sighting],
    about: Sequence[CapturedFlow[Sighting]],
    traffic: CapturedTraffic,
    traced: AbstractSet[tuple[Address, Address]],
) -> Finding:
    packet, quoted = errors[0].packet, errors[0].packet.quoted
    refused = quoted.dst if quoted is not None else None
    failing = [flow for flow in about if not _has_answer(flow, refused, traffic)]
    what = f"packets from {packet.dst}"
    if about:
        what = about[0].words
    elif quoted is not None:
        what += f" to {_target(quoted)}"
    limit = f" (MTU {errors[0].mtu})" if errors[0].mtu else ""
    broken = (
        bool(failing)
        and (packet.protocol, packet.icmp_type) not in _HARMLESS
        and not is_size_error(packet)
        and not _is_traced(packet, about, traced)
        and not _is_for_many(quoted)
    )
    reasons = [
        f"The error comes {times(len(errors))}, and quotes {spell_ends(quoted)}."
        if quoted and quoted.sport
        else f"The error comes {times(len(errors))}."
    ]
    if about and not failing:
        reasons.append("The connection is answered nevertheless.")
    return Finding(
        check=NAME,
        severity=Severity.FAULT if broken else Severity.NOTE,
        claim=f"{packet.src} refuses {what}: {_reason(packet)}{limit}.",
        evidence=quote(errors, *(flow.forward[:1] for flow in about[:2])),
        reasoning=tuple(reasons),
        breaks=tuple(flow.words for flow in failing[:4]) if broken else (),
        marks=(
            str(packet.src),
            "unreachable",
            "exceeded",
            *((str(quoted.dst),) if quoted is not None else ()),
        ),
    )


def _is_traced(
    error: Packet,
    about: Sequence[CapturedFlow[Sighting]],
    traced: AbstractSet[tuple[Address, Address]],
) -> bool:
    """Tell whether the error is what traceroute or tracepath asks for, by the ports that they send
    to, or by the routers that answer in turn.
    """
    quoted = error.quoted
    if quoted is None:
        return False
    sent = [(flow.protocol, flow.server[1]) for flow in about]
    if quoted.dport:
        sent = [(quoted.protocol, quoted.dport)]
    ports = [port for protocol, port in sent if protocol == protocols.UDP]
    if ports and not any(_is_untraced(port) for port in ports):
        return True
    ran_out = (error.protocol, error.icmp_type) in RAN_OUT
    return ran_out and (error.dst, quoted.dst) in traced


def _is_untraced(port: int) -> bool:
    return not any(port in known for known in TRACED)


def _is_for_many(quoted: Packet | None) -> bool:
    """Tell whether the error quotes neighbor discovery, a group or a broadcast: nobody waits for
    an answer of that one.
    """
    if quoted is None:
        return False
    if quoted.protocol == protocols.ICMPV6 and 133 <= quoted.icmp_type <= 137:
        return True
    return quoted.dst.is_multicast or quoted.dst == BROADCAST


def _has_answer(
    flow: CapturedFlow[Sighting], refused: Address | None, traffic: CapturedTraffic
) -> bool:
    """Tell whether who was said to be out of reach is heard of, at whatever point."""
    for other in traffic.flows:
        if (other.protocol, other.ends) != (flow.protocol, flow.ends):
            continue
        from_there = other.backward if other.server[0] == refused else other.forward
        if any(not seen.packet.flags & protocols.RST for seen in from_there):
            return True
    return False


def _reason(packet: Packet) -> str:
    if packet.protocol == protocols.ICMPV6:
        if packet.icmp_type == 1 and packet.quoted is not None:
            return _REASONS6.get(packet.icmp_code, f"unreachable, code {packet.icmp_code}")
        return _OTHERS6.get(packet.icmp_type, f"type {packet.icmp_type}")
    if packet.icmp_type == 3:
        return _REASONS.get(packet.icmp_code, f"unreachable, code {packet.icmp_code}")
    return _OTHERS.get(packet.icmp_type, f"type {packet.icmp_type}")


def _target(quoted: Packet) -> str:
    name = protocols.protocol_name(quoted.protocol) + " " if quoted.protocol else ""
    return f"{name}{quoted.dst}" + (f" port {quoted.dport}" if quoted.dport else "")

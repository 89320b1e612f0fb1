"""unanswered: name lookups or pings get no answer.

What it is
    A capture shows DNS queries or echo requests, and no answer to them, though it goes on long
    enough, or they are sent again. Those to one address are counted together. If a client uses one
    port for all its queries, each is matched with the answers by its identifier, and the fault is
    reported if at least three, and a tenth of all, have no answer.

Why it breaks
    The request or its answer is lost, or the server does not answer. Programs wait for name lookups
    before anything else: with glibc, a query is sent again after 5 s, and a lookup fails after
    10 s. A host may also ignore pings by choice.

How to confirm
    dig +tries=1 +time=2 @SERVER NAME; ping -c 3 ADDRESS
    # further along the path: how far do the requests get, and do answers leave?
    tcpdump -nni any 'host SERVER and (port 53 or icmp)'
    conntrack -L -p udp --dport 53               # UNREPLIED entries

How to fix
    Capture further along the path until the requests no longer show up, or the answers do: the
    fault lies between the last two points. If requests reach the server and no answer leaves, look
    at the server: its log, its upstream, a policy in front of it.

References
    resolv.conf(5), timeout and attempts; icmp_echo (net/ipv4/icmp.c); RFC 1035, 4.2.1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podpath.capture.connections import CapturedFlow
from podpath.capture.frames import errors_about
from podpath.capture.requests import PATIENCE, list_numbers, list_unheard
from podpath.checks.captured import CapturedTraffic, count, quote
from podpath.checks.captures.icmp_error import RAN_OUT, is_refused_by_error
from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.node.case import Case, FailureTally, Sighting

CATEGORIES = (Category.OUTSIDE_NODE,)
NAME = "unanswered"
PORT = 53
FEW, SHARE = 3, 0.1
"""Requests without an answer, and their share of all, from which on those are told that others of
the same client are answered beside: a network may lose one.
"""
POSSIBLE = 0.5
"""Where the capture shows nothing at all that comes to who asks: a filter may leave answers out."""
ASK = FollowUp(
    "whether the capture shows answers at all",
    "tcpdump -nni DEVICE 'host SERVER'  # without a direction in the filter",
    "answers show up: the first capture left them out; none do: they are lost, or never sent",
)
ASK_WHETHER_WHOLE = FollowUp(
    "whether the capture has all packets",
    "tcpdump -nni DEVICE -w FILE 'host SERVER and (port 53 or icmp)'  # dropped some?",
    "0 packets dropped by kernel, and answers are still missing: they are lost, or never sent",
)
_Flow = CapturedFlow[Sighting]


class Unheard(NamedTuple):
    """Requests to one server without an answer, of clients that have answers to others."""

    flows: list[_Flow]
    requests: list[Sighting]
    """As far as they are shown."""
    missing: int
    """How many they are."""
    asked: int


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Report each server whose answers are missing, once, with how many of how many."""
    ends = _list_ends(case)
    answered = _list_answered(case)
    asked: dict[tuple[int, Address], list[_Flow]] = defaultdict(list)
    open_still: dict[tuple[int, Address], list[_Flow]] = defaultdict(list)
    for flow in traffic.flows:
        if not _asks(flow):
            continue
        key = flow.protocol, flow.server[0]
        asked[key].append(flow)
        known = (flow.protocol, *flow.client) in answered
        if not flow.backward and not known and _is_late(flow, ends):
            open_still[key].append(flow)
    heard = {seen.packet.dst for seen in case.sightings}
    errors = [*errors_about(case.sightings)]
    told = set()
    for key, flows in open_still.items():
        missing = [flow for flow in flows if not is_refused_by_error(errors, flow)]
        if missing:
            port = PORT if key[0] == protocols.UDP else 0
            tally = case.tallies.get((*key, port)) or FailureTally(len(missing), len(asked[key]))
            sure = tally.asked > tally.failed or any(flow.client[0] in heard for flow in missing)
            told.add(key)
            yield _report(missing, tally, sure=sure)
    for key, unheard in find_unheard(case, traffic).items():
        if key not in told and unheard.missing >= max(FEW, SHARE * unheard.asked):
            yield _report_unheard(unheard)


def find_unheard(case: Case, traffic: CapturedTraffic) -> dict[tuple[int, Address], Unheard]:
    """Return by server what it does not answer of clients that it answers otherwise; not what an
    ICMP error answers, as the first ones of a traceroute.
    """
    ends, traced = _list_ends(case), _list_traced(case)
    errors = [*errors_about(case.sightings)]
    answered: dict[tuple[int, Address], list[_Flow]] = defaultdict(list)
    for flow in traffic.flows:
        if _asks(flow) and flow.backward and flow.client[0] not in traced:
            answered[flow.protocol, flow.server[0]].append(flow)
    found = {}
    for key, flows in answered.items():
        if flows[0].forward[0].span.source.name in case.thinned:
            port = PORT if key[0] == protocols.UDP else 0
            tally = case.tallies.get((*key, port), FailureTally(0, 0))
            unheard = _take_counted(flows, tally)
        else:
            unheard = _count_unheard(flows, ends)
        refused = any(is_refused_by_error(errors, flow) for flow in unheard.flows)
        if unheard.requests and not refused:
            found[key] = unheard
    return found


def _list_traced(case: Case) -> set[Address]:
    """Return whose packets ran out of hops, where the error does not show which: one that traces a
    path has no answer to its first pings.
    """
    return {
        seen.packet.dst
        for seen in errors_about(case.sightings)
        if (seen.packet.protocol, seen.packet.icmp_type) in RAN_OUT and seen.packet.quoted is None
    }


def _take_counted(flows: Sequence[_Flow], tally: FailureTally) -> Unheard:
    """Return what was counted in a long capture, with the requests that are shown of it."""
    mine: list[_Flow] = []
    requests: list[Sighting] = []
    for flow in flows:
        shown = [seen for seen in flow.forward if seen.span.line in tally.lines]
        mine += [flow] if shown else []
        requests += shown
    return Unheard(mine, requests, tally.unheard, tally.requests)


def _count_unheard(flows: Sequence[_Flow], ends: dict[int, float]) -> Unheard:
    mine: list[_Flow] = []
    requests: list[Sighting] = []
    asked = 0
    for flow in flows:
        lossy = flow.forward[0].direction is not None
        missing = list_unheard(flow, ends.get(flow.point.capture, 0.0), lossy=lossy)
        asked += len(list_numbers(flow.forward))
        mine += [flow] if missing else []
        requests += missing
    return Unheard(mine, requests, len(requests), asked)


def _report_unheard(unheard: Unheard) -> Finding:
    flow = unheard.flows[0]
    names = flow.protocol == protocols.UDP
    what, one = ("DNS queries", "query") if names else ("Pings", "ping")
    to = endpoint(flow.server[0], PORT) if names else str(flow.server[0])
    clients = "client" if len(unheard.flows) == 1 else "clients"
    reason = f"Others of the same {clients} are answered at {flow.where}"
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        certainty=POSSIBLE,
        asks=(ASK_WHETHER_WHOLE,),
        claim=f"{what} to {to} get no answer: {unheard.missing} of {unheard.asked}.",
        evidence=quote(unheard.requests),
        reasoning=(f"{reason}; no answer has the number of each such {one}.",),
        breaks=tuple(each.words for each in unheard.flows[:3]),
        marks=(str(flow.server[0]),),
    )


def list_silent(case: Case, traffic: CapturedTraffic) -> list[_Flow]:
    """Return the name lookups and pings without an answer, however soon the capture ends, to
    servers that answer none in it.
    """
    answered = _list_answered(case)
    asking = [flow for flow in traffic.flows if _asks(flow)]
    heard = {(flow.protocol, flow.server[0]) for flow in asking if flow.backward}
    return [
        flow
        for flow in asking
        if (flow.protocol, flow.server[0]) not in heard
        and (flow.protocol, *flow.client) not in answered
    ]


def _asks(flow: _Flow) -> bool:
    """Tell whether a flow is of name lookups or pings to one host."""
    if flow.protocol == protocols.UDP:
        asks = bool(flow.forward) and flow.server[1] == PORT
    else:
        kind = protocols.ECHO_REQUESTS.get(flow.protocol)
        asks = kind is not None and bool(flow.forward) and flow.forward[0].packet.icmp_type == kind
    server = flow.server[0]
    return asks and not server.is_multicast and not str(server).endswith(".255")


def _list_ends(case: Case) -> dict[int, float]:
    """Return when each capture ends."""
    ends: dict[int, float] = {}
    for seen in case.sightings:
        if seen.time is not None:
            ends[seen.capture] = max(seen.time, ends.get(seen.capture, seen.time))
    return ends


def _list_answered(case: Case) -> set[tuple[int, Address, int]]:
    """Return whom an answer comes to, under whatever address its sender answers: NAT may be undone
    behind this point.
    """
    found: set[tuple[int, Address, int]] = set()
    for seen in case.sightings:
        packet = seen.packet
        names = packet.protocol == protocols.UDP and packet.sport == PORT
        if names or protocols.ECHO_REPLIES.get(packet.protocol) == packet.icmp_type:
            found.add((packet.protocol, packet.dst, packet.dport))
    return found


def _is_late(flow: _Flow, ends: dict[int, float]) -> bool:
    """Tell whether an answer should have been seen: the request is sent again, or the capture goes
    on. A capture of all devices drops packets, so there the first alone counts.
    """
    times = [seen.time for seen in flow.forward if seen.time is not None]
    if not times:
        return len(flow.forward) > 2
    again = times[-1] - times[0] >= PATIENCE / 2
    of_all = flow.forward[0].direction is not None
    return again or (not of_all and ends[flow.point.capture] - times[-1] >= PATIENCE)


def _report(missing: Sequence[_Flow], tally: FailureTally, *, sure: bool) -> Finding:
    first = missing[0]
    requests = max(sum(len(flow.forward) for flow in missing), tally.failed)
    if first.protocol == protocols.UDP:
        what, to = "DNS queries", endpoint(first.server[0], PORT)
    else:
        what, to = "Pings", str(first.server[0])
    some = f"{what} to {to} get no answer"
    if tally.asked > 1:
        some += f": {tally.failed} of {tally.asked}"
    clients = {flow.client[0] for flow in missing}
    who, verb = count(len(clients), "client"), "is" if requests == 1 else "are"
    seen = f"{count(requests, 'request')} from {who} {verb} seen at {first.where}"
    reasons = [f"{seen}, and no answer."]
    if not sure:
        reasons.append("Nothing at all that comes to who asks is seen here.")
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        certainty=1.0 if sure else POSSIBLE,
        asks=() if sure else (ASK,),
        claim=f"{some}.",
        evidence=quote([flow.forward[0] for flow in missing], missing[0].forward[1:]),
        reasoning=tuple(reasons),
        breaks=tuple(flow.words for flow in missing[:3]),
        marks=(str(first.server[0]),),
    )

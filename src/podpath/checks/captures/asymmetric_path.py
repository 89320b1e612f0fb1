"""asymmetric-path: only one direction of working connections passes this point.

What it is
    A capture shows only one side of a connection. That side acknowledges data that the capture
    never shows, so the other side's packets do arrive, but by another path.

Why it breaks
    Routing the two directions through different devices or hosts is allowed, but it breaks whatever
    has to see both: conntrack (and with it NAT and stateful filters), strict rp_filter, firewalls
    on the path. It also explains why a capture at this point shows no answers.

How to confirm
    tcpdump -nni any host PEER                   # the other device
    ip route get PEER; ip rule; ip route show table all

How to fix
    If something keeps state: route both directions through it (one route, or a policy rule by
    source address). If only the reverse-path filter objects: set net.ipv4.conf.DEVICE.rp_filter =
    2.

References
    fib_validate_source (net/ipv4/fib_frontend.c); RFC 3704, 2.3; RFC 2101, 4
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from podpath.capture.connections import CapturedConnection, CapturedFlow
from podpath.checks.captured import CapturedTraffic, quote
from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.net import protocols
from podpath.node.case import Case, Sighting

CATEGORIES = (Category.ASYMMETRIC_PATH,)
NAME = "asymmetric-path"
ENOUGH = 3
"""Packets of one direction that make the silence of the other one mean something."""
_ONE_SIDED = re.compile(r"(?<![\w.-])(?:src|dst|inbound|outbound|-Q|--direction)(?![\w.-])")
"""What a capture filter says that shows one direction alone."""


def look(case: Case, traffic: CapturedTraffic) -> Iterator[Finding]:
    """Note each point that shows one direction alone of connections that the other side takes part
    in.
    """
    _ = case
    groups: dict[tuple[object, ...], list[tuple[CapturedFlow[Sighting], Sequence[Sighting]]]] = {}
    for flow in traffic.flows:
        shown = _only_direction(flow)
        if shown and not _is_one_sided(shown[0]) and _advances(flow, shown):
            groups.setdefault((flow.point, shown[0].packet.src), []).append((flow, shown))
    for found in groups.values():
        yield _report(found, traffic.connections)


def _only_direction(flow: CapturedFlow[Sighting]) -> Sequence[Sighting]:
    if flow.protocol != protocols.TCP or bool(flow.forward) == bool(flow.backward):
        return ()
    return flow.forward or flow.backward


def _is_one_sided(seen: Sighting) -> bool:
    """Tell whether the capture's own command leaves out the other direction."""
    return _ONE_SIDED.search(seen.span.source.command or "") is not None


def _advances(flow: CapturedFlow[Sighting], shown: Sequence[Sighting]) -> bool:
    """Tell whether what it acknowledges grows: only what arrives is acknowledged."""
    acks = [
        seen.packet.ack
        for seen in shown
        if seen.packet.flags & protocols.ACK and not seen.packet.flags & protocols.RST
    ]
    if len(shown) < ENOUGH:
        return False
    opened = any(seen.packet.flags & protocols.SYN for seen in shown)
    return len(set(acks)) > 1 or (opened and bool(acks) and bool(flow.acks))


def _report(
    found: Sequence[tuple[CapturedFlow[Sighting], Sequence[Sighting]]],
    connections: Sequence[CapturedConnection[Sighting]],
) -> Finding:
    flow, shown = found[0]
    packet = shown[0].packet
    elsewhere = _find_elsewhere(flow, connections)
    back = ", by a path that is not captured here"
    returned: Sequence[Sighting] = ()
    if elsewhere is not None:
        back = f": {elsewhere.where} shows it"
        returned = elsewhere.backward if flow.forward else elsewhere.forward
    return Finding(
        check=NAME,
        severity=Severity.NOTE,
        claim=(
            f"{flow.where} shows only what {packet.src} sends on {flow.words}; "
            f"the other direction does arrive{back}."
        ),
        evidence=quote(shown, returned[:1]),
        reasoning=(
            f"{packet.src} keeps acknowledging data, so it does receive what {packet.dst} sends.",
            *((f"{len(found)} connections look like this.",) if len(found) > 1 else ()),
        ),
        marks=(str(packet.src), str(packet.dst)),
    )


def _find_elsewhere(
    flow: CapturedFlow[Sighting], connections: Sequence[CapturedConnection[Sighting]]
) -> CapturedFlow[Sighting] | None:
    """Return what another point shows of the connection, where it has both directions or the other
    one.
    """
    ends = {flow.client, flow.server}
    for connection in connections:
        if connection.start.protocol != flow.protocol:
            continue
        mine = any(other is flow for other in connection.flows)
        for other in connection.flows:
            same = mine or {other.client, other.server} == ends
            if same and other is not flow and (other.backward if flow.forward else other.forward):
                return other
    return None

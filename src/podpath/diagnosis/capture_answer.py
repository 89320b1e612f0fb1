"""The answer of `podpath capture`, as data: what the captures alone show, where they were taken,
and who talked with whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from podpath.capture.connections import CapturedConnection, Traffic, gather_traffic
from podpath.capture.states import STATES
from podpath.checks.captures.icmp_error import find_refusals
from podpath.checks.captures.reset_storm import closes
from podpath.checks.captures.unanswered import find_unheard, list_silent
from podpath.checks.finding import WEIGHTY, Finding
from podpath.diagnosis.captured import check_captures
from podpath.diagnosis.unread import InputCut, LinesUnread, NotModelled, forbid_by_gaps
from podpath.net import protocols
from podpath.net.provenance import Gap, Span, list_spans
from podpath.node.case import ArpSighting, CapturedPoint, Case, Sighting

GOOD = ("SF", "S1", "S2", "S3", "OTH")
"""States of connections that work, as far as a capture shows; those that fail are listed first."""
_RESET = ("RSTO", "RSTR")
WORKING = (*GOOD, *_RESET)
"""Those that do not count as failed where nothing else is known: a reset may only close them."""
_NOT_OPENED = ("S0", "SH", "SHR")
"""States of connections whose opening is not whole, and that nobody resets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSummary:
    """One connection, as the point nearest to its client shows it."""

    words: str
    """`tcp 10.0.0.1:1024 > 10.0.0.2:80`."""
    state: str
    """Zeek's word for how it went; empty for what is no TCP."""
    meaning: str
    points: tuple[str, ...]
    """Where it is seen, in the order of its way."""
    packets: int
    """At the first of these points."""
    first: float | None
    span: Span
    fails: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPacket:
    """No packet could be read."""

    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsDropped:
    """The kernel dropped packets at a point, by its own count, and the capture does not show
    them.
    """

    points: tuple[CapturedPoint, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the first line of each such point."""
        return list_spans(self.points)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionsFail:
    """Connections fail as far as the captures show, and no finding says why."""

    connections: tuple[ConnectionSummary, ...]
    """Those that are listed: of long captures some."""
    count: int = 0
    """How many fail."""
    asked: int = 0
    """Of how many."""

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the first packet of each."""
        return list_spans(self.connections)


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketsRefused:
    """ICMP errors refuse packets, and no finding says why."""

    errors: tuple[Sighting, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the errors."""
        return list_spans(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsUnanswered:
    """Name lookups or pings have no answer, and no finding says so: from servers that answer none,
    where the capture may end too soon to tell, or some of those that one client sends.
    """

    requests: tuple[str, ...]
    """`udp 10.0.0.1:1024 > 10.0.0.2:53`, one for each client."""
    spans: tuple[Span, ...]


CaptureForbids = (
    LinesUnread
    | InputCut
    | NotModelled
    | NoPacket
    | PacketsDropped
    | ConnectionsFail
    | PacketsRefused
    | RequestsUnanswered
)
"""One reason why captures do not say that nothing is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureAnswer:
    """Everything that captures say by themselves."""

    findings: tuple[Finding, ...]
    """Faults first."""
    points: tuple[CapturedPoint, ...]
    connections: tuple[ConnectionSummary, ...]
    """Those that fail first. Of long captures only those that tell something are here."""
    states: Mapping[str, int] = field(default_factory=dict)
    """How many TCP connections are in each state."""
    gaps: tuple[Gap, ...] = ()
    refusals: tuple[Sighting, ...] = ()
    """ICMP errors about packets that were no late answers."""
    silent: RequestsUnanswered | None = None
    """Name lookups and pings that nobody is seen to answer."""

    @property
    def forbids(self) -> tuple[CaptureForbids, ...]:
        """Return what forbids to say that nothing is wrong: what was seen is not whole, or a
        connection fails in it.
        """
        found: list[CaptureForbids] = list(forbid_by_gaps(self.gaps))
        dropping = tuple(point for point in self.points if point.dropped)
        if dropping:
            found.append(PacketsDropped(points=dropping))
        failing = tuple(one for one in self.connections if one.fails)
        count, asked = self.failing
        if count:
            found.append(ConnectionsFail(connections=failing, count=count, asked=asked))
        if self.refusals:
            found.append(PacketsRefused(errors=self.refusals))
        if self.silent is not None:
            found.append(self.silent)
        if not any(point.packets for point in self.points):
            found.append(NoPacket())
        return tuple(found)

    @property
    def failing(self) -> tuple[int, int]:
        """Return how many TCP connections fail, of how many; of a long capture, which lists some,
        by their states.
        """
        listed = [one for one in self.connections if one.state]
        counted = sum(self.states.values())
        if counted <= len(listed):
            return sum(one.fails for one in listed), len(listed)
        failing = [number for state, number in self.states.items() if state not in WORKING]
        return sum(failing), counted

    @property
    def verdict(self) -> str:
        """`fault` for a fault found, `undecided` where something forbids to say that nothing is
        wrong, else `none`.
        """
        if any(finding.severity in WEIGHTY for finding in self.findings):
            return "fault"
        return "undecided" if self.forbids else "none"

    @property
    def exit_code(self) -> int:
        """0 nothing wrong found, 1 a fault found, 3 what was seen is not whole, or holds failures
        that nothing explains.
        """
        return {"fault": 1, "undecided": 3, "none": 0}[self.verdict]


def answer_captures(
    case: Case, points: Sequence[CapturedPoint] = (), states: Mapping[str, int] | None = None
) -> CaptureAnswer:
    """Say what captures show; `points` and `states` where the packets themselves told them, else
    they follow from the case.
    """
    found = [*points]
    names = tuple(point.name for point in points)
    for file, point in list_points(case):
        binary = file.rpartition("/")[2]
        if not any(name.startswith(binary) for name in names):
            found.append(point)
    traffic = gather_traffic(case.sightings)
    connections = list_connections(traffic)
    if states is None:
        states = Counter(one.state for one in connections if one.state)
    return CaptureAnswer(
        findings=check_captures(case, traffic),
        points=tuple(found),
        connections=connections,
        states=states,
        gaps=case.gaps,
        refusals=tuple(find_refusals(case, traffic)),
        silent=_find_silent(case, traffic),
    )


def _find_silent(case: Case, traffic: Traffic[Sighting]) -> RequestsUnanswered | None:
    flows = list_silent(case, traffic)
    words = [flow.words for flow in flows]
    spans = [flow.forward[0].span for flow in flows]
    for unheard in find_unheard(case, traffic).values():
        words += [flow.words for flow in unheard.flows]
        spans += [seen.span for seen in unheard.requests]
    return RequestsUnanswered(requests=tuple(words), spans=tuple(spans)) if words else None


def list_points(case: Case) -> list[tuple[str, CapturedPoint]]:
    """Return the devices that printed captures show, each with its file."""
    groups: dict[tuple[str, str | None, int], list[tuple[float | None, Span]]] = {}
    shown: Iterator[Sighting | ArpSighting] = chain(case.sightings, case.arps)
    for seen in shown:
        groups.setdefault((seen.span.source.name, seen.link, seen.capture), []).append(
            (seen.time, seen.span)
        )
    found = []
    for (file, link, _), frames in groups.items():
        times = [time for time, _ in frames if time is not None]
        point = CapturedPoint(
            name=f"{file} {link}" if link else file,
            packets=len({span for _, span in frames}),
            first=min(times, default=None),
            last=max(times, default=None),
            span=frames[0][1],
        )
        found.append((file, point))
    return found


def list_connections(traffic: Traffic[Sighting]) -> tuple[ConnectionSummary, ...]:
    """Return every connection once, whatever points show it: those that fail first, TCP before all
    else, and else in order of their first packets.
    """
    found = [_summarise(connection) for connection in traffic.connections]
    return tuple(sorted(found, key=lambda one: (not one.fails, not one.state)))


def _works_still(connection: CapturedConnection[Sighting], state: str) -> bool:
    """Tell whether a connection works though its state does not say so: a reset only closes it, or
    a handshake that is not whole here went on nevertheless. A bridge under br_netfilter shows the
    two directions under different addresses, and captures drop packets.
    """
    if state in _RESET:
        return all(closes(flow, flow.resets[0]) for flow in connection.flows if flow.resets)
    return state in _NOT_OPENED and any(flow.stands for flow in connection.flows)


def _summarise(connection: CapturedConnection[Sighting]) -> ConnectionSummary:
    start = connection.start
    frames = start.frames
    if start.protocol == protocols.TCP:
        states = [flow.state for flow in connection.flows]
        state = next((one for one in states if one != "OTH"), "OTH")
        meaning = STATES[state]
    else:
        state = ""
        meaning = "answered" if start.forward and start.backward else "one direction alone"
    return ConnectionSummary(
        words=start.words,
        state=state,
        meaning=meaning,
        points=tuple(dict.fromkeys(flow.where for flow in connection.flows)),
        packets=len(frames),
        first=frames[0].time,
        span=frames[0].span,
        fails=bool(state) and state not in GOOD and not _works_still(connection, state),
    )

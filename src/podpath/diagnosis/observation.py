"""Does a branch of a walk agree with what captures saw? Every frame supports the branch,
contradicts it, or says nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.datapath.tracing.trace import Branch, Delivered, Dropped, Rejected, Trace, Transmitted
from podpath.diagnosis.connections import ConnectionFrame, Missing, kind_of
from podpath.diagnosis.symptoms import Symptom
from podpath.net.packet import Packet
from podpath.net.provenance import Span
from podpath.node.node import HOST

PREREQUISITE: dict[tuple[str, bool], tuple[str, bool]] = {
    ("SYN-ACK", False): ("SYN", True),
    ("ACK", True): ("SYN-ACK", False),
    ("data", True): ("SYN-ACK", False),
    ("data", False): ("data", True),
    ("ACK", False): ("data", True),
    ("reply", False): ("request", True),
}
"""Who sends a packet sends it because another one arrived: (kind, original direction) to the same
of that one.
"""


class Agreement(NamedTuple):
    """How well a branch fits what was seen."""

    matched: int
    """Frames that the branch predicts as they were seen; what is sent again says no more than the
    first time.
    """
    against: tuple[Span, ...]
    """Lines that the branch cannot explain."""

    @property
    def consistent(self) -> bool:
        """Tell whether nothing that was seen speaks against the branch."""
        return not self.against


def compare(branch: Branch, symptom: Symptom) -> Agreement:
    """Hold a branch against every capture of its connection, and against what conntrack says of its
    first packet.
    """
    matched: set[tuple[object, ...]] = set()
    ended = bool(branch.traces) and isinstance(branch.traces[0].outcome, (Dropped, Rejected))
    against: list[Span] = (
        list(symptom.passed) if ended and branch.traces[0].outcome.netns == HOST else []
    )
    for number, connection in enumerate(symptom.observed):
        for seen in connection.seen:
            verdict = _weigh(branch, seen)
            if verdict is True:
                matched.add(
                    (
                        number,
                        seen.kind,
                        seen.place,
                        seen.packet.src,
                        seen.packet.dst,
                        seen.packet.seq,
                        seen.packet.ack,
                    )
                )
            if verdict is False:
                against.append(seen.span)
        against += [missing.span for missing in connection.missing if _passes(branch, missing)]
    return Agreement(len(matched), tuple(dict.fromkeys(against)))


def _weigh(branch: Branch, seen: ConnectionFrame) -> bool | None:
    """Return True where the frame is predicted as it was seen, False where it could not have been
    seen, None where neither.
    """
    if seen.kind in ("RST", "FIN"):
        return False if seen.kind == "RST" and branch.works else None
    traces = [trace for trace in branch.traces if _part(trace) == (seen.kind, seen.original)]
    if not traces:
        return None if _could_be_sent(branch, seen) else False
    if _came_home(branch, seen) and not any(_enters(trace, seen.place.netns) for trace in traces):
        return False
    looks = [look for trace in traces for look in _appearances(trace)]
    fitting = {(netns, link) for netns, link, packet in looks if _same_ends(packet, seen.packet)}
    if not fitting:
        return False
    if any(_is_there(netns, link, seen) for netns, link in fitting):
        return True
    gone = all(not isinstance(trace.outcome, (Delivered, Transmitted)) for trace in traces)
    return False if gone and seen.place.direction == "out" else None


def _could_be_sent(branch: Branch, seen: ConnectionFrame) -> bool:
    """Tell whether a packet that the branch does not walk could be sent all the same, as what
    causes it had arrived.
    """
    cause = PREREQUISITE.get((seen.kind, seen.original))
    if cause is None:
        return True
    walked = [trace for trace in branch.traces if _part(trace) == cause]
    return any(isinstance(trace.outcome, (Delivered, Transmitted)) for trace in walked)


def _passes(branch: Branch, missing: Missing) -> bool:
    """Tell whether the branch lets a packet pass the place where it was not seen."""
    for trace in branch.traces:
        if _part(trace) == (missing.kind, True):
            if isinstance(trace.outcome, Transmitted) and trace.outcome.link == missing.place.link:
                return True
            if isinstance(trace.outcome, (Delivered, Transmitted)):
                return any(step.link == missing.place.link for step in trace.steps)
    return False


def _part(trace: Trace) -> tuple[str, bool]:
    return kind_of(trace.packet), trace.direction == "original"


def _came_home(branch: Branch, seen: ConnectionFrame) -> bool:
    """Tell whether a reply was captured in the namespace that asked, other than the host's, which
    all pass.
    """
    asked = branch.traces[0].start
    return (
        not seen.original
        and asked != HOST
        and seen.place.netns == asked
        and seen.place.direction in ("in", None)
    )


def _enters(trace: Trace, netns: str | None) -> bool:
    """Tell whether a packet comes into a namespace."""
    return any(step.netns == netns for step in trace.steps) or (
        isinstance(trace.outcome, Delivered) and trace.outcome.netns == netns
    )


def _is_there(netns: str, link: str | None, seen: ConnectionFrame) -> bool:
    """Tell whether a place of a walk may be the one where a frame was captured; devices of two
    namespaces may share a name.
    """
    place = seen.place
    same_netns = place.netns is None or netns == place.netns
    return place.link is None or (link in {None, place.link} and same_netns)


def _appearances(trace: Trace) -> Iterator[tuple[str, str | None, Packet]]:
    """Yield the packet as it looks at each place of its way: the namespace, and the device, None
    where the step is about no device.
    """
    yield trace.start, None, trace.packet
    for step in trace.steps:
        yield step.netns, step.link, step.before
        yield step.netns, step.link, step.after
    if isinstance(trace.outcome, Transmitted):
        yield trace.outcome.netns, trace.outcome.link, trace.outcome.packet
    elif isinstance(trace.outcome, Delivered):
        yield trace.outcome.netns, None, trace.outcome.packet


def _same_ends(one: Packet, other: Packet) -> bool:
    """Compare addresses and the server's port; the client's may be drawn anew by a translation."""
    if (one.src, one.dst) != (other.src, other.dst):
        return False
    return one.dport == other.dport or one.sport == other.sport

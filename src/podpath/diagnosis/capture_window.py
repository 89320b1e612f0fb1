"""Captures narrowed to a stretch of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from podpath.capture.connections import gather_traffic
from podpath.net.errors import UsageError
from podpath.net.provenance import Span
from podpath.node.case import CapturedPoint, Case, LostPacket, Sighting
from podpath.timeline.clock import Clock
from podpath.timeline.moments import Reach, parse_moment


class CaptureWindow(NamedTuple):
    """From when to when, in seconds since the epoch; None: from the start, to the end."""

    since: float | None = None
    until: float | None = None

    def holds(self, time: float | None) -> bool:
        """Tell whether a packet of this time lies within; one without a time does not."""
        if time is None:
            return False
        return (self.since is None or self.since <= time) and (
            self.until is None or time <= self.until
        )

    def narrow(self, case: Case) -> Case:
        """Keep the packets that lie within, and all others of their connections: what is answered
        after the end is not unanswered. What was lost within is kept, whether its connection is
        shown or not. `UsageError` where there is none.
        """
        kept = {id(seen) for seen in case.sightings if self.holds(seen.time)}
        for connection in gather_traffic(case.sightings).connections:
            frames = {id(seen) for flow in connection.flows for seen in flow.frames}
            kept |= frames if frames & kept else set()
        sightings = tuple(seen for seen in case.sightings if id(seen) in kept)
        arps = tuple(arp for arp in case.arps if self.holds(arp.time))
        spans = {seen.span for seen in sightings}
        lost = tuple(one for one in case.lost if self.holds(one.time) or _is_seen_in(one, spans))
        if not (sightings or arps or lost):
            raise UsageError("no packet that is shown of the captures lies between --from and --to")
        return replace(case, sightings=sightings, arps=arps, lost=lost)


def _is_seen_in(lost: LostPacket, spans: AbstractSet[Span]) -> bool:
    """Tell whether one of the points where a lost packet was seen is among those kept."""
    return any(span in spans for _, span in lost.seen)


def parse_window(
    since: str, until: str, points: Sequence[CapturedPoint], seen: Iterable[Sighting]
) -> CaptureWindow:
    """Read what somebody names as start and end, empty where they name none.

    Seconds behind a `+` count from the first packet; a time of the day is one of the captures'
    days, in UTC. `UsageError` says what is accepted.
    """
    times = [time for point in points for time in (point.first, point.last) if time is not None]
    times += [one.time for one in seen if one.time is not None]
    if not times:
        raise UsageError("the packets have no times: --from and --to cannot choose among them")
    reach = Reach(min(times), max(times))
    return CaptureWindow(*(_parse(text, reach) if text else None for text in (since, until)))


def _parse(text: str, reach: Reach) -> float:
    if not text.startswith("+"):
        return parse_moment(text, Clock(now=reach.last), reach)
    try:
        return reach.first + float(text)
    except ValueError:
        raise UsageError(f"expected seconds such as +12.5, saw {text!r}") from None

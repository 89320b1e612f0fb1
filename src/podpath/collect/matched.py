"""Captures of several points to the facts that follow from all of them: where they were taken, and what was lost between them.

This is where NumPy's answers become plain values with the packets' own lines. Without captures nothing is loaded.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from podpath.collect.captures import WHOLE, Kept
from podpath.evidence.commands import parse_command
from podpath.net import protocols
from podpath.net.packet import endpoint
from podpath.net.provenance import Source, Span
from podpath.node.case import CapturedPoint, LostPacket

if TYPE_CHECKING:
    from podpath.capture.matching import Matching
    from podpath.capture.points import CapturedFile, Point
    from podpath.capture.sightings import Connection, Ladder, Loss, Sighting

MOST_LOST = 1000
"""Lost packets that are told, each with its line."""
MOST_NAMED = 100_000
"""Connections that are looked through for one by its name."""
_SECOND = 1_000_000_000


class MatchedCaptures:
    """Captures put together. Made from what `read_evidence` handed to `keep`; NumPy is there, since they were read."""

    def __init__(self, kept: Sequence[Kept]) -> None:
        """Match all captures."""
        from podpath.capture.matching import match_captures  # noqa: PLC0415 - NumPy is an extra, and slow to load

        self._kept = {capture.name: capture for capture in kept}
        self.matching: Matching = match_captures([_as_file(capture) for capture in self._kept.values()])

    @property
    def points(self) -> tuple[CapturedPoint, ...]:
        """Where packets were captured."""
        return tuple(_as_point(point, self._spell(point)) for point in self.matching.points)

    def count_states(self) -> Mapping[str, int] | None:
        """Count the TCP connections of a long capture by their state; None where they are all shown anyway, or at many points."""
        if len(self._kept) != 1:
            return None
        (kept,) = self._kept.values()
        columns = kept.capture.packets.columns
        if len(columns) <= WHOLE:
            return None
        from podpath.capture.connections import follow_connections  # noqa: PLC0415 - as above
        from podpath.capture.flows import number_flows  # noqa: PLC0415 - as above

        found = follow_connections(columns, number_flows(columns))
        return Counter(state for state, tcp in zip(found.state, found.tcp.tolist(), strict=True) if tcp)

    def find_lost(self) -> tuple[LostPacket, ...]:
        """Give what was lost between points; nothing where there is one alone."""
        if len(self.matching.points) < 2:
            return ()
        from podpath.capture.losses import find_losses  # noqa: PLC0415 - as above
        from podpath.capture.shared_way import lies_on_one_way  # noqa: PLC0415 - as above

        found = (loss for loss in find_losses(self.matching).lost if lies_on_one_way(self.matching, loss))
        lost = tuple(islice(found, MOST_LOST))
        names = {number: self._name(number) for number in {loss.connection for loss in lost}}
        return tuple(self._as_fact(loss, names[loss.connection]) for loss in lost)

    def draw(self, names: Sequence[str], fits: Callable[[str], bool] | None = None) -> Ladder | None:
        """Lay out one connection: the first that `fits`, else the first of these names that there is, else the first of all."""
        from podpath.capture.ladders import lay_out  # noqa: PLC0415 - as above

        count = len(self.matching)
        if fits is not None:
            number = next((number for number in range(count) if fits(self._name(number))), None)
        else:
            spelled = {self._name(number): number for number in reversed(range(min(count, MOST_NAMED)))}
            number = next((spelled[name] for name in names if name in spelled), 0 if count else None)
        return None if number is None else lay_out(self.matching, number)

    def quote(self, sightings: Iterable[Sighting]) -> tuple[Span, ...]:
        """Give the line of each packet, as tcpdump would print it; its number is that of the packet."""
        return tuple(self._quote(seen) for seen in sightings)

    def _quote(self, seen: Sighting) -> Span:
        from podpath.capture.lines import render_lines  # noqa: PLC0415 - as above

        kept = self._kept[seen.file]
        lines = tuple(render_lines(kept.capture.packets, (seen.number - 1,), kept.devices))
        command = f"{kept.place.command or 'tcpdump'} -nn -e -S -tttt -r {shlex.quote(seen.file)}"
        source = Source(name=seen.file, lines=lines, first_line=seen.number, command=command, netns=kept.place.netns)
        return Span(source, seen.number, seen.number)

    def _name(self, number: int) -> str:
        return spell_connection(self.matching.connection(number))

    def _spell(self, point: Point) -> str:
        """Name a point by its file without the folder, where no other file is called so."""
        short = point.file.rpartition("/")[2]
        alike = [name for name in self._kept if name.rpartition("/")[2] == short]
        return point.name.replace(point.file, short, 1) if len(alike) == 1 else point.name

    def _as_fact(self, loss: Loss, name: str) -> LostPacket:
        points = self.matching.points
        return LostPacket(
            connection=name,
            forward=loss.forward,
            what=loss.what,
            seen=tuple((self._spell(points[seen.point]), self._quote(seen)) for seen in loss.seen),
            missing_at=self._spell(points[loss.missing_at]),
            before=self._quote(loss.before),
            after=self._quote(loss.after),
            basis=loss.basis,
            repeated=loss.repeated,
        )


def spell_connection(connection: Connection) -> str:
    """Spell a connection as a probe does, from who opened it, as its first point shows it."""
    passages = connection.forward.passages or connection.backward.passages
    ends = passages[0].ends
    near, far = (ends.src, ends.sport), (ends.dst, ends.dport)
    if not connection.forward.passages:
        near, far = far, near
    name = protocols.protocol_name(ends.protocol)
    if ends.protocol in (protocols.ICMP, protocols.ICMPV6):
        return f"{name} {near[0]} > {far[0]}"
    return f"{name} {endpoint(*near)} > {endpoint(*far)}"


def _as_file(kept: Kept) -> CapturedFile:
    from podpath.capture.files import as_bytes  # noqa: PLC0415 - as above
    from podpath.capture.points import CapturedFile  # noqa: PLC0415 - as above

    device = parse_command(kept.place.command).option("-i", "--interface") if kept.place.command else None
    return CapturedFile(
        name=kept.name,
        capture=kept.capture,
        data=as_bytes(kept.data),
        host=kept.name.partition("/captures/")[0] if "/captures/" in kept.name else "",
        device="" if device in (None, "any") else str(device),
        devices=kept.devices,
    )


def _as_point(point: Point, name: str) -> CapturedPoint:
    return CapturedPoint(
        name=name,
        packets=point.packets,
        first=point.first / _SECOND if point.first else None,
        last=point.last / _SECOND if point.last else None,
        dropped=point.dropped,
    )

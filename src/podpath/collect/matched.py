"""Captures of several points to the facts that follow from all of them: where they were taken, and
what was lost between them.

This is where NumPy's answers become plain values with the packets' own lines. Without captures
nothing is loaded.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from podpath.capture.measures import ConnectionMeasures
from podpath.collect import captures
from podpath.collect.captures import Kept
from podpath.collect.long_captures import say_unfollowed
from podpath.collect.printed_frames import PrintedFrames
from podpath.collect.spool import Spool
from podpath.evidence.commands.command import parse_command
from podpath.evidence.gathered import make_gap
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import EvidenceError, UsageError
from podpath.net.packet import endpoint
from podpath.net.provenance import Gap, GapKind, Source, Span
from podpath.node.case import (
    CapturedPoint,
    FailureTally,
    LostPacket,
    Sighting,
    ThinnedCapture,
)

if TYPE_CHECKING:
    from podpath.capture.sightings import Ladder, MatchedConnection, PacketLoss, SeenPacket
    from podpath_capture.columns import Packets
    from podpath_capture.flows.flows import Flows
    from podpath_capture.flows.measures import FlowMeasures
    from podpath_capture.matching.matching import Matching
    from podpath_capture.matching.shares import Shares
    from podpath_capture.points import CapturedFile, Point

MOST_LOST = 1000
"""Lost packets that are told, each with its line."""
MOST_NAMED = 100_000
"""Connections that are looked through for one by its name."""
_SECOND = 1_000_000_000


class _FollowedFile(NamedTuple):
    """A capture among those that are matched, and how its packets are quoted."""

    file: CapturedFile
    quote: Callable[[int], Span]
    """Gives the line of a packet by its number."""
    flows: Flows | None
    """Where its packets are numbered already."""


class MatchedCaptures:
    """Captures put together. Made from what `read_evidence` handed to `keep`; NumPy is there, since
    they were read.
    """

    def __init__(self, kept: Sequence[Kept], printed: Sequence[PrintedFrames] = ()) -> None:
        """Match all captures; printed ones whose packets have no times are left out."""
        from podpath_capture.flows.flows import number_flows  # noqa: PLC0415 - an extra
        from podpath_capture.points import number_points  # noqa: PLC0415 - as above

        self._kept = {capture.name: capture for capture in kept}
        held = [capture for capture in self._kept.values() if capture.survey is None]
        long = [capture for capture in self._kept.values() if capture.survey is not None]
        shown = [
            *map(_show_kept, held),
            *(one for each in printed if (one := _show_printed(each)) is not None),
        ]
        self._shown = {one.file.name: one for one in shown}
        self._files = [one.file for one in self._shown.values()]
        self._flows = [
            one.flows or number_flows(one.file.capture.packets.columns)
            for one in self._shown.values()
        ]
        self._points = number_points(self._files).points
        self._long = {capture.name: _show_kept(capture) for capture in long}
        self._surveyed = [
            point
            for capture in long
            if capture.survey is not None
            for point in capture.survey.list_points(self._long[capture.name].file)
        ]

    @cached_property
    def matching(self) -> Matching | None:
        """What the captures that are held show of one another; None where there is nothing to
        match.
        """
        from podpath_capture.matching.matching import match_captures  # noqa: PLC0415 - as above

        if any(len(each) for each in self._flows):
            return match_captures(self._files, self._flows)
        return None

    @property
    def points(self) -> tuple[CapturedPoint, ...]:
        """Where packets were captured, as files tell it; printed captures are listed by what they
        show.
        """
        shown = [point for point in self._points if point.file in self._kept]
        shown += self._surveyed
        return tuple(_as_point(point, self._spell(point)) for point in shown)

    @property
    def unfollowed(self) -> tuple[Gap, ...]:
        """What long captures have of connections that are too long to be followed."""
        if not self._has_points() or self._shares is None or not self._shares.left_out:
            return ()
        name = next(iter(self._long))
        why = say_unfollowed(name, self._shares.left_out)
        return (make_gap(name, why, kind=GapKind.CUT),)

    def _has_points(self) -> bool:
        """Tell whether packets were captured at more than one point."""
        return len(self._points) + len(self._surveyed) > 1

    @cached_property
    def _shares(self) -> Shares | None:
        """The connections of all captures in shares, where a long capture is among them."""
        from podpath_capture.matching.shares import LongFile, Shares  # noqa: PLC0415 - an extra

        if not self._long:
            return None
        files = []
        for one, flows in zip(self._shown.values(), self._flows, strict=True):
            packets = one.file.capture.packets
            files.append(LongFile(one.file, packets.columns, packets.addresses, flows))
        for name, one in self._long.items():
            survey = self._kept[name].survey
            if survey is not None:
                narrow = survey.narrow
                files.append(LongFile(one.file, narrow.columns, narrow.addresses, survey.flows))
        spool = Spool()
        try:
            return Shares(files, spool)
        except OSError as error:
            raise EvidenceError(
                f"{files[-1].file.name}: keys of a long capture go into the folder for temporary "
                f"files: {error.strerror}"
            ) from error
        finally:
            spool.close()

    def _match_each(self) -> Iterator[Matching]:
        """Match all captures: at once, or one share after the other."""
        if self._shares is None:
            if self.matching is not None:
                yield self.matching
            return
        for number in range(len(self._shares)):
            yield self._match_share(self._shares, number)

    @staticmethod
    def _match_share(shares: Shares, number: int) -> Matching:
        from podpath_capture.matching.matching import match_captures  # noqa: PLC0415 - as above

        return match_captures(shares.take(number))

    def count_states(self) -> Mapping[str, int] | None:
        """Count the TCP connections of a long capture by their state; None where they are all shown
        anyway, or at many points.
        """
        if len(self._kept) != 1:
            return None
        (kept,) = self._kept.values()
        if kept.survey is not None:
            return kept.survey.states
        if kept.failures is not None:
            return kept.failures.states
        return None

    def find_thinned(self, sightings: Sequence[Sighting]) -> Mapping[str, ThinnedCapture]:
        """Name the captures of which not all packets are shown, with those that others are left out
        behind.
        """
        lines: dict[str, set[int]] = defaultdict(set)
        for seen in sightings:
            lines[seen.span.source.name].add(seen.span.line)
        return {
            kept.name: self._find_left_out(kept, sorted(lines[kept.name]))
            for kept in self._kept.values()
            if kept.total > captures.WHOLE
        }

    def _find_left_out(self, kept: Kept, lines: Sequence[int]) -> ThinnedCapture:
        from podpath_capture.flows.telling import find_left_out  # noqa: PLC0415 - as above

        if not lines:
            return ThinnedCapture()
        columns, flows = kept.capture.packets.columns, kept.flows
        if kept.survey is not None:
            columns, flows = kept.survey.narrow.columns, kept.survey.flows
        if flows is None:
            return ThinnedCapture()
        begins = None if kept.printed is None else kept.printed.packed.first
        return ThinnedCapture(*map(frozenset, find_left_out(columns, flows, lines, begins)))

    def tally_failures(self) -> Mapping[tuple[int, Address, int], FailureTally]:
        """Count who refuses how many, or leaves them unanswered, in a long capture; nothing where
        all of it is shown anyway, or there are several.
        """
        if len(self._kept) != 1:
            return {}
        (kept,) = self._kept.values()
        if kept.total <= captures.WHOLE:
            return {}
        failures = kept.failures if kept.survey is None else kept.survey.failures
        if failures is None:
            return {}
        narrow = None if kept.survey is None else kept.survey.narrow
        addresses = kept.capture.packets.addresses if narrow is None else narrow.addresses
        found: dict[tuple[int, Address, int], FailureTally] = {}
        for (protocol, version, value, port), tally in failures.tallies.items():
            address = Address(4, value) if version == 4 else Address(6, addresses[value])
            found[protocol, address, port] = FailureTally(
                *tally[:-1], lines=tuple(self._line_of(kept, row) for row in tally.rows)
            )
        return found

    @staticmethod
    def _line_of(kept: Kept, row: int) -> int:
        """Return the line that a packet is quoted by."""
        if kept.printed is None:
            return row + 1
        return int(kept.printed.packed.first[row]) + 1

    def measure(
        self,
        since: float | None = None,
        until: float | None = None,
        most: int = MOST_NAMED,
    ) -> Iterator[ConnectionMeasures]:
        """Measure every conversation at every point, in the order of the captures, `most` of each,
        by its packets `since` one moment and `until` another.
        """
        for one, flows in zip(self._shown.values(), self._flows, strict=True):
            part = (one.file.capture.packets, flows)
            yield from islice(self._measure_part(one.file, part, since, until), most)
        for name, one in self._long.items():
            survey = self._kept[name].survey
            if survey is not None:
                measured = (
                    self._measure_part(one.file, part, since, until) for part in survey.part()
                )
                yield from islice(chain.from_iterable(measured), most)

    def _measure_part(
        self,
        file: CapturedFile,
        part: tuple[Packets, Flows],
        since: float | None,
        until: float | None,
    ) -> Iterator[ConnectionMeasures]:
        """Measure the conversations of some packets."""
        from podpath_capture.flows.flows import number_flows  # noqa: PLC0415 - as above
        from podpath_capture.flows.measures import measure_flows  # noqa: PLC0415 - as above
        from podpath_capture.narrowed import choose_times  # noqa: PLC0415 - as above

        packets, flows = part
        if since is not None or until is not None:
            packets = replace(packets, columns=choose_times(packets.columns, since, until))
            flows = number_flows(packets.columns)
        found = measure_flows(packets.columns, flows, file.data)
        columns = packets.columns
        for number, row in enumerate(flows.first.tolist()):
            yield _as_measures(
                found,
                number,
                _spell_flow(packets, row, turned=bool(found.turned[number])),
                self._name_place(file, int(columns.ifindex[row])),
            )

    def _name_place(self, file: CapturedFile, ifindex: int) -> str:
        device = file.devices.get(ifindex, f"ifindex {ifindex}") if ifindex else ""
        short = file.name.rpartition("/")[2]
        return f"{short} {device}" if device else short

    def find_lost(self) -> tuple[LostPacket, ...]:
        """Return what was lost between points; nothing where there is one alone."""
        if not self._has_points():
            return ()
        from podpath_capture.journeys.losses import find_losses  # noqa: PLC0415 - as above
        from podpath_capture.journeys.shared_way import lies_on_one_way  # noqa: PLC0415 - as above

        leaking: frozenset[str] = frozenset()
        found: list[tuple[str, LostPacket]] = []
        for matching in self._match_each():
            losses = find_losses(matching, leaking)
            leaking |= losses.leaking
            lost = (loss for loss in losses.lost if lies_on_one_way(matching, loss))
            for loss in islice(lost, MOST_LOST):
                doubted = "" if loss.resent else matching.points[loss.missing_at].file
                found.append((doubted, self._as_fact(matching, loss)))
        return tuple(fact for doubted, fact in found if doubted not in leaking)[:MOST_LOST]

    def draw(
        self, names: Sequence[str], fits: Callable[[str], bool] | None = None
    ) -> Ladder | None:
        """Lay out one connection: the first that `fits`, else the first of these names that there
        is, else the first of all.

        `UsageError` where there is none, and some are too long to be followed.
        """
        from podpath_capture.journeys.ladders import lay_out  # noqa: PLC0415 - as above

        chosen: tuple[int, int, int] | None = None
        for share, matching in enumerate(self._match_each()):
            found = _choose(matching, names, fits)
            if found is not None and (chosen is None or found.rank < chosen[0]):
                chosen = (found.rank, share, found.number)
            if chosen is not None and chosen[:2] == (0, share):
                return lay_out(matching, chosen[2])
        if chosen is not None:
            shares, matched = self._shares, self.matching
            if shares is not None:
                matched = self._match_share(shares, chosen[1])
            if matched is None:
                return None
            return lay_out(matched, chosen[2])
        if self._shares is not None and self._shares.left_out:
            name = next(iter(self._long))
            raise UsageError(f"{name}: {say_unfollowed(name, self._shares.left_out)}")
        return None

    def _quote(self, seen: SeenPacket) -> Span:
        shown = self._shown if seen.file in self._shown else self._long
        return shown[seen.file].quote(seen.number)

    def _spell(self, point: Point) -> str:
        """Name a point by its file without the folder, where no other file is called so."""
        short = point.file.rpartition("/")[2]
        alike = [name for name in {**self._shown, **self._kept} if name.rpartition("/")[2] == short]
        if len(alike) == 1:
            return point.name.replace(point.file, short, 1)
        return point.name

    def _as_fact(self, matching: Matching, loss: PacketLoss) -> LostPacket:
        points = matching.points
        return LostPacket(
            connection=spell_connection(matching.connection(loss.connection)),
            forward=loss.forward,
            what=loss.what,
            seen=tuple((self._spell(points[seen.point]), self._quote(seen)) for seen in loss.seen),
            missing_at=self._spell(points[loss.missing_at]),
            before=self._quote(loss.before),
            after=self._quote(loss.after),
            basis=loss.basis,
            repeated=loss.repeated,
            doubtful=not loss.resent and self._is_of_all_devices(points[loss.missing_at]),
            time=loss.seen[-1].time / 1_000_000_000 or None,
        )

    def _is_of_all_devices(self, point: Point) -> bool:
        """Tell whether a point is of a capture on `any` that does not say what it dropped: such a
        one drops packets even where few pass.
        """
        shown = self._shown if point.file in self._shown else self._long
        file = shown[point.file].file
        counted = file.dropped is not None or bool(point.dropped)
        return bool(point.direction) and not counted


class _Chosen(NamedTuple):
    """A connection that is to be drawn."""

    rank: int
    """0 where no other one is wanted more."""
    number: int


def _choose(
    matching: Matching, names: Sequence[str], fits: Callable[[str], bool] | None
) -> _Chosen | None:
    """Choose one connection: the first that `fits`, else the first of the names that there is, else
    the first of all.
    """
    spelled = (
        (spell_connection(one), number) for number, one in enumerate(islice(matching, MOST_NAMED))
    )
    if fits is not None:
        number = next((number for name, number in spelled if fits(name)), None)
        return None if number is None else _Chosen(0, number)
    known = dict(reversed(list(spelled)))
    named = (_Chosen(rank, known[name]) for rank, name in enumerate(names) if name in known)
    return next(named, _Chosen(len(names), 0) if len(matching) else None)


def _spell_flow(packets: Packets, row: int, *, turned: bool) -> str:
    """Spell a flow as a probe does, from its client."""
    columns = packets.columns
    protocol, six = int(columns.protocol[row]), columns.version[row] == 6
    ends = []
    for address, port in ((columns.src, columns.sport), (columns.dst, columns.dport)):
        value = int(address[row])
        found = Address(6, packets.addresses[value]) if six else Address(4, value)
        named = protocol in (protocols.TCP, protocols.UDP, protocols.SCTP)
        ends.append(endpoint(found, int(port[row])) if named else str(found))
    near, far = reversed(ends) if turned else ends
    return f"{protocols.protocol_name(protocol)} {near} > {far}"


def _as_measures(found: FlowMeasures, number: int, words: str, point: str) -> ConnectionMeasures:
    """Make one row of a table of what was measured of one flow."""
    values = [int(value) for pair in (found.packets, found.payload) for value in pair[number]]
    again, late, duplicate, closed = (pair[number].tolist() for pair in found.said)
    queries, answers, failures = found.dns[number].tolist()
    rtt, latency = int(found.rtt[number]), int(found.dns_latency[number])
    return ConnectionMeasures(
        connection=words,
        point=point,
        state=found.state[number],
        history=found.history[number],
        first=int(found.first[number]) / _SECOND,
        duration=int(found.duration[number]) / _SECOND,
        client_packets=values[0],
        server_packets=values[1],
        client_bytes=values[2],
        server_bytes=values[3],
        client_retransmissions=again[0],
        server_retransmissions=again[1],
        client_out_of_order=late[0],
        server_out_of_order=late[1],
        client_duplicate_acks=duplicate[0],
        server_duplicate_acks=duplicate[1],
        client_zero_windows=closed[0],
        server_zero_windows=closed[1],
        rtt=rtt / _SECOND if rtt >= 0 else None,
        dns_queries=queries,
        dns_answers=answers,
        dns_failures=failures,
        dns_latency=latency / _SECOND if latency >= 0 else None,
    )


def spell_connection(connection: MatchedConnection) -> str:
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


def _show_kept(kept: Kept) -> _FollowedFile:
    from podpath_capture.files.file import as_bytes  # noqa: PLC0415 - as above
    from podpath_capture.points import CapturedFile  # noqa: PLC0415 - as above
    from podpath_capture.printed.lines import render_lines  # noqa: PLC0415 - as above

    if kept.printed is not None:
        printed = kept.printed
        file = CapturedFile(name=kept.name, capture=kept.capture, devices=kept.devices)
        return _FollowedFile(file, lambda number: printed.quote(number - 1), kept.flows)
    if kept.place.command:
        device = parse_command(kept.place.command).option("-i", "--interface")
    else:
        device = None
    file = CapturedFile(
        name=kept.name,
        capture=kept.capture,
        data=as_bytes(kept.data),
        host=kept.name.partition("/captures/")[0] if "/captures/" in kept.name else "",
        device="" if device in (None, "any") else str(device),
        devices=kept.devices,
    )

    def quote(number: int) -> Span:
        """Render the packet's line, as tcpdump would print it."""
        packets, row = kept.capture.packets, number - 1
        if kept.survey is not None:
            packets, row = kept.survey.read(row), 0
        lines = tuple(render_lines(packets, (row,), kept.devices, kept.data))
        command = f"{kept.place.command or 'tcpdump'} -nn -e -S -tttt -r {shlex.quote(kept.name)}"
        source = Source(
            name=kept.name, lines=lines, first_line=number, command=command, netns=kept.place.netns
        )
        return Span(source, number, number)

    return _FollowedFile(file, quote, kept.flows)


def _show_printed(printed: PrintedFrames) -> _FollowedFile | None:
    from podpath_capture.points import CapturedFile  # noqa: PLC0415 - as above
    from podpath_capture.printed.packets import pack_frames  # noqa: PLC0415 - as above

    packed = pack_frames(printed.frames)
    if packed is None:
        return None
    file = CapturedFile(name=printed.name, capture=packed.capture, devices=packed.devices)
    return _FollowedFile(file, lambda number: printed.frames[number - 1].span, packed.flows)


def _as_point(point: Point, name: str) -> CapturedPoint:
    return CapturedPoint(
        name=name,
        packets=point.packets,
        first=point.first / _SECOND if point.first else None,
        last=point.last / _SECOND if point.last else None,
        dropped=point.dropped,
        unnamed=point.unnamed,
    )

"""Readings of the connection tracking table to its entries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from podpath.assembly.scenes.labels import StateLikelihood, judge_source
from podpath.evidence.commands.command import parse_command
from podpath.evidence.records import ConntrackRecord, ConnTupleRecord, HeadingRecord, Reading
from podpath.net import protocols
from podpath.net.provenance import Gap, Listing, Source
from podpath.node.netfilter import ConntrackEntry, ConnTuple, TrackedEntries

_ICMPS = frozenset({protocols.ICMP, protocols.ICMPV6})
_WITH_PORTS = frozenset({protocols.TCP, protocols.UDP, protocols.SCTP, protocols.UDPLITE})
ASK = "conntrack -L -o extended,id"
_HARMLESS_FILTERS = frozenset({"cat", "less", "more", "sort", "tee"})
_HARMLESS_OPTIONS = frozenset({"-L", "--dump", "-o", "--output", "-f", "--family"})
_TABLE_FILE = re.compile(r"(?:^|.*/)(?:nf_conntrack|ip_conntrack|conntrack\.txt)")


class ConntrackAssembly(NamedTuple):
    """The entries of one namespace."""

    listing: Listing[ConntrackEntry]
    gaps: tuple[Gap, ...]


def assemble_conntrack(readings: Iterable[tuple[Source, Reading]]) -> ConntrackAssembly:
    """Return the entries that the evidence shows for the time of the failure; each connection
    once.
    """
    shown = [(source, reading) for source, reading in readings if _shows_entries(source, reading)]
    times = {judge_source(source) for source, _ in shown}
    if times & {StateLikelihood.BAD, StateLikelihood.PLAIN}:
        shown = [
            (source, reading)
            for source, reading in shown
            if judge_source(source) <= StateLikelihood.PLAIN
        ]
    entries: dict[tuple[object, ...], ConntrackEntry] = {}
    gaps: list[Gap] = []
    for source, reading in shown:
        if judge_source(source) is StateLikelihood.ELSEWHERE:
            continue
        for record in reading.records:
            if isinstance(record, ConntrackRecord):
                _add(entries, record, gaps)
    own = [
        (source, reading)
        for source, reading in shown
        if judge_source(source) is not StateLikelihood.ELSEWHERE
    ]
    complete = any(_is_whole(source, reading) for source, reading in own)
    span = next((record.span for _, reading in own for record in reading.records), None)
    tracked = TrackedEntries(entries.values())
    return ConntrackAssembly(Listing(tracked, complete, ASK, span), tuple(gaps))


def _add(
    entries: dict[tuple[object, ...], ConntrackEntry], record: ConntrackRecord, gaps: list[Gap]
) -> None:
    """Translate one entry; what another output showed already stays."""
    original = _assemble_tuple(record.original, record.protocol)
    zone = record.zone or record.zone_original or 0
    if original is None:
        gaps.append(Gap(record.span, "the ports of the connection are not all there"))
        return
    reply = None if record.reply is None else _assemble_tuple(record.reply, record.protocol)
    if reply is None:
        gaps.append(
            Gap(
                record.span,
                "the reply direction is not all there: taken to mirror the original one",
            )
        )
        reply = ConnTuple(
            original.dst, original.src, original.protocol, original.dport, original.sport
        )
    entry = ConntrackEntry(
        original=original,
        reply=reply,
        state=record.state or "",
        replied=not record.unreplied,
        assured=record.assured,
        mark=record.mark or 0,
        zone=zone,
        offloaded=record.offloaded,
        timeout=record.timeout,
        span=record.span,
    )
    entries.setdefault((original, zone), entry)


def _assemble_tuple(record: ConnTupleRecord, protocol: int) -> ConnTuple | None:
    """Translate one direction; None where a port of a protocol with ports is missing."""
    sport, dport = record.sport, record.dport
    if protocol in _ICMPS:
        sport = dport = record.icmp_id or 0
    elif sport is None or dport is None:
        if protocol in _WITH_PORTS:
            return None
        sport, dport = sport or 0, dport or 0
    return ConnTuple(record.src, record.dst, protocol, sport, dport)


def _shows_entries(source: Source, reading: Reading) -> bool:
    return any(isinstance(record, ConntrackRecord) for record in reading.records) or _is_whole(
        source, reading
    )


def _is_whole(source: Source, reading: Reading) -> bool:
    """Tell whether a source lists all entries there are: its command asks for that, and nothing was
    cut.
    """
    if reading.gaps or any(
        isinstance(record, HeadingRecord) and record.partial for record in reading.records
    ):
        return False
    command = parse_command(source.command)
    if any(words[0].rpartition("/")[2] not in _HARMLESS_FILTERS for words in command.filters):
        return False
    if command.program == "conntrack":
        options = {word for word in command.arguments if word.startswith("-")}
        tables = [word for word in command.arguments if word in {"expect", "dying", "unconfirmed"}]
        return bool(options & {"-L", "--dump"}) and options <= _HARMLESS_OPTIONS and not tables
    if command.program == "cat":
        return (
            len(command.arguments) == 1 and _TABLE_FILE.fullmatch(command.arguments[0]) is not None
        )
    return not command.program and _TABLE_FILE.fullmatch(source.name) is not None

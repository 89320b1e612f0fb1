"""What becomes of every flow of a node, and what differs between two: classes with one answer are
told together, each set with a witness and the line that decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from podpath.flows.flow import FlowSet
from podpath.library.case import Case
from podpath.library.progress import Progress, silent
from podpath.net.addresses import Family
from podpath.net.packet import endpoint
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.report.escape import escape
from podpath_fleet.alike_sources import AlikeFound
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.node_cut import cut_nodes
from podpath_fleet.reach_answers import ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace
from podpath_fleet.reach_pairs import enumerate_all, group_alike, meet_regions, pair_classes
from podpath_fleet.reach_space import (
    MOST_WALKS,
    join_regions,
    list_spaces,
    list_unaddressed,
    spell_networks,
    spell_ports,
    spell_regions,
)
from podpath_fleet.rules_met import list_unmet

SCHEMA = "podpath/reach/v1"
_WEIGHTS = ("NEVER", "SOMETIMES", "UNDECIDED", "UNREADABLE", "ALWAYS")
"""Verdicts in the order in which they are told."""
_FAILED = {"NEVER", "SOMETIMES"}
_SHOWN = 24
"""Sets that the text tells of for each source and protocol."""


@dataclass(frozen=True, slots=True)
class ReachSet:
    """Headers of one space with one answer."""

    space: HeaderSpace
    regions: tuple[HeaderRegion, ...]
    witness: Probe
    answer: ReachAnswer
    classes: int
    """How many classes it is joined of."""

    @property
    def size(self) -> int:
        """Return how many headers it holds."""
        return sum(region.size for region in self.regions)


@dataclass(frozen=True, slots=True)
class ReachResult:
    """What becomes of all headers that were asked about."""

    sets: tuple[ReachSet, ...]
    enumerations: tuple[tuple[HeaderSpace, Enumeration[ReachAnswer]], ...]
    unmet: tuple[Span, ...] | None = None
    """Rules of iptables that no packet of these flows meets; None where nobody asked, or not all
    was walked.
    """
    unmet_asked: bool = False
    unaddressed: tuple[str, ...] = ()
    """The pods that were asked about with all others, and of which no output shows an address."""

    @property
    def complete(self) -> bool:
        """Tell whether every header is in a class."""
        return not self.unaddressed and all(not found.left for _, found in self.enumerations)

    @property
    def exit_code(self) -> int:
        """Return 1 where some flows do not always work, 3 where some are undecided or were not
        walked, 0 where all work.
        """
        verdicts = {one.answer.row.verdict for one in self.sets}
        if verdicts & _FAILED:
            return 1
        if self.complete and verdicts <= {"ALWAYS"}:
            return 0
        return 3

    def text(self) -> str:
        """Tell of each source and protocol which sets there are."""
        lines: list[str] = []
        for space, found in self.enumerations:
            lines += self._tell_space(space, found)
        lines += _tell_unaddressed(self.unaddressed)
        lines += self._tell_unmet()
        return "\n".join(map(escape, lines)) + "\n"

    def _tell_unmet(self) -> Iterator[str]:
        title = "rules of iptables that none of these flows meets"
        if self.unmet is not None:
            yield f"{title}: {len(self.unmet):,}"
            yield from (f"  {span} {span.text}" for span in self.unmet[:_SHOWN])
            if len(self.unmet) > _SHOWN:
                yield f"  and {len(self.unmet) - _SHOWN:,} more: --json has them all"
        elif self.unmet_asked:
            yield f"{title}: UNKNOWN, not all of them were walked"

    def _tell_space(self, space: HeaderSpace, found: Enumeration[ReachAnswer]) -> Iterator[str]:
        own = [one for one in self.sets if one.space is space]
        yield f"{spell_source(space)}: {len(found.classes):,} classes, {len(own):,} answers"
        if space.alike:
            yield f"  (of those alike with their own address and {space.sample.src} exchanged)"
        for one in own[:_SHOWN]:
            yield f"  {_tell_answer(one.answer)}"
            yield from (f"    {line}" for line in spell_regions(one.regions, space))
            yield f"    e.g. {spell_probe(one.witness)}"
        if len(own) > _SHOWN:
            yield f"  and {len(own) - _SHOWN:,} more answers: --json has them all"
        if found.left:
            yield "  UNKNOWN: the bound on walks is met, and nobody walked these (--walks)"
            yield from (f"    {line}" for line in spell_regions(join_regions(found.left), space))

    def json(self) -> str:
        """Return a document of the schema `podpath/reach/v1`."""
        return json.dumps({"schema": SCHEMA, **self.plain()}, indent=2) + "\n"

    def plain(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        left = [
            _tell_set(space, join_regions(found.left))
            for space, found in self.enumerations
            if found.left
        ]
        sets = [
            {
                **_tell_set(one.space, one.regions),
                "witness": spell_probe(one.witness),
                "classes": one.classes,
                **_tell_fields(one.answer),
            }
            for one in self.sets
        ]
        document: dict[str, Any] = {
            "complete": self.complete,
            "sets": sets,
            "unknown": left,
            "unaddressed": list(self.unaddressed),
        }
        if self.unmet_asked:
            document["unmet"] = None if self.unmet is None else list(map(_tell_line, self.unmet))
        return document


@dataclass(frozen=True, slots=True)
class ReachChange:
    """Headers whose answer is another one on the second node."""

    space: HeaderSpace
    regions: tuple[HeaderRegion, ...]
    witness: Probe
    before: ReachAnswer
    after: ReachAnswer


@dataclass(frozen=True, slots=True)
class ReachDifference:
    """What changed between two nodes, of the headers that were asked about."""

    changes: tuple[ReachChange, ...]
    complete: bool
    """False where headers of either were not walked."""
    unaddressed: tuple[str, ...] = ()
    """The pods of either that no output shows an address of, where all pods were asked about."""

    @property
    def exit_code(self) -> int:
        """Return 1 where something changed, 3 where it is not known of all, 0 where nothing did."""
        if self.changes:
            return 1
        return 0 if self.complete else 3

    def text(self) -> str:
        """Tell of each change the headers, a witness and both lines."""
        lines = [f"sets of flows with another answer: {len(self.changes):,}"]
        if not self.complete:
            lines.append("UNKNOWN: not all of them were walked; more may have changed (--walks)")
        lines += _tell_unaddressed(self.unaddressed)
        for one in self.changes:
            lines.append(f"  {spell_source(one.space)}")
            lines += [f"    {line}" for line in spell_regions(one.regions, one.space)]
            lines.append(f"    e.g. {spell_probe(one.witness)}")
            lines += [f"    - {_tell_answer(one.before)}", f"    + {_tell_answer(one.after)}"]
        return "\n".join(map(escape, lines)) + "\n"

    def json(self) -> str:
        """Return a document of the schema `podpath/reach/v1`."""
        changes = [
            {
                **_tell_set(one.space, one.regions),
                "witness": spell_probe(one.witness),
                "before": _tell_fields(one.before),
                "after": _tell_fields(one.after),
            }
            for one in self.changes
        ]
        document = {
            "schema": SCHEMA,
            "complete": self.complete,
            "changes": changes,
            "unaddressed": list(self.unaddressed),
        }
        return json.dumps(document, indent=2) + "\n"


def reach(
    case: Case,
    question: FlowSet,
    *,
    walks: int = MOST_WALKS,
    unmet: bool = False,
    progress: Progress = silent,
) -> ReachResult:
    """Enumerate every class of flows that is asked about, by at most so many walks for each source
    and protocol; with `unmet`, list the rules that none of them meets.
    """
    walker = ReachWalker(case)
    result = reach_spaces(walker, question, list_spaces(question, case.node), walks, progress)
    if not unmet:
        return result
    whole = result.complete and walker.whole
    spans = tuple(list_unmet(case.node, walker.met)) if whole else None
    return replace(result, unmet=spans, unmet_asked=True)


def reach_spaces(
    walker: ReachWalker,
    question: FlowSet,
    spaces: Sequence[HeaderSpace],
    walks: int,
    progress: Progress,
) -> ReachResult:
    """Enumerate every class of some of the flows that are asked about."""
    asked = group_alike(spaces, (walker,))
    result = _flatten(enumerate_all(walker, asked, 0, walks, progress))
    return replace(result, unaddressed=_list_unaddressed(question, walker.case))


def _flatten(found: Sequence[AlikeFound]) -> ReachResult:
    enumerations = tuple(one for alike in found for one in alike.list_all())
    joined = [one for space, classes in enumerations for one in _join(space, classes)]
    return ReachResult(tuple(joined), enumerations)


def compare_reach(
    before: Case,
    after: Case,
    question: FlowSet,
    *,
    walks: int = MOST_WALKS,
    progress: Progress = silent,
) -> ReachDifference:
    """Tell which flows, of those that the first node's sources send, have another answer on the
    second node: another verdict, end, or text of the deciding line.
    """
    spaces: Sequence[HeaderSpace] = list_spaces(question, before.node)
    cut = cut_nodes(before, after, spaces)
    if cut is not None:
        before, after, spaces = cut.before, cut.after, cut.spaces
    walkers = (ReachWalker(before), ReachWalker(after))
    asked = group_alike(spaces, walkers)
    old = enumerate_all(walkers[0], asked, 0, walks, progress)
    new = enumerate_all(walkers[1], asked, 1, walks, progress)
    changes: list[ReachChange] = []
    for alike, was, now in zip(asked, old, new, strict=True):
        for pair in pair_classes(alike, was, now):
            changes += _compare(*pair)
    unaddressed = _list_unaddressed(question, before, after)
    complete = not unaddressed and _flatten(old).complete and _flatten(new).complete
    return ReachDifference(tuple(changes), complete, unaddressed)


def _list_unaddressed(question: FlowSet, *cases: Case) -> tuple[str, ...]:
    """Return the pods of which no flow is in what is asked of all pods."""
    if question.sources:
        return ()
    return tuple(dict.fromkeys(name for case in cases for name in list_unaddressed(case.node)))


def _join(space: HeaderSpace, found: Enumeration[ReachAnswer]) -> list[ReachSet]:
    alike: dict[ReachAnswer, list[int]] = {}
    for place, one in enumerate(found.classes):
        alike.setdefault(one.answer, []).append(place)
    sets = []
    for answer, places in alike.items():
        regions = [region for place in places for region in found.classes[place].regions]
        witness = found.classes[places[0]].witness
        sets.append(ReachSet(space, join_regions(regions), witness, answer, len(places)))
    return sorted(sets, key=_weigh)


def _weigh(one: ReachSet) -> tuple[int, int]:
    return _WEIGHTS.index(one.answer.row.verdict), -one.size


def _compare(
    space: HeaderSpace, was: Enumeration[ReachAnswer], now: Enumeration[ReachAnswer]
) -> Iterator[ReachChange]:
    alike: dict[tuple[ReachAnswer, ReachAnswer], list[HeaderRegion]] = {}
    for before in _join(space, was):
        for after in _join(space, now):
            if _without_place(before.answer) != _without_place(after.answer):
                common = list(meet_regions(before.regions, after.regions))
                if common:
                    alike.setdefault((before.answer, after.answer), []).extend(common)
    for (old, new), regions in alike.items():
        joined = join_regions(regions)
        yield ReachChange(space, joined, space.pick(joined[0]), old, new)


def _without_place(answer: ReachAnswer) -> ReachAnswer:
    """Leave out in which file and line a text stands: other lines move it."""
    return answer._replace(row=answer.row._replace(evidence="", line=None))


def spell_source(space: HeaderSpace) -> str:
    """Spell protocol, source and place of a space."""
    sample = space.sample
    networks = " ".join(spell_networks(space.region.src, sample.src.family))
    return f"{_name_protocol(sample)} {networks}{_name_place(sample)}{_count_alike(space)}"


def _count_alike(space: HeaderSpace) -> str:
    count = len(space.alike)
    if not count:
        return ""
    return f", and {count:,} {'pod' if count == 1 else 'pods'} alike"


def spell_probe(probe: Probe) -> str:
    """Spell a probe so that `podpath trace` reads it."""
    ported = probe.dport != 0
    src = endpoint(probe.src, probe.sport) if ported else str(probe.src)
    dst = endpoint(probe.dst, probe.dport) if ported else str(probe.dst)
    return f"{_name_protocol(probe)} {src} > {dst}{_name_place(probe)}"


def _name_protocol(probe: Probe) -> str:
    return {6: "tcp", 17: "udp"}.get(probe.protocol, "icmp")


def _name_place(probe: Probe) -> str:
    if probe.in_dev:
        return f" in {probe.in_dev}"
    return f" from {probe.netns}" if probe.netns else ""


def _tell_unaddressed(names: Sequence[str]) -> Iterator[str]:
    """Say of which pods nothing is walked."""
    if names:
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        yield "UNKNOWN: all from pods, no address of which is shown (ip addr in their namespaces)"
        yield f"  {', '.join(names[:_SHOWN])}{more}"


def _tell_answer(answer: ReachAnswer) -> str:
    row = answer.row
    what = " ".join(part for part in (row.packet, row.failure, row.reason) if part)
    where = f"{row.evidence}:{row.line} {row.text}" if row.evidence else ""
    ends = ", ".join(answer.ends)
    parts = (row.verdict, what if row.verdict != "ALWAYS" else "", ends, where, row.open)
    return " | ".join(part for part in parts if part)


def _tell_line(span: Span) -> dict[str, Any]:
    return {"source": span.source.name, "line": span.line, "text": span.text}


def _tell_set(space: HeaderSpace, regions: Sequence[HeaderRegion]) -> dict[str, Any]:
    family = space.sample.src.family
    told: dict[str, Any] = {
        "protocol": _name_protocol(space.sample),
        "netns": space.sample.netns,
        "in_dev": space.sample.in_dev,
        "headers": [_tell_region(region, family) for region in regions],
    }
    if space.alike:
        told["alike"] = [{"netns": one.netns, "src": str(one.src)} for one in space.alike]
    return told


def _tell_region(region: HeaderRegion, family: Family) -> dict[str, list[str]]:
    return {
        "src": spell_networks(region.src, family),
        "dst": spell_networks(region.dst, family),
        "sport": spell_ports(region.sport),
        "dport": spell_ports(region.dport),
    }


def _tell_fields(answer: ReachAnswer) -> dict[str, Any]:
    row = answer.row
    return {
        "verdict": row.verdict,
        "failure": row.failure,
        "packet": row.packet,
        "outcome": row.outcome,
        "reason": row.reason,
        "decided_by": (
            {"source": row.evidence, "line": row.line, "text": row.text} if row.evidence else None
        ),
        "ask": row.ask,
        "open": row.open,
        "ends": list(answer.ends),
    }

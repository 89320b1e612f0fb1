"""Flows that stand for sets of flows: of all that a set holds, one for each answer.

What comes in is a set as people state it (`podpath check`, `podpath diff`) and one node, or two of
them: before and after a change, or one in trouble and a sound one. What goes out are probes that
are walked as if somebody had named them, each with the destinations and ports that it stands for;
and what the bound on walks left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Conversation
from podpath.flows.compared import name_deciders
from podpath.flows.flow import FlowSet, FlowWitness
from podpath.flows.judged import judge_walk
from podpath.library.case import Case
from podpath.library.progress import Progress
from podpath.net.addresses import Address
from podpath.report.escape import escape
from podpath_fleet.alike_sources import AlikeFound
from podpath_fleet.flow_answers import UNREADABLE
from podpath_fleet.header_region import HeaderRegion
from podpath_fleet.reach_answers import JudgedAnswer, ReachAnswer, ReachWalker
from podpath_fleet.reach_classes import Enumeration, HeaderSpace
from podpath_fleet.reach_pairs import enumerate_all, group_alike, meet_regions, pair_classes
from podpath_fleet.reach_space import (
    MOST_WALKS,
    join_regions,
    list_spaces,
    list_unaddressed,
    spell_regions,
)
from podpath_fleet.reached import spell_source


def list_judged(
    cases: Sequence[Case], asked: FlowSet, walks: int, progress: Progress
) -> list[FlowWitness]:
    """Return a flow for each that `podpath check` says of the set, on one node or on two."""
    return _list(cases, asked, walks, progress, judge_flow)


def list_answered(
    cases: Sequence[Case], asked: FlowSet, walks: int, progress: Progress
) -> list[FlowWitness]:
    """Return a flow for each thing that becomes of the set, on one node or on two."""
    return _list(cases, asked, walks, progress, None)


def judge_flow(case: Case, conversation: Conversation) -> JudgedAnswer:
    """Return what `podpath check` says of a conversation."""
    walk = judge_walk(case.facts, conversation, conversation.probe)
    names = tuple(name_deciders(walk))
    if not walk.spans:
        return JudgedAnswer(walk.state, names)
    span = walk.spans[0]
    return JudgedAnswer(walk.state, names, str(escape(span.source.name)), span.line, span.text)


def _list(
    cases: Sequence[Case],
    asked: FlowSet,
    walks: int,
    progress: Progress,
    judge: Callable[[Case, Conversation], JudgedAnswer] | None,
) -> list[FlowWitness]:
    walkers = [ReachWalker(case, judge=judge) for case in cases]
    spaces = list_spaces(asked, cases[0].node)
    groups = group_alike(spaces, walkers)
    found = [
        enumerate_all(walker, groups, number, walks or MOST_WALKS, progress)
        for number, walker in enumerate(walkers)
    ]
    if len(found) == 1:
        pairs = [(*one, one[1]) for alike in found[0] for one in alike.list_all()]
    else:
        pairs = [
            pair
            for group, was, now in zip(groups, *found, strict=True)
            for pair in pair_classes(group, was, now)
        ]
    witnesses = [one for pair in pairs for one in _list_answers(*pair)]
    if witnesses and not any(one.walked for one in witnesses):
        converse(walkers[0].engine, witnesses[0].probe)  # says what is wrong with it
    left = [one for all_of_node in found for alike in all_of_node for one in _list_left(alike)]
    if not asked.sources:
        left += _list_unaddressed(cases, spaces[0])
    return [*witnesses, *dict.fromkeys(left)]


def _list_unaddressed(cases: Sequence[Case], space: HeaderSpace) -> Iterator[FlowWitness]:
    """Yield what pods send whose addresses no output shows."""
    header = space.pick(space.region)
    for case in cases:
        for netns in list_unaddressed(case.node):
            probe = header._replace(src=Address(header.src.family, 0), netns=netns)
            yield FlowWitness(probe, (f"all from {netns}, no address of which is shown",), False)


def _list_answers(
    space: HeaderSpace, was: Enumeration[ReachAnswer], now: Enumeration[ReachAnswer]
) -> Iterator[FlowWitness]:
    """Yield a flow for each pair of things that become of a space's flows."""
    before, after = _join(was), _join(now)
    for one, regions in before.items():
        for other, others in after.items():
            if was is now and one != other:
                continue
            common = regions if was is now else tuple(meet_regions(regions, others))
            if common:
                joined = join_regions(common)
                walked = UNREADABLE not in (one, other)
                yield FlowWitness(space.pick(joined[0]), _spell(joined, space), walked)


def _join(found: Enumeration[ReachAnswer]) -> dict[Hashable, tuple[HeaderRegion, ...]]:
    """Put the classes together of which the same is said."""
    alike: dict[Hashable, list[HeaderRegion]] = {}
    for one in found.classes:
        alike.setdefault(_weigh(one.answer), []).extend(one.regions)
    return {said: join_regions(regions) for said, regions in alike.items()}


def _weigh(answer: ReachAnswer) -> Hashable:
    row = answer.row
    if row.verdict == UNREADABLE:
        return UNREADABLE
    if answer.judged is not None:
        return answer.judged
    return row.verdict, row.failure, row.packet, row.reason, row.text, row.open


def _list_left(alike: AlikeFound) -> Iterator[FlowWitness]:
    for space, found in alike.list_all():
        if found.left:
            joined = join_regions(found.left)
            yield FlowWitness(space.pick(joined[0]), _spell(joined, space), walked=False)


def _spell(regions: Sequence[HeaderRegion], space: HeaderSpace) -> tuple[str, ...]:
    source = spell_source(space)
    return tuple(f"{source} {line}" for line in spell_regions(regions, space))

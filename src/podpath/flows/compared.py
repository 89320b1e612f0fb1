"""Every flow of a file, walked on the node as it is and as it would be after a change."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from podpath.checks.owned import NOBODY, OwnerPlaces, place_owners
from podpath.checks.policies import KIND, PolicyAnswer, PolicyBook, PolicyRuling
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.conversations.own_address import bind_source
from podpath.datapath.tracing.trace import Conversation, Step
from podpath.datapath.walk.compiled import Engine
from podpath.flows.drained import judge_drained, list_evicted
from podpath.flows.flow import Expectation, Flow
from podpath.flows.judged import FlowState, FlowWalk, find_parting, walk_flow
from podpath.net.counted import Counted
from podpath.net.errors import UsageError
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.alteration import apply_changes
from podpath.node.case import Case
from podpath.node.change import PutTable
from podpath.node.named_ends import spell_ends
from podpath.node.node import HOST, Node
from podpath.node.objects import ApiObject
from podpath.node.planned import PlannedChange
from podpath.node.probe_names import resolve_probe

Changes = Sequence[PlannedChange]
MOST_LEFT_OUT = 64
"""Changes of which each is left out in turn, to see which one decides: each costs a walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowResult:
    """What became of one flow."""

    flow: Flow
    probe: Probe
    walk: FlowWalk
    """On the node as it is, or after the changes where there are any."""
    before: FlowWalk | None = None
    """On the node as it is, where there are changes."""
    parted: Step | None = None
    """The first step on the way before the changes that is not taken after them."""
    changing: tuple[Span, ...] = ()
    """The lines of the changes that decide now."""

    @property
    def is_met(self) -> bool | None:
        """Tell whether it is as expected; None where that is undecided."""
        state = self.walk.state
        if state is FlowState.UNDECIDED:
            return None
        if self.flow.expect is Expectation.CONNECTS:
            return state is FlowState.CONNECTS
        return state is FlowState.FAILS and self.is_by_whom

    @property
    def is_by_whom(self) -> bool:
        """Tell whether what has to end it does; true where the file asks for nobody."""
        wanted = self.flow.by.casefold()
        names = [name.casefold() for name in name_deciders(self.walk)]
        return not wanted or any(fnmatch.fnmatchcase(name, wanted) for name in names)

    @property
    def is_changed(self) -> bool:
        """Tell whether the changes change what becomes of it."""
        return self.before is not None and self.before.state is not self.walk.state


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowsAnswer:
    """What became of all flows."""

    results: tuple[FlowResult, ...]
    changes: tuple[PlannedChange, ...] = ()
    owners: OwnerPlaces = NOBODY
    """Whose the lines are that decide."""

    @property
    def unmet(self) -> tuple[FlowResult, ...]:
        """Those that are not as expected."""
        return tuple(one for one in self.results if one.is_met is False)

    @property
    def undecided(self) -> tuple[FlowResult, ...]:
        """Those of which nobody can tell."""
        return tuple(one for one in self.results if one.is_met is None)

    @property
    def changed(self) -> tuple[FlowResult, ...]:
        """Those that the changes change."""
        return tuple(one for one in self.results if one.is_changed)


def name_deciders(walk: FlowWalk) -> Iterator[str]:
    """Yield the names of what ended a flow: its stage, its owner, its rule's chain and table."""
    step, branch = walk.deciding, walk.branch
    if step is None or branch is None:
        return
    yield str(step.stage)
    if walk.owner is not None and walk.owner.program:
        yield walk.owner.program
    for trace in branch.traces:
        for hit in trace.matched:
            if hit.rule.span in step.spans:
                yield from (hit.rule.chain, hit.rule.table)


def place_flows(
    flows: Sequence[Flow], node: Node, objects: Sequence[ApiObject] = ()
) -> tuple[tuple[Flow, Probe], ...]:
    """Find the addresses of all ends; `UsageError` names every flow whose ends are not shown. One
    of a workload is a flow for each pod that the objects show of it.
    """
    placed: list[tuple[Flow, Probe]] = []
    faults: list[str] = []
    for flow in flows:
        try:
            spread = tuple(_spread(flow, node, objects))
            probes = [_bind(one, resolve_probe(one.probe, node), node) for one in spread]
            placed += zip(spread, probes, strict=True)
        except UsageError as error:
            where = f"{flow.span}: " if flow.span is not None else ""
            faults.append(f"{where}{error}")
    if faults:
        raise UsageError("\n".join(faults))
    return tuple(placed)


def _spread(flow: Flow, node: Node, objects: Sequence[ApiObject]) -> Iterator[Flow]:
    """Yield a flow with its ends as probes spell them, once for each pod that they stand for."""
    sources = tuple(spell_ends(flow.source, node, objects))
    targets = tuple(spell_ends(flow.target, node, objects))
    several = len(sources) * len(targets) > 1
    for source, target in product(sources, targets):
        name = f"{flow.name} ({source} > {target})" if several else flow.name
        yield replace(flow, name=name, source=source, target=target)


def _bind(flow: Flow, probe: Probe, node: Node) -> Probe:
    """Let a node send from the address that its routes choose."""
    named = flow.source == HOST or flow.source.startswith("node/")
    return bind_source(node, probe) if named else probe


def compare_flows(
    case: Case,
    placed: Sequence[tuple[Flow, Probe]],
    changes: Changes = (),
    tell: Callable[[float], None] = lambda _share: None,
) -> FlowsAnswer:
    """Walk every flow; with changes, on the node before and after them."""
    changed = alter_case(case, changes)
    first = Engine(case.node)
    second = Engine(changed.node) if changes else first
    objects = [one for planned in changes for one in planned.objects]
    evicted = list_evicted(case, changes)
    book = PolicyBook(case, objects) if any(one.kind == KIND for one in objects) else None
    results: list[FlowResult] = []
    for place, (flow, probe) in enumerate(placed):
        before = walk_flow(case, first, probe)
        if changes:
            after = walk_flow(changed, second, probe)
            if evicted:
                after = judge_drained(changed, probe, after, evicted)
            if book is not None:
                after = judge_by_policies(before, after, book.rule_on(probe))
            results.append(_compare(case, (flow, probe), (before, after), changes))
        else:
            results.append(FlowResult(flow=flow, probe=probe, walk=before))
        tell(Counted(place + 1, len(placed)))
    return _name_owners(FlowsAnswer(results=tuple(results), changes=tuple(changes)), case, changed)


def _name_owners(answer: FlowsAnswer, case: Case, changed: Case) -> FlowsAnswer:
    """Say whose the lines are that decide, on the node before and after the changes."""
    first = [one.before if one.before is not None else one.walk for one in answer.results]
    earlier = place_owners(case, (), [one.branch for one in first if one.branch is not None])
    last = [one.walk.branch for one in answer.results if one.before is not None]
    spans = [span for one in answer.results for span in (*one.changing, *one.walk.spans)]
    later = place_owners(changed, spans, [branch for branch in last if branch is not None])
    results: list[FlowResult] = []
    for one in answer.results:
        step, own = one.walk.deciding, earlier if one.before is None else later
        owner = own.of_step(step) if step is not None and one.walk.spans == step.spans else None
        results.append(replace(one, walk=replace(one.walk, owner=owner)))
    return replace(answer, results=tuple(results), owners=earlier | later)


def judge_by_policies(before: FlowWalk, after: FlowWalk, found: PolicyRuling) -> FlowWalk:
    """Return what becomes of a flow by the walk and by the policies that are new.

    A flow that failed before and that they admit is undecided: the plugin writes its rules anew.
    """
    match found.ruling:
        case PolicyAnswer.UNTOUCHED:
            return after
        case PolicyAnswer.FORBIDDEN if after.state is not FlowState.FAILS:
            return FlowWalk(state=FlowState.FAILS, spans=found.spans, because=found.because)
        case PolicyAnswer.OPEN if after.state is not FlowState.FAILS:
            return FlowWalk(state=FlowState.UNDECIDED, spans=found.spans, because=found.because)
        case PolicyAnswer.ADMITTED if before.state is not FlowState.CONNECTS:
            why = (
                "the policies admit it, and it did not connect before:"
                " which rules the plugin writes is not modeled"
            )
            return FlowWalk(state=FlowState.UNDECIDED, spans=found.spans, because=why)
        case _:
            return after


def alter_case(case: Case, changes: Changes) -> Case:
    """Return the case as it would be: its node and the other states that the evidence leaves
    possible, changed, and what of the changes cannot be taken over among its gaps.
    """
    if not changes:
        return case
    made = [change for planned in changes for change in planned.changes]
    refused = tuple(gap for planned in changes for gap in planned.refused)
    alternatives = tuple(
        replace(other, node=apply_changes(other.node, made)) for other in case.alternatives
    )
    return replace(
        case,
        node=apply_changes(case.node, made),
        alternatives=alternatives,
        gaps=(*refused, *case.gaps),
    )


def _compare(
    case: Case, placed: tuple[Flow, Probe], walks: tuple[FlowWalk, FlowWalk], changes: Changes
) -> FlowResult:
    flow, probe = placed
    before, after = walks
    first, second = before.conversation, after.conversation
    parted = find_parting(first, second) if first is not None and second is not None else None
    result = FlowResult(flow=flow, probe=probe, walk=after, before=before, parted=parted)
    if not result.is_changed:
        return result
    if second is None:
        return replace(result, changing=after.spans)
    changing = _find_changing(case, probe, second, changes)
    return replace(result, changing=changing or _find_removing(before, parted, changes))


def _find_removing(before: FlowWalk, parted: Step | None, changes: Changes) -> tuple[Span, ...]:
    """Return the lines of the changes that took away a rule which decided before."""
    decided = {*before.spans, *(parted.spans if parted is not None else ())}
    removing: dict[Span, None] = {}
    for planned in changes:
        for change in planned.changes:
            if isinstance(change, PutTable):
                gone = [line for rule, line in change.replaced if rule in decided]
                removing.update(dict.fromkeys(gone))
    return tuple(removing)


def _find_changing(
    case: Case, probe: Probe, after: Conversation, changes: Changes
) -> tuple[Span, ...]:
    """Return the lines of the changes that decide: those that the walk met, else those without
    which it would end otherwise.
    """
    own = {id(source) for planned in changes for source in planned.sources}
    steps = [step for branch in after.branches for trace in branch.traces for step in trace.steps]
    spans = (span for step in steps for span in step.spans)
    met = tuple(dict.fromkeys(span for span in spans if id(span.source) in own))
    if met:
        return met
    pairs = [
        pair for planned in changes for pair in zip(planned.changes, planned.lines, strict=True)
    ]
    if len(pairs) > MOST_LEFT_OUT:
        return ()
    found: list[Span] = []
    for place, (_, line) in enumerate(pairs):
        others = [change for number, (change, _) in enumerate(pairs) if number != place]
        without = converse(apply_changes(case.node, others), probe, deviations=0)
        if line is not None and without.verdict is not after.verdict:
            found.append(line)
    return tuple(dict.fromkeys(found))

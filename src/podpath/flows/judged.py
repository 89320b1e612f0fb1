"""What becomes of a flow on a node, and whether that is what is expected.

A flow is never taken to be as expected on doubt: one that must connect passes where nothing forbids
the all-clear; one that must fail passes where it fails in every branch, on stated lines, whatever
other state the evidence leaves possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.tracing.trace import Branch, Conversation, Step
from podpath.datapath.vocabulary import Reachability
from podpath.datapath.walk.compiled import Engine
from podpath.diagnosis.clearance import (
    WalkedConnection,
    find_unlisted,
    forbid_all_clear,
    forbid_failure,
    judge_alternatives,
)
from podpath.diagnosis.forbids import Forbids, RestsOnInference
from podpath.diagnosis.resting import list_guesses
from podpath.diagnosis.unread import forbid_by_gaps
from podpath.net.owners import Owner
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Case


class FlowState(StrEnum):
    """What becomes of a flow."""

    CONNECTS = "connects"
    FAILS = "fails"
    SOMETIMES = "connects sometimes"
    """By the kernel's own choice: one of two endpoints is dead, say."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowWalk:
    """A flow, walked on one state of the node."""

    state: FlowState
    conversation: Conversation | None = None
    """None where it was not walked: one of its ends is gone, or a policy decides."""
    forbids: tuple[Forbids, ...] = ()
    """Why it is undecided."""
    spans: tuple[Span, ...] = ()
    """The lines that ended it, the deciding one first; none where it connects."""
    owner: Owner | None = None
    """Whose the deciding line is."""
    because: str = ""
    """What ended it where no walk did."""

    @property
    def branch(self) -> Branch | None:
        """The branch that stands for it: the first that fails where it does not connect."""
        branches = self.conversation.branches if self.conversation is not None else ()
        wanted = (True,) if self.state is FlowState.CONNECTS else (False, None)
        found = (one for works in wanted for one in branches if one.works is works)
        return next(found, branches[0] if branches else None)

    @property
    def deciding(self) -> Step | None:
        """The step that ended it; None where it connects."""
        branch = self.branch
        if branch is None or branch.works or not branch.traces:
            return None
        steps = [step for trace in branch.traces for step in trace.steps]
        ended = branch.last.steps[-1:]
        return next((step for step in ended if step.spans), None) or next(
            (step for step in reversed(steps) if step.spans), None
        )


def walk_flow(case: Case, engine: Engine, probe: Probe) -> FlowWalk:
    """Walk a flow on the node of a case; `engine` is of that node."""
    return judge_walk(case, converse(engine, probe), probe)


def judge_walk(case: Case, conversation: Conversation, probe: Probe) -> FlowWalk:
    """Say what becomes of a flow that was walked on the node of a case."""
    walked = WalkedConnection(probe, conversation)
    match conversation.verdict:
        case Reachability.ALWAYS:
            state = FlowState.CONNECTS
            forbids = forbid_all_clear(case, (walked,))
        case Reachability.NEVER:
            state = FlowState.FAILS
            forbids = tuple(_forbid_failing(case, walked))
        case Reachability.SOMETIMES if _is_chance(conversation):
            state, forbids = FlowState.SOMETIMES, tuple(forbid_by_gaps(case.gaps))
        case _:
            state, forbids = FlowState.UNDECIDED, forbid_all_clear(case, (walked,))
    found = FlowWalk(
        state=FlowState.UNDECIDED if forbids else state, conversation=conversation, forbids=forbids
    )
    step = found.deciding
    if step is None:
        return found
    return replace(found, spans=step.spans)


def _is_chance(conversation: Conversation) -> bool:
    """Tell whether both ends of a flow that connects sometimes are the kernel's choice: branches
    that assume nothing but the likeliest of what is not known.
    """
    seen: set[bool | None] = set()
    for branch in conversation.branches:
        if all(made.random or not made.rank for made in branch.assumptions):
            seen.add(branch.works)
    return {True, False} <= seen


def _forbid_failing(case: Case, walked: WalkedConnection) -> Iterator[Forbids]:
    """Yield what forbids to say that a flow surely fails."""
    yield from forbid_failure(walked.conversation)
    yield from judge_alternatives(case, walked, Reachability.NEVER)
    guesses = list_guesses(case.node, walked.conversation)
    if guesses:
        yield RestsOnInference(probe=walked.probe, guesses=guesses)
    yield from forbid_by_gaps(case.gaps)
    for branch in walked.conversation.branches:
        step = branch.last.steps[-1] if branch.last.steps else None
        if step is not None and not step.spans and step.netns in case.node.namespaces:
            yield from find_unlisted(case.node.namespaces[step.netns])
            return


def find_parting(before: Conversation, after: Conversation) -> Step | None:
    """Return the first step of a walk before a change that the walk after it does not have."""
    first, second = _steps(before), _steps(after)
    for one, other in zip(first, second, strict=False):
        if _decision(one) != _decision(other):
            return one
    if len(first) > len(second):
        return first[len(second)]
    return None


def _steps(conversation: Conversation) -> list[Step]:
    branches = conversation.branches[:1]
    return [step for branch in branches for trace in branch.traces for step in trace.steps]


def _decision(step: Step) -> tuple[object, ...]:
    return step.stage, step.netns, step.decision, step.spans, step.link

"""Statements whose effect on a packet is not known: in one branch they change nothing, in the other
the walk ends there.
"""

from __future__ import annotations

from collections.abc import Callable

from podpath.datapath.netfilter.state import Decision, HookState
from podpath.datapath.netfilter.verdicts import Queued, Verdict
from podpath.datapath.nftables.values import RulePosition
from podpath.datapath.reasons.boundaries import StatementNotFollowed
from podpath.datapath.reasons.rules import StatementStops
from podpath.datapath.vocabulary import StepDecision
from podpath.net.provenance import Option


def stop_at(state: HookState, place: RulePosition, text: str) -> Verdict:
    """End the walk at a statement that changes the packet in a way that is not modeled."""
    state.decision = Decision(
        StepDecision.UNDECIDED, StatementStops(place.rule, text), place.rule.span
    )
    return Queued(StatementNotFollowed(text, place.where), place.show)


def may_stop(place: RulePosition, text: str) -> Callable[[HookState], Verdict | None]:
    """Return what forks the walk at a statement whose value is not known; None goes on as if it
    changed nothing.
    """
    fact = f"what {text} changes at {place.where}"
    options = (Option(False, "nothing that decides"), Option(True, "the packet or its mark"))

    def fork(state: HookState) -> Verdict | None:
        if state.walk.choices.choose(fact, options, ask=place.show):
            return stop_at(state, place, text)
        return None

    return fork

"""Native chains and iptables' tables of one priority: whichever was registered last runs first, and
no output says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from podpath.datapath.netfilter import snapshot
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.net.provenance import Option

Stage = Callable[[HookState], Verdict | None]


class ContestedPriority:
    """Native chains and a table of iptables at one hook with one priority."""

    __slots__ = ("fact", "native", "table")

    def __init__(self, native: Sequence[Stage], table: Stage, fact: str) -> None:
        """Take the native chains in their own order, and what iptables has there."""
        self.native = tuple(native)
        self.table = table
        self.fact = fact

    def __call__(self, state: HookState) -> Verdict | None:
        """Run both in their order; ask for it only where it makes a difference to this packet."""
        native_first, table_first = (*self.native, self.table), (self.table, *self.native)
        if not state.walk.choices.knows(self.fact) and not self._matters(
            state, native_first, table_first
        ):
            return _run(state, native_first)
        options = (
            Option("native", "the native chains, so they run first"),
            Option("iptables", "iptables' table, so it runs first"),
        )
        last = state.walk.choices.choose(self.fact, options, ask="nft list hooks")
        return _run(state, native_first if last == "native" else table_first)

    def _matters(self, state: HookState, *orders: tuple[Stage, ...]) -> bool:
        walk = state.walk
        choices, steps, start = walk.choices, len(walk.trace.steps), snapshot.take(state)
        walk.choices = choices.likeliest()
        outcomes = []
        for order in orders:
            verdict = _run(state, order)
            outcomes.append((verdict, snapshot.take(state)))
            snapshot.restore(state, start)
            del walk.trace.steps[steps:]
        walk.choices = choices
        (verdict, after), (other_verdict, other_after) = outcomes
        return verdict != other_verdict or after.differs(other_after)


def _run(state: HookState, stages: tuple[Stage, ...]) -> Verdict | None:
    for stage in stages:
        verdict = stage(state)
        if verdict is not None:
            return verdict
    return None

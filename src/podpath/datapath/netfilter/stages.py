"""A table at a hook: its base chain is walked, and what it decided becomes a Step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from podpath.datapath.netfilter import near, snapshot
from podpath.datapath.netfilter.chains import Traversal
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.tables import CompiledTable
from podpath.datapath.netfilter.verdicts import Verdict
from podpath.datapath.tracing.trace import NearMiss
from podpath.datapath.vocabulary import Hook, HookStage
from podpath.net.packet import Packet
from podpath.net.provenance import Option, Span

Stage = Callable[[HookState], Verdict | None]
"""What runs at a hook: gives a verdict that ends the hook, or None."""


NFT_DO_CHAIN = "net/netfilter/nf_tables_core.c:nft_do_chain v6.12"
"""What walks the chains of nftables, and so those that iptables-nft writes."""


class ChainStage(ABC):
    """A base chain at its hook, whatever walks it."""

    __slots__ = ("function", "hook", "label")

    def __init__(self, hook: Hook, chain: str, function: str) -> None:
        """Stand for a chain at a hook; `function` is the kernel's, which walks it."""
        self.hook = hook
        self.label = HookStage(hook, chain)
        self.function = function

    def __call__(self, state: HookState) -> Verdict | None:
        """Walk the chain, record what it decided, and say what becomes of the packet."""
        before, matched = state.skb.packet, len(state.walk.trace.matched)
        verdict, misses = self.evaluate(state)
        self.record(state, before, matched, misses)
        return verdict

    @abstractmethod
    def evaluate(
        self, state: HookState, *, quiet: bool = False
    ) -> tuple[Verdict | None, tuple[NearMiss, ...]]:
        """Walk the chain without a Step. Of a packet that ends, say as well what almost saved it,
        unless `quiet`.
        """

    def record(
        self, state: HookState, before: Packet, matched: int, misses: tuple[NearMiss, ...] = ()
    ) -> None:
        """Make a Step of what the chain decided; a chain that decided nothing makes none."""
        decision = state.decision
        if decision is None:
            return
        spans = collect_spans(state, matched, decision.span)
        state.walk.trace.step(
            self.label,
            state.skb,
            self.function,
            before,
            decision.word,
            decision.reason,
            spans=spans,
            near=misses,
            assumed=state.assumed,
        )


class TableStage(ChainStage):
    """One base chain: a table of one flavor at one hook."""

    __slots__ = ("table",)

    def __init__(self, table: CompiledTable, hook: Hook, function: str) -> None:
        """Stand for the table's base chain of that name."""
        legacy = table.source.flavour == "legacy"
        super().__init__(hook, table.source.name, function if legacy else NFT_DO_CHAIN)
        self.table = table

    def evaluate(
        self, state: HookState, *, quiet: bool = False
    ) -> tuple[Verdict | None, tuple[NearMiss, ...]]:
        """Walk the chain without a Step."""
        table = self.table
        state.table = table.source.name
        state.decision = None
        state.assumed = ()
        base = table.chain(state.walk, self.hook)
        if base is None:
            return None, ()
        traversal = Traversal(state, table, base)
        verdict = traversal.run()
        assumed = state.assumed
        misses = near.find_misses(traversal) if verdict is not None and not quiet else ()
        state.assumed = assumed  # looking for what almost decided walks on behind the verdict
        return verdict, misses


def collect_spans(state: HookState, matched: int, first: Span | None) -> tuple[Span, ...]:
    """Return the lines of the rules that matched since a count, the deciding one first."""
    path = [hit.rule.span for hit in state.walk.trace.matched[matched:]]
    if first is None:
        return tuple(path)
    return (first, *[span for span in path if span is not first])


class ContestedStage:
    """The same table in both flavors: the one registered last runs first, and the evidence seldom
    says which.
    """

    __slots__ = ("fact", "stages")

    def __init__(self, stages: Sequence[TableStage]) -> None:
        """Take the stages of both flavors."""
        self.stages = tuple(stages)
        self.fact = order_fact(self.stages)

    def __call__(self, state: HookState) -> Verdict | None:
        """Run both in their order; ask for it only where it makes a difference to this packet."""
        for stage in self.in_order(state):
            verdict = stage(state)
            if verdict is not None:
                return verdict
        return None

    def in_order(self, state: HookState) -> tuple[TableStage, ...]:
        """Return the stages in the order in which they run."""
        if state.walk.choices.knows(self.fact):
            return choose_order(state, self.stages, self.fact)
        outcomes = []
        start = snapshot.take(state)
        for order in (self.stages, self.stages[::-1]):
            verdict = None
            for stage in order:
                verdict = stage.evaluate(state, quiet=True)[0]
                if verdict is not None:
                    break
            outcomes.append((verdict, snapshot.take(state)))
            snapshot.restore(state, start)
        (verdict, after), (other_verdict, other_after) = outcomes
        if verdict == other_verdict and not after.differs(other_after):
            return self.stages
        return choose_order(state, self.stages, self.fact)


def order_fact(stages: tuple[TableStage, ...]) -> str:
    """Name the fact that decides the order of the flavors of one table."""
    table = stages[0].table
    family = "iptables" if table.source.family == 4 else "ip6tables"
    return (
        f"which flavour of {family} table {table.source.name} was registered last in netns "
        f"{table.netns}"
    )


def choose_order(
    state: HookState, stages: tuple[TableStage, ...], fact: str
) -> tuple[TableStage, ...]:
    """Ask which flavor runs first, and order the stages so."""
    options = tuple(
        Option(
            stage.table.source.flavour, f"the {stage.table.source.flavour} one, so it runs first"
        )
        for stage in stages
    )
    first = state.walk.choices.choose(fact, options, ask="nft list hooks")
    if stages[0].table.source.flavour == first:
        return stages
    return stages[::-1]


class ReroutingStage:
    """The mangle table in OUTPUT, which has a packet routed again where it changed what routing
    looks at.

    `ipt_mangle_out` (net/ipv4/netfilter/iptable_mangle.c v6.12) and nftables' chains of type route
    do it; no other table does.
    """

    __slots__ = ("stage",)

    def __init__(self, stage: Stage) -> None:
        """Watch a stage."""
        self.stage = stage

    def __call__(self, state: HookState) -> Verdict | None:
        """Run the stage and compare mark, addresses and TOS."""
        skb = state.skb
        before, mark = skb.packet, skb.mark
        verdict = self.stage(state)
        after = skb.packet
        if skb.mark != mark:
            state.reroute = "a mangle rule changed the mark"
        elif (after.src, after.dst, after.tos) != (before.src, before.dst, before.tos):
            state.reroute = "a mangle rule changed what routing looks at"
        return verdict

"""Rules and chains as walks go through them: a rule as a row of checks and what it does, a chain
that compiles when it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from podpath.datapath.netfilter.index import SHORTEST, ChainIndex
from podpath.datapath.netfilter.state import Act, Check, HookState
from podpath.net.addresses import Family
from podpath.node.netfilter import Chain, Rule


class CompiledRule:
    """A rule as evaluation needs it. Mutable until it stands in its chain: its place, and the chain
    it jumps to.
    """

    __slots__ = ("act", "chain", "checks", "index", "kind", "rule")

    def __init__(self, rule: Rule, checks: tuple[Check, ...], kind: int, act: Act | None) -> None:
        """Hold the parts."""
        self.rule = rule
        self.checks = checks
        """All have to hold."""
        self.kind = kind
        self.act = act
        self.index = 0
        """Its place in the chain's rules, from 0; the rule's own position may count rules that are
        not shown.
        """
        self.chain: CompiledChain | None = None
        """Where a jump goes, if that is the same in every walk; None before the first time."""


class CompiledChain:
    """A chain whose rules are compiled when they first come up."""

    __slots__ = ("_compile", "_compiled", "_whole", "in_line", "index", "source")

    def __init__(
        self,
        source: Chain,
        family: Family,
        compile_rule: Callable[[Rule], CompiledRule],
        *,
        indexed: bool,
    ) -> None:
        """Index a long chain at once; compile no rule yet."""
        self.source = source
        self._compile = compile_rule
        rules = source.rules
        self.in_line = len(rules) if source.in_line is None else source.in_line
        """The place from which on the evidence may leave out rules before the next that it
        shows.
        """
        self._compiled: list[CompiledRule | None] = [None] * len(rules)
        self._whole: list[CompiledRule] | None = None
        self.index = ChainIndex(rules, family) if len(rules) >= SHORTEST and indexed else None
        """None where the chain is walked rule by rule."""

    def select(self, state: HookState, after: int = -1) -> Sequence[CompiledRule]:
        """Return the rules to try for a packet, in order; of an indexed chain, by the mark that the
        packet has now, those behind a position (counted from 0).
        """
        if self.index is None:
            if self._whole is None:
                self._whole = [self.rule(position) for position in range(len(self._compiled))]
            return self._whole
        compiled = self._compiled
        return [
            compiled[position] or self.rule(position)
            for position in self.index.candidates(state)
            if position > after
        ]

    def rule(self, position: int) -> CompiledRule:
        """Return one rule, compiled, by its position from 0."""
        found = self._compiled[position]
        if found is None:
            found = self._compiled[position] = self._compile(self.source.rules[position])
            found.index = position
        return found

    def doubt(self, position: int, check: Check) -> None:
        """Make a rule depend on one thing alone, whatever it says."""
        self.rule(position).checks = (check,)

    def __len__(self) -> int:
        """Count the rules."""
        return len(self._compiled)

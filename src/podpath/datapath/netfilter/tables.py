"""One iptables table of one flavour, compiled chain by chain as packets reach them."""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.ipsets import Sets
from podpath.datapath.netfilter.index import SHORTEST, ChainIndex
from podpath.datapath.netfilter.roots import find_roots
from podpath.datapath.netfilter.rules import CompiledRule, compile_rule
from podpath.datapath.netfilter.state import Check, Doubt, HookState
from podpath.datapath.skb import Walk
from podpath.datapath.xtables.context import RuleContext, always
from podpath.datapath.xtables.registry import is_target
from podpath.net.provenance import Option, Unknown
from podpath.node.netfilter import Chain, Rule, Table, Target

FILTERING = frozenset({"filter", "security"})


class CompiledChain:
    """A chain whose rules are compiled when they first come up."""

    __slots__ = ("_compiled", "_whole", "index", "source", "table")

    def __init__(self, source: Chain, table: CompiledTable) -> None:
        """Index a long chain at once; compile no rule yet."""
        self.source = source
        self.table = table
        rules = source.rules
        self._compiled: list[CompiledRule | None] = [None] * len(rules)
        self._whole: list[CompiledRule] | None = None
        family = table.source.family
        self.index = ChainIndex(rules, family) if len(rules) >= SHORTEST and table.indexed else None
        """None where the chain is walked rule by rule."""

    def select(self, state: HookState, after: int = -1) -> Sequence[CompiledRule]:
        """Give the rules to try for a packet, in order, from those behind a position (counted from 0)."""
        if self.index is None:
            if self._whole is None:
                self._whole = [self.rule(position) for position in range(len(self._compiled))]
            return self._whole if after < 0 else self._whole[after + 1 :]
        compiled = self._compiled
        return [compiled[position] or self.rule(position) for position in self.index.candidates(state) if position > after]

    def rule(self, position: int) -> CompiledRule:
        """Give one rule, compiled, by its position from 0."""
        found = self._compiled[position]
        if found is None:
            found = self._compiled[position] = self.table.compile(self.source.rules[position])
            found.index = position
        return found

    def doubt(self, position: int, check: Check) -> None:
        """Make a rule depend on one thing alone, whatever it says."""
        self.rule(position).checks = (check,)

    def __len__(self) -> int:
        """Count the rules."""
        return len(self._compiled)


class CompiledTable:
    """A table of the node with its compiled chains. Shared by all walks of the node."""

    __slots__ = ("_by_fact", "_by_name", "ask", "indexed", "netns", "sets", "source")

    def __init__(self, source: Table, netns: str, sets: Sets, ask: str, *, indexed: bool = True) -> None:
        """Compile nothing yet. `indexed` is False only to measure and test what the index is worth."""
        self.source = source
        self.netns = netns
        self.sets = sets
        self.ask = ask
        self.indexed = indexed
        self._by_name: dict[str, CompiledChain] = {}
        self._by_fact: dict[int, CompiledChain] = {}

    @property
    def label(self) -> str:
        """Name the table as a fact's name does."""
        command = "iptables" if self.source.family == 4 else "ip6tables"
        return f"{command} table {self.source.name} ({self.source.flavour}) in netns {self.netns}"

    def context(self, rule: Rule) -> RuleContext:
        """Say where a rule stands."""
        return RuleContext(rule, self.netns, self.source.family, self.source.flavour, self.sets)

    def compile(self, rule: Rule) -> CompiledRule:
        """Compile a rule. A name that is no extension's is a chain's, shown or not."""
        target = rule.target
        is_chain = target is not None and (target.goto or target.name in self.source.chains or not is_target(target.name))
        return compile_rule(self.context(rule), is_chain=is_chain)

    def chain(self, walk: Walk, name: str) -> CompiledChain | None:
        """Give a chain as this branch takes it to be; None where the evidence has none of that name."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        fact = self.source.chains.get(name)
        if fact is None:
            return self._infer_base(name)
        if isinstance(fact, Unknown):
            chain: Chain = walk.choices.resolve(fact)
            known = self._by_fact.get(id(chain))
            if known is None or known.source is not chain:
                known = self._by_fact[id(chain)] = CompiledChain(chain, self)
            return known
        found = self._by_name[name] = CompiledChain(fact.value, self)
        return found

    def _infer_base(self, name: str) -> CompiledChain | None:
        """Make up a base chain that is not shown from the chains that it may lead to; None where there are none."""
        roots = find_roots(self.source, name)
        if not roots:
            return None
        rules = tuple(Rule(self.source.name, name, 0, root.span, Target(root.name)) for root in roots)
        chain = CompiledChain(Chain(name=name, rules=rules, policy="ACCEPT", complete=False), self)
        ask = f"{'iptables' if self.source.family == 4 else 'ip6tables'} -t {self.source.name} -S {name}"
        for place, root in enumerate(roots):
            chain.doubt(place, always(Doubt(f"{name} of {self.label} leads to chain {root.name}", root.likely, ask)))
        self._by_name[name] = chain
        return chain

    def is_known(self, name: str) -> bool:
        """Tell whether a chain is the same in every branch."""
        return name in self._by_name

    def missing(self, walk: Walk, rule: Rule, name: str) -> str:
        """Ask what a chain that the evidence does not show does to packets: `return`, `accept` or `drop`."""
        kind = "chain" if not self.source.complete or (rule.target is not None and rule.target.goto) else "chain or target"
        options = [Option("return", f"{name} lets the packet go on to the next rule")]
        if self.source.name in FILTERING:
            options += [Option("accept", f"{name} accepts the packet"), Option("drop", f"{name} drops the packet")]
        return walk.choices.choose(f"{kind} {name} of {self.label}", options, ask=f"{self.ask} | grep -- '-A {name} '")

"""One iptables table of one flavor, compiled chain by chain as packets reach them."""

from __future__ import annotations

from podpath.datapath.netfilter.compiled import CompiledChain, CompiledRule
from podpath.datapath.netfilter.roots import find_roots
from podpath.datapath.netfilter.rules import compile_rule
from podpath.datapath.netfilter.state import Doubt
from podpath.datapath.sets.ipsets import Sets
from podpath.datapath.walk.state import Walk
from podpath.datapath.xtables.registry import is_target
from podpath.net.provenance import Option, Unknown
from podpath.node.netfilter import Chain, Rule, Table, Target
from podpath.xtables.context import RuleContext, always
from podpath.xtables.legality import ChainPolicy

FILTERING = frozenset({"filter", "security"})


class CompiledTable:
    """A table of the node with its compiled chains. Shared by all walks of the node."""

    __slots__ = ("_by_fact", "_by_name", "ask", "indexed", "netns", "sets", "source")

    def __init__(
        self, source: Table, netns: str, sets: Sets, ask: str, *, indexed: bool = True
    ) -> None:
        """Compile nothing yet. `indexed` is False only to measure and test what the index is
        worth.
        """
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
        is_chain = target is not None and (
            target.goto or target.name in self.source.chains or not is_target(target.name)
        )
        return compile_rule(self.context(rule), is_chain=is_chain)

    def _compiled(self, chain: Chain) -> CompiledChain:
        return CompiledChain(chain, self.source.family, self.compile, indexed=self.indexed)

    def chain(self, walk: Walk, name: str) -> CompiledChain | None:
        """Return a chain as this branch takes it to be; None where the evidence has none of that
        name.
        """
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
                known = self._by_fact[id(chain)] = self._compiled(chain)
            return known
        found = self._by_name[name] = self._compiled(fact.value)
        return found

    def _infer_base(self, name: str) -> CompiledChain | None:
        """Make up a base chain that is not shown from the chains that it may lead to; None where
        there are none.
        """
        roots = find_roots(self.source, name)
        if not roots:
            return None
        rules = tuple(
            Rule(self.source.name, name, 0, root.span, Target(root.name)) for root in roots
        )
        unshown = Chain(
            name=name, rules=rules, policy=ChainPolicy.ACCEPT, complete=False, in_line=0
        )
        chain = self._compiled(unshown)
        ask = (
            f"{'iptables' if self.source.family == 4 else 'ip6tables'} -t {self.source.name} -S "
            f"{name}"
        )
        for place, root in enumerate(roots):
            chain.doubt(
                place,
                always(
                    Doubt(f"{name} of {self.label} leads to chain {root.name}", root.likely, ask)
                ),
            )
        self._by_name[name] = chain
        return chain

    def is_known(self, name: str) -> bool:
        """Tell whether a chain is the same in every branch."""
        return name in self._by_name

    def missing(self, walk: Walk, rule: Rule, name: str) -> str:
        """Ask what a chain that the evidence does not show does to packets: `return`, `accept` or
        `drop`.
        """
        if not self.source.complete or (rule.target is not None and rule.target.goto):
            kind = "chain"
        else:
            kind = "chain or target"
        options = [Option("return", f"{name} lets the packet go on to the next rule")]
        if self.source.name in FILTERING:
            options += [
                Option("accept", f"{name} accepts the packet"),
                Option("drop", f"{name} drops the packet"),
            ]
        return walk.choices.choose(
            f"{kind} {name} of {self.label}",
            options,
            ask=f"{self.ask} | grep -- '-A {name} '",
            unshown_rules=True,
        )

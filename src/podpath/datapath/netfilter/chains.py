"""How a packet goes through the chains of one table (net/ipv4/netfilter/ip_tables.c:ipt_do_table
v6.12).

A jump comes back to the rule behind it, a goto to the rule behind the jump that came before; RETURN
does the same early; at the end of a base chain its policy decides. iptables-nft makes nftables do
the same (nf_tables_core.c:nft_do_chain v6.12).
"""

from __future__ import annotations

from collections.abc import Sequence

from podpath.datapath.netfilter.compiled import CompiledChain, CompiledRule
from podpath.datapath.netfilter.left_out import pass_left_out
from podpath.datapath.netfilter.rules import COUNT, GOTO, RETURN
from podpath.datapath.netfilter.state import Decision, Doubt, HookState
from podpath.datapath.netfilter.tables import FILTERING, CompiledTable
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Queued, Verdict
from podpath.datapath.reasons.boundaries import ChainsCircle, ChainsTooDeep
from podpath.datapath.reasons.rules import ChainTaken, PolicyDecided
from podpath.datapath.tracing.trace import RuleHit
from podpath.datapath.vocabulary import StepDecision
from podpath.net.provenance import Option

MOST_JUMPS = 1 << 17
"""Changes of chain after which a walk ends: so many means chains that go to themselves, which the
kernel refuses.

Seen on 6.18: both flavors walk a tree of chains with 2^13 jumps, the legacy one 2^16.
"""
LOOKED_AT = 64
"""Jumps after which the chains under way are looked at for one that is called twice: chains that
call themselves.
"""
MOST_LEVELS = 16
"""Chains of nftables, the base chain included, that may call or go to one another
(NFT_JUMP_STACK_SIZE, net/netfilter/nf_tables_api.c v6.12; `goto` counts as `jump` does, seen on
6.18); the kernel refuses more with "Too many links". Legacy tables have no such limit: 5,000 were
walked.
"""

Frame = tuple[CompiledChain, Sequence[CompiledRule], int, int]
"""Where a chain goes on: the chain, the rules to try, the next of them, and the mark that they were
picked by.
"""


class Traversal:
    """One packet in one table. After a verdict, `frames` says where it stood; it can be run on from
    there.
    """

    __slots__ = ("base", "frames", "jumps", "left", "state", "table", "visits")

    def __init__(self, state: HookState, table: CompiledTable, base: CompiledChain) -> None:
        """Stand before the first rule of the base chain."""
        self.state = state
        self.table = table
        self.base = base
        self.frames: list[Frame] = [(base, base.select(state), 0, state.skb.mark)]
        """Where the chains under way go on, the innermost last."""
        self.visits: list[tuple[CompiledChain, int]] = []
        """The chains that are done, and how many of their rules the packet came by."""
        self.jumps = 0
        self.left: list[int] = [0]
        """For each chain under way, how many were left by `goto` to come there: the kernel counts
        them as well.
        """

    def run(self) -> Verdict | None:
        """Walk on to a verdict; None where the base chain's end or policy lets the packet pass."""
        state, frames = self.state, self.frames
        skb, hook, matched = state.skb, state.hook, state.walk.trace.matched
        netns, flavour, family = skb.netns.name, self.table.source.flavour, self.table.source.family
        while frames:
            chain, rules, index, mark = frames.pop()
            in_line = chain.in_line
            if skb.mark != mark:
                if chain.index is not None and chain.index.by_mark:
                    rules, index = chain.select(state, rules[index - 1].index), 0
                mark = skb.mark
            end = len(rules)
            while (index := self._next(rules, index) + 1) <= end:
                rule = rules[index - 1]
                matched.append(RuleHit(netns, flavour, hook, rule.rule, family))
                if rule.kind == COUNT:
                    continue
                if rule.index >= in_line:
                    pass_left_out(state, chain.source, self.table.label, self.table.ask)
                if rule.kind == RETURN:
                    self.visits.append((chain, rule.index + 1))
                    break
                frames.append((chain, rules, index, mark))
                verdict = self._enter(rule) if rule.act is None else rule.act(state, rule)
                if verdict is not None:
                    return None if verdict is ACCEPT else verdict
                if rule.act is None or skb.mark != mark:
                    break
                frames.pop()
            else:
                self._leave(chain)
        return self._policy()

    def _next(self, rules: Sequence[CompiledRule], index: int) -> int:
        """Find the next rule that matches the packet; the number of rules where none does."""
        state = self.state
        for position in range(index, len(rules)):
            doubts: list[Doubt] | None = None
            for check in rules[position].checks:
                answer = check(state)
                if answer is True:
                    continue
                if answer is False:
                    break
                doubts = [answer] if doubts is None else [*doubts, answer]
            else:
                if doubts is None or self._settle(rules[position], doubts):
                    return position
        return len(rules)

    def _settle(self, rule: CompiledRule, doubts: list[Doubt]) -> bool:
        """Ask for what a rule's match depends on; a rule that only counts is not worth a fork."""
        walk = self.state.walk
        for doubt in doubts:
            fact = walk.draws.name(doubt.fact) if doubt.random else doubt.fact
            if rule.kind == COUNT:
                if doubt.likely is doubt.negated:
                    return False
            elif (
                walk.choices.choose(fact, doubt.options(), ask=doubt.ask, random=doubt.random)
                is doubt.negated
            ):
                return False
        return True

    def _enter(self, rule: CompiledRule) -> Verdict | None:
        """Put the chain that a rule jumps or goes to on top; a chain that nobody shows does what
        the branch takes it to do.
        """
        state, target = self.state, rule.rule.target
        del self.left[len(self.frames) :]
        if rule.kind == GOTO:
            self.visits.append(place_of(self.frames.pop()))
            self.left[-1] += 1
        else:
            self.left.append(0)
        self.jumps += 1
        if self.jumps > MOST_JUMPS:
            return Queued(ChainsCircle(), self.table.ask)
        chain = rule.chain
        if chain is None and target is not None:
            chain = self.table.chain(state.walk, target.name)
            if chain is not None and self.table.is_known(target.name):
                rule.chain = chain
        if chain is not None:
            refused = self._refuse(chain)
            if refused is None:
                self.frames.append((chain, chain.select(state), 0, state.skb.mark))
            return refused
        name = target.name if target is not None else ""
        effect = self.table.missing(state.walk, rule.rule, name)
        if effect == "return":
            return None
        word = StepDecision(effect)
        state.decision = Decision(word, ChainTaken(name, word), rule.rule.span)
        return ACCEPT if word is StepDecision.ACCEPT else DROP

    def _refuse(self, chain: CompiledChain) -> Verdict | None:
        """End the walk where the kernel would not have loaded the rules: chains in a circle, or
        called too deep.
        """
        level = len(self.frames) + sum(self.left)
        deep = self.table.source.flavour == "nft" and level >= MOST_LEVELS
        if (deep or self.jumps % LOOKED_AT == 0) and len(
            {id(frame[0]) for frame in self.frames}
        ) < len(self.frames):
            return Queued(ChainsCircle(), self.table.ask)
        if deep:
            return Queued(ChainsTooDeep(chain.source.name, MOST_LEVELS), self.table.ask)
        return None

    def _leave(self, chain: CompiledChain) -> None:
        """Come to a chain's end."""
        self.visits.append((chain, len(chain)))
        if not chain.source.complete:
            pass_left_out(self.state, chain.source, self.table.label, self.table.ask)

    def _policy(self) -> Verdict | None:
        source = self.base.source
        policy: str | None = source.policy
        if policy is None and self.table.source.name in FILTERING:
            options = (
                Option("ACCEPT", "accept what no rule decides on"),
                Option("DROP", "drop what no rule decides on"),
            )
            policy = self.state.walk.choices.choose(
                f"policy of chain {source.name} of {self.table.label}", options, ask=self.table.ask
            )
        if policy != "DROP":
            return None
        decided = PolicyDecided(self.table.source.name, source.name, False)
        self.state.decision = Decision(StepDecision.DROP, decided, source.span)
        return DROP


def place_of(frame: Frame) -> tuple[CompiledChain, int]:
    """Return a frame's chain, and how many of its rules the packet came by: also those that an
    index leaves out, since they cannot match.
    """
    chain, rules, index, _ = frame
    return chain, rules[index - 1].index + 1

"""How a packet goes through a base chain (net/netfilter/nf_tables_core.c:nft_do_chain v6.12), and
the Step it makes.
"""

from __future__ import annotations

from typing import NamedTuple

from podpath.datapath.netfilter.chains import MOST_JUMPS, MOST_LEVELS
from podpath.datapath.netfilter.left_out import pass_left_out
from podpath.datapath.netfilter.stages import NFT_DO_CHAIN, ChainStage
from podpath.datapath.netfilter.state import Decision, HookState
from podpath.datapath.netfilter.verdicts import ACCEPT, DROP, Queued, Verdict
from podpath.datapath.nftables.statements import BREAK
from podpath.datapath.nftables.tables import CompiledNftChain
from podpath.datapath.reasons.boundaries import ChainsCircle, ChainsTooDeep
from podpath.datapath.reasons.rules import ChainTaken, PolicyDecided
from podpath.datapath.tracing.trace import NearMiss
from podpath.datapath.vocabulary import Hook, StepDecision
from podpath.net import nft
from podpath.net.provenance import Option
from podpath.node.nftables import NftTable

ASK = "nft list ruleset"


class NftStage(ChainStage):
    """One native base chain at its hook."""

    __slots__ = ("base",)

    def __init__(self, base: CompiledNftChain, hook: Hook) -> None:
        """Stand for a base chain."""
        source = base.table.source
        super().__init__(hook, f"{source.family} {source.name} {base.source.name}", NFT_DO_CHAIN)
        self.base = base

    def evaluate(
        self, state: HookState, *, quiet: bool = False
    ) -> tuple[Verdict | None, tuple[NearMiss, ...]]:
        """Walk the chain without a Step; None where the packet passes it."""
        del quiet
        table = self.base.table.source
        state.table = f"{table.family} {table.name}"
        state.decision = None
        state.assumed = ()
        if table.unread_flags and _is_asleep(state, table):
            return None, ()
        return traverse(state, self.base), ()


class NftFrame(NamedTuple):
    """Where a chain goes on."""

    chain: CompiledNftChain
    following: int
    """The next rule to try."""
    level: int
    """Chains that led here, this one included: one that is left by `goto` counts too."""


def traverse(state: HookState, base: CompiledNftChain) -> Verdict | None:
    """Walk a base chain and what it jumps to; None where the packet passes."""
    frames = [NftFrame(base, 0, 1)]
    jumps = 0
    while frames:
        chain, index, level = frames.pop()
        rules = chain.rules
        while index < len(rules):
            result = _run_rule(state, rules[index])
            index += 1
            if result is None:
                continue
            _pass(state, chain, index)
            if not isinstance(result, nft.NftVerdict):
                return None if result is ACCEPT else result
            if result.kind == "return":
                break
            if result.kind not in {"jump", "goto"}:
                continue
            jumps += 1
            refused = _refuse(frames, jumps, level, result.chain)
            if refused is not None:
                return refused
            if result.kind == "jump":
                frames.append(NftFrame(chain, index, level))
            target = chain.table.chains.get(result.chain)
            if target is not None:
                frames.append(NftFrame(target, 0, level + 1))
                break
            verdict = _miss(state, chain, result.chain)
            if verdict is not None:
                return None if verdict is ACCEPT else verdict
            if result.kind == "goto":
                break
            frames.pop()
        else:
            _leave(state, chain)
    return _policy(state, base)


def _is_asleep(state: HookState, table: NftTable) -> bool:
    """Ask whether a table whose flags cannot be read is dormant."""
    fact = f"table {table.family} {table.name} in netns {state.skb.netns.name} is dormant"
    options = (
        Option(False, "it is not, and its chains run"),
        Option(True, "it is, and none of its chains runs"),
    )
    return state.walk.choices.choose(fact, options, ask=ASK)


def _refuse(frames: list[NftFrame], jumps: int, level: int, name: str) -> Verdict | None:
    """End the walk where the kernel would not have loaded the rules; `frames` are the calls under
    way without this one, which is at this level.
    """
    deep = level >= MOST_LEVELS
    callers = {id(frame.chain) for frame in frames}
    if jumps > MOST_JUMPS or (deep and len(callers) < len(frames)):
        return Queued(ChainsCircle(), ASK)
    if deep:
        return Queued(ChainsTooDeep(name, MOST_LEVELS), ASK)
    return None


def _run_rule(state: HookState, ops: tuple[object, ...]) -> nft.NftVerdict | Verdict | None:
    for op in ops:
        result: nft.NftVerdict | Verdict | None = op(state)  # type: ignore[operator]  # an Op
        if result is not None:
            return None if result == BREAK else result
    return None


def _miss(state: HookState, chain: CompiledNftChain, name: str) -> Verdict | None:
    """Ask what a chain that the evidence does not show does to the packet; None where it lets it go
    on.
    """
    fact = f"chain {name} of {chain.table.label}, which the evidence does not show"
    options = (
        Option("return", f"{name} lets the packet go on"),
        Option("accept", f"{name} accepts the packet"),
        Option("drop", f"{name} drops the packet"),
    )
    effect = state.walk.choices.choose(fact, options, ask="nft -a list ruleset")
    if effect == "return":
        return None
    word = StepDecision(effect)
    state.decision = Decision(word, ChainTaken(name, word))
    return ACCEPT if word is StepDecision.ACCEPT else DROP


def _pass(state: HookState, chain: CompiledNftChain, index: int) -> None:
    """Come to what a rule, the one before `index`, decides: rules may be left out before it."""
    in_line = chain.source.in_line
    if in_line is not None and index > in_line:
        pass_left_out(state, chain.source, chain.table.label, "nft -a list ruleset")


def _leave(state: HookState, chain: CompiledNftChain) -> None:
    """Come to a chain's end."""
    if not chain.source.complete:
        pass_left_out(state, chain.source, chain.table.label, "nft -a list ruleset")


def _policy(state: HookState, base: CompiledNftChain) -> Verdict | None:
    source = base.source
    if source.policy != "drop":
        return None
    table = f"{base.table.source.family} {base.table.source.name}"
    state.decision = Decision(
        StepDecision.DROP, PolicyDecided(table, source.name, True), source.span
    )
    return DROP

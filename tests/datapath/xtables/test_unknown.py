"""Tests for targets that nobody knows, and those at which a walk ends."""

from __future__ import annotations

from podpath.datapath.netfilter.compiled import CompiledRule
from podpath.datapath.netfilter.rules import ACT
from podpath.datapath.netfilter.state import HookState
from podpath.datapath.netfilter.verdicts import Queued, Verdict
from podpath.datapath.reasons.boundaries import TargetNotFollowed
from podpath.datapath.vocabulary import Hook
from podpath.datapath.xtables.registry import compile_target
from podpath.node.netfilter import Target
from podpath.xtables.context import RuleContext
from tests.datapath.given import Sender, given, given_rules, given_tables, tcp
from tests.xtables.test_context import SETS


def meet(name: str) -> tuple[Verdict | None, HookState]:
    """Let a packet meet a rule with the target, on the likeliest branch."""
    sender = Sender(given())
    state = HookState(sender.walk, sender.skb(tcp(), oif="eth0"), Hook.OUTPUT)
    chain = given_tables(given_rules("FORWARD -j DROP"))[0].chains["FORWARD"]
    rule = chain.value.rules[0]  # type: ignore[union-attr]  # a known chain
    act = compile_target(Target(name), RuleContext(rule, "host", 4, "nft", SETS))
    assert act is not None
    return act(state, CompiledRule(rule, (), ACT, act)), state


def test_a_walk_ends_at_what_is_not_modeled() -> None:
    """It says which target that was."""
    verdict, state = meet("SYNPROXY")

    assert isinstance(verdict, Queued)
    assert isinstance(verdict.reason, TargetNotFollowed)
    assert "SYNPROXY" == verdict.reason.target
    assert state.decision is not None


def test_an_unknown_target_likely_goes_on() -> None:
    """The next rule is tried first; the other branches accept and drop."""
    verdict, state = meet("FROB")

    assert verdict is None
    assert state.decision is None

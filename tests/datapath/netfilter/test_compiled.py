"""Tests for compiled chains: each rule is compiled once, when it first comes up."""

from __future__ import annotations

from podpath.datapath.netfilter.compiled import CompiledChain, CompiledRule
from podpath.datapath.netfilter.rules import ACT
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Chain, Rule, Target


def test_a_rule_is_compiled_once_and_knows_its_place() -> None:
    """The chain asks for a rule when it is first wanted, and remembers it."""
    asked: list[Rule] = []

    def compile_rule(rule: Rule) -> CompiledRule:
        asked.append(rule)
        return CompiledRule(rule, (), ACT, None)

    span = Span(Source(name="rules.txt", lines=("-A INPUT -j ACCEPT",)), 1, 1)
    rules = tuple(
        Rule("filter", "INPUT", place, span, Target(name))
        for place, name in ((1, "ACCEPT"), (2, "DROP"))
    )
    chain = CompiledChain(Chain(name="INPUT", rules=rules), 4, compile_rule, indexed=True)
    found = [chain.rule(1), chain.rule(1)]

    assert len(chain) == 2
    assert [rules[1]] == asked
    assert found[0] is found[1]
    assert (found[0].index, found[0].rule) == (1, rules[1])

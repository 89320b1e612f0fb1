"""Rules of the model as text that iptables takes."""

from __future__ import annotations

import re
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.evidence.iptables.rule_line import unquote
from podpath.evidence.iptables.ruleset_lines import read_rule
from podpath.net.addresses import Address, Prefix
from podpath.node.netfilter import (
    InterfaceMatch,
    Match,
    MatchOption,
    PrefixMatch,
    ProtocolMatch,
    Rule,
    Target,
)
from podpath.node.netfilter_text import emit_rule, quote_word
from tests.netfilter_strategies import NOWHERE, TEXTS, meaning, rules


def reread(text: str) -> Rule:
    """Read what was emitted."""
    return assemble_rule(read_rule(text, NOWHERE), "filter", 1)


@given(rules())
def test_what_is_emitted_is_read_back(rule: Rule) -> None:
    """A rule survives being spelled and read, comments with quotes and dashes included."""
    assert meaning(rule) == meaning(reread(emit_rule(rule)))


@given(rules(family=6))
def test_ipv6_rules_are_read_back(rule: Rule) -> None:
    """So does a rule with IPv6 addresses."""
    assert meaning(rule) == meaning(reread(emit_rule(rule)))


@given(st.lists(TEXTS.filter(lambda text: "\n" not in text), min_size=1, max_size=8))
@settings(max_examples=40)
def test_a_shell_reads_the_same_words(words: list[str]) -> None:
    """What is printed as a repair command means the same to a shell as to iptables-restore."""
    line = " ".join(map(quote_word, words))
    shell = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {line}"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout

    assert words == shell.split("\n")[:-1]
    assert words == [unquote(word) for word in re.findall(r'(?:[^\s"]|"(?:[^"\\]|\\.)*")+', line)]


def test_a_rule_is_spelled_as_iptables_save_does() -> None:
    """Selectors come first, then the matches in their order, then the target."""
    rule = Rule(
        table="nat",
        chain="KUBE-SERVICES",
        position=3,
        span=NOWHERE,
        target=Target("DNAT", (MatchOption("to-destination", ("10.244.1.5:8080",)),)),
        src=PrefixMatch(Prefix.parse("10.244.0.0/16"), negated=True),
        dst=PrefixMatch(Prefix.of(Address.parse("10.96.0.1"))),
        protocol=ProtocolMatch(6),
        in_link=InterfaceMatch("lxc", wildcard=True, negated=True),
        fragment=False,
        matches=(
            Match("comment", (MatchOption("comment", ('it\'s 5$ "a day"',)),)),
            Match("tcp", (MatchOption("dport", ("80",), negated=True),)),
        ),
    )

    assert emit_rule(rule) == (
        "-A KUBE-SERVICES ! -s 10.244.0.0/16 -d 10.96.0.1/32 ! -i lxc+ -p tcp ! -f "
        '-m comment --comment "it\'s 5\\$ \\"a day\\"" -m tcp ! --dport 80 -j DNAT '
        "--to-destination 10.244.1.5:8080"
    )


def test_the_command_and_the_position_can_be_chosen() -> None:
    """The same words delete a rule, or insert it where it stood."""
    rule = Rule(
        table="filter",
        chain="FORWARD",
        position=2,
        span=NOWHERE,
        target=Target("KUBE-FORWARD", goto=True),
    )

    assert emit_rule(rule, "-D") == "-D FORWARD -g KUBE-FORWARD"
    assert emit_rule(rule, "-I", position=2) == "-I FORWARD 2 -g KUBE-FORWARD"


def test_a_mask_that_is_not_contiguous_is_spelled_out() -> None:
    """A prefix length could not say it."""
    match = PrefixMatch(Prefix.of(Address.parse("1.2.0.3")), mask=0xFFFF00FF)
    rule = Rule(table="filter", chain="INPUT", position=1, span=NOWHERE, target=None, src=match)

    assert emit_rule(rule) == "-A INPUT -s 1.2.0.3/255.255.0.255"

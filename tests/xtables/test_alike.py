"""Whether two rules are the same to iptables."""

from __future__ import annotations

import pytest

from podpath.assembly.netfilter.rules import assemble_rule
from podpath.evidence.iptables.rule_line import parse_rule_line
from podpath.evidence.iptables.ruleset import RuleText
from podpath.net.provenance import Source, Span
from podpath.xtables.alike import is_same_rule
from podpath.xtables.rule import Rule


def rule(text: str) -> Rule:
    """Return a rule from its words."""
    line = f"-A A {text}"
    read = parse_rule_line(line)
    assert read is not None
    span = Span(Source(name="r", lines=(line,)), 1, 1)
    words = RuleText(
        span, "A", read.selectors, read.matches, read.target, read.goto, unread=read.unread
    )
    return assemble_rule(words, "filter", 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("-s 10.0.0.1 -j DROP", "-s 10.0.0.1/32 -j DROP", True),
        ("-s 10.0.0.1 -j DROP", "! -s 10.0.0.1 -j DROP", False),
        ("-s 0.0.0.0/0 -p all -j DROP", "-j DROP", True),
        ("-i eth0 -j DROP", "-i eth0+ -j DROP", False),
        ("-j DROP", "-j ACCEPT", False),
        ("-j DROP", "", False),
        ("", "", True),
        ("-j U", "-g U", False),
        ("-p tcp --dport 80 -j DROP", "-p tcp -m tcp --dport 80 -j DROP", True),
        ("-p tcp --dport 80 -j DROP", "-p tcp --dport 81 -j DROP", False),
        ("-p tcp --dport 80 -j DROP", "-p tcp --dport http -j DROP", None),
        ("-p tcp --dport 80 -j DROP", "-p tcp --dport 80 --sport 5 -j DROP", False),
        ("-p tcp --dport 80 -j DROP", "-p tcp --dport 80 --sport 0:65535 -j DROP", None),
        ("-p tcp -m tcp -j DROP", "-p tcp -j DROP", None),
        ("-m conntrack --ctstate NEW,INVALID", "-m conntrack --ctstate INVALID,NEW", True),
        ("-m conntrack --ctstate NEW", "-m conntrack --ctstate INVALID", False),
        ("-m conntrack --ctstate NEW", "-m state --state NEW", None),
        ("-m comment --comment a -j DROP", '-m comment --comment "a" -j DROP', True),
        ("-m comment --comment a -j DROP", "-m comment --comment b -j DROP", False),
        ("-m comment --comment a -j DROP", "-j DROP", False),
        ("-m mark --mark 0x10", "-m mark --mark 16", True),
        ("-j LOG", "-j LOG --log-level 4", None),
        ("-j REJECT", "-j REJECT --reject-with icmp-port-unreachable", None),
        ("-j SNAT --to-source 10.0.0.1", "-j SNAT --to-source 10.0.0.2", False),
        ("-j CT --notrack", "-j NOTRACK", None),
        (
            "-m mark --mark 1 -m comment --comment a",
            "-m comment --comment a -m mark --mark 1",
            None,
        ),
        ("-m mark --mark 1 -m comment --comment a", "-m mark --mark 1 -m mac", False),
        ("-p tcp -m multiport --dports 80,443", "-p tcp -m multiport --dports 443,80", False),
        ("-m limit --limit 10/sec", "-m limit --limit 600/min", None),
    ],
)
def test_rules_are_the_same_as_iptables_compares_them(
    one: str,
    other: str,
    same: bool | None,  # noqa: FBT001
) -> None:
    """In either order; nobody can tell where a spelling or a default may hide it."""
    assert same is is_same_rule(rule(one), rule(other))
    assert same is is_same_rule(rule(other), rule(one))


def test_a_rule_that_is_not_understood_may_be_any() -> None:
    """A line that is cut, say."""
    assert is_same_rule(rule("-s 10.0.0.1 -j"), rule("-j DROP")) is None

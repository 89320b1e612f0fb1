"""Unknown facts of a node settled to what is supposed."""

from __future__ import annotations

from dataclasses import replace

from podpath.net.provenance import Known, Option, Unknown
from podpath.node.node import Cilium
from podpath.node.settling import settle_facts
from tests.checks.nodes import chain, netns, node, rule, span, table


def unknown(fact: str) -> Unknown[str]:
    """Make an unknown sysctl whose second value a line speaks for."""
    return Unknown(
        fact, f"sysctl {fact}", (Option("0", "off"), Option("1", "as shown", span("= 1")))
    )


def test_a_named_fact_is_known_afterwards_with_its_options_line() -> None:
    """The others stay unknown."""
    other = unknown("b")
    host = replace(netns(), sysctls={"a": unknown("a"), "b": other})
    settled = settle_facts(node(host), {"a": "1"}).host.sysctls
    assert settled["b"] is other
    fact = settled["a"]
    assert isinstance(fact, Known)
    assert (fact.value, fact.because) == ("1", "as shown")
    assert fact.span is not None


def test_chains_and_plugin_options_are_settled_too() -> None:
    """A chain that two outputs disagree about becomes the one that is supposed."""
    one, two = chain("FORWARD", rule("FORWARD", 1, "A")), chain("FORWARD", rule("FORWARD", 1, "B"))
    disputed = Unknown(
        "chain FORWARD",
        "iptables -S",
        (Option(one.value, "one", one.span), Option(two.value, "two", two.span)),
    )
    filter_table = replace(table("filter", one), chains={"FORWARD": disputed})
    unsettled = replace(
        node(netns(tables=[filter_table])), cilium=Cilium(options={"tunnel": unknown("tunnel")})
    )
    settled = settle_facts(unsettled, {"chain FORWARD": two.value, "tunnel": "0"})
    fact = settled.host.netfilter[4].tables[0].chains["FORWARD"]
    assert isinstance(fact, Known)
    assert fact.value is two.value
    assert settled.cilium is not None
    assert isinstance(settled.cilium.options["tunnel"], Known)

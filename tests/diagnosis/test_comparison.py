"""What a good node has otherwise, told beside a finding."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.finding import Finding, Repair, Severity
from podpath.diagnosis.comparison import compare_with_good
from podpath.diagnosis.difference.nodes import compare_nodes
from podpath.net.provenance import Known
from podpath.node.change import SetSysctl
from podpath.node.netfilter import Netfilter
from podpath.node.node import HOST, Node
from podpath.testing.nodes import given_netns, given_node
from tests.checks.nodes import span
from tests.datapath.given import given_rules, given_tables

KEY = "net.ipv4.ip_forward"


def node(*rules: str, **sysctls: str) -> Node:
    """Return a host with rules of FORWARD and sysctls; underscores spelled twice stand for dots."""
    keys = {key.replace("__", "."): value for key, value in sysctls.items()}
    tables = Netfilter(tables=given_tables(given_rules(*rules)), complete=True)
    return given_node(given_netns("host", sysctls=keys, netns={"netfilter": {4: tables}}))


def told(bad: Node, good: Node, *quoted: str, written: str = "") -> tuple[list[object], list[str]]:
    """Return what is said and quoted beside a finding that quotes these lines of the bad node."""
    lines = [fact.span for fact in bad.host.sysctls.values() if isinstance(fact, Known)]
    lines += [
        rule.span
        for table in bad.host.netfilter[4].tables
        for chain in table.chains.values()
        if isinstance(chain, Known)
        for rule in chain.value.rules
    ]
    evidence = tuple(line for line in lines if line is not None and line.text in quoted)
    repairs = (
        (Repair(title="", commands=(), changes=(SetSysctl(netns=HOST, key=written, value="1"),)),)
        if written
        else ()
    )
    finding = Finding(
        check="x", severity=Severity.CAUSE, claim="", evidence=(*evidence, span("first")),
        repairs=repairs, reasoning=("It is so.",),
    )  # fmt: skip
    found = compare_with_good(finding, good, compare_nodes(bad, good))
    assert "It is so." == found.reasoning[0]
    assert finding.evidence == found.evidence[: len(finding.evidence)]
    return list(found.reasoning[1:]), [
        line.text for line in found.evidence[len(finding.evidence) :]
    ]


DIFFERS = f"Difference from the good node: {KEY} is 0 here, and 1 where it works."


def test_a_fact_that_is_quoted_and_differs_is_told() -> None:
    """With the good node's line; one that is not quoted is not."""
    bad, good = node(net__ipv4__ip_forward="0", a__b="0"), node(net__ipv4__ip_forward="1", a__b="1")

    assert ([DIFFERS], [f"{KEY} = 1"]) == told(bad, good, f"{KEY} = 0")
    assert ([], []) == told(bad, good)


def test_a_fact_that_a_repair_writes_is_told_though_it_is_not_quoted() -> None:
    """With both lines, and where this node does not state it, with the good node's alone."""
    good = node(net__ipv4__ip_forward="1")

    assert ([DIFFERS], [f"{KEY} = 0", f"{KEY} = 1"]) == told(
        node(net__ipv4__ip_forward="0"), good, written=KEY
    )
    assert ([f"On the good node, {KEY} is 1."], [f"{KEY} = 1"]) == told(node(), good, written=KEY)
    assert ([], []) == told(node(), node(), written=KEY)
    assert ([], []) == told(good, good, written="other.key")


def test_a_rule_that_is_missing_from_a_quoted_chain_is_told() -> None:
    """The finding quotes another rule of the chain."""
    bad, good = node("FORWARD -j DROP"), node("FORWARD -p tcp -j ACCEPT", "FORWARD -j DROP")
    ((words,), (line,)) = told(bad, good, "-A FORWARD -j DROP")

    assert "-A FORWARD -p tcp -j ACCEPT" == line
    assert str(words).startswith("Difference from the good node: ACCEPT (rule 1 of FORWARD")
    assert ([], []) == told(bad, good)


def test_a_value_without_a_line_is_not_told() -> None:
    """Nor is one that nobody knows."""
    good = node(net__ipv4__ip_forward="1")
    bare = replace(good.host, sysctls={KEY: Known("1")})

    assert ([], []) == told(node(), given_node(bare), written=KEY)

"""Cases as a whole: what is drawn over many of them."""

from __future__ import annotations

from podpath.net.provenance import Known
from podpath.node.node import HOST
from podpath.xtables.registry import MATCHES, TARGETS, VERDICTS
from podpath_lab.cases.generate import generate_case
from podpath_lab.cases.rare import NOT_GENERATED


def test_every_match_and_target_is_generated() -> None:
    """What the model evaluates is drawn, but for what is listed with the reason why it is not."""
    cases = (generate_case(seed) for seed in range(1500))
    hosts = (case.node.namespaces[HOST].netfilter[4] for case in cases)
    chains = (
        fact.value
        for host in hosts
        for table in host.tables
        for fact in table.chains.values()
        if isinstance(fact, Known)
    )
    rules = [rule for chain in chains for rule in chain.rules]
    drawn = {match.name for rule in rules for match in rule.matches}
    drawn |= {rule.target.name for rule in rules if rule.target is not None}
    known = {*MATCHES, *TARGETS, *VERDICTS}

    assert known - drawn == NOT_GENERATED.keys()

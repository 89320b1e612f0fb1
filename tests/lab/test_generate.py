"""Generated cases: reproducible, varied, and with the shares that agreement is measured by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.datapath.conversations.conversation import converse
from podpath.lab.generate import generate_case
from podpath.lab.generate_rare import NOT_GENERATED
from podpath.lab.script import emit_twin
from podpath.net.provenance import Known
from podpath.node.node import HOST
from podpath.xtables.registry import MATCHES, TARGETS, VERDICTS


def test_one_number_makes_one_case() -> None:
    """The same seed gives the same script and the same probe."""
    one, other = generate_case(11), generate_case(11)
    assert emit_twin(one.node).commands == emit_twin(other.node).commands
    assert one.probe == other.probe


def test_shares_of_nat_and_faults() -> None:
    """At least two cases in five have NAT, and one in five a planted fault."""
    cases = [generate_case(seed) for seed in range(400)]
    assert sum(case.nat for case in cases) >= 160
    assert sum(bool(case.fault) for case in cases) >= 80


@given(seed=st.integers(0, 2**40))
def test_the_model_decides_every_case(seed: int) -> None:
    """A generated node is wholly known: a walk on it ends in a verdict; only the kernel's draws are
    open.
    """
    case = generate_case(seed)
    conversation = converse(case.node, case.probe)
    assert conversation.branches[0].works is not None
    taken = [made.fact for made in conversation.branches[0].assumptions if not made.random]
    words = (
        "registered last",
        "IPsec",
        "runs as uid",
        "it depends on",
        "netfilter queue",
        "an MSS",
        "an earlier packet",
    )
    assert all(any(word in fact for word in words) for fact in taken)


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

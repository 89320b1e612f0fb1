"""Generated cases: reproducible, varied, and with the shares that agreement is measured by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from podpath.datapath.conversations.conversation import converse
from podpath_lab.cases.generate import generate_case
from podpath_lab.script import emit_twin


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
        "answers from the address that it was asked at",
    )
    assert all(any(word in fact for word in words) for fact in taken)

"""Statements whose effect is not known fork the walk: one branch goes on, the other ends undecided
there.
"""

from __future__ import annotations

import pytest

from podpath.datapath.reasons.boundaries import StatementNotFollowed
from podpath.datapath.tracing.trace import Undecided
from podpath.report.sentences import spell_reason
from tests.datapath.test_nftables import HEAD, walk

NAT = "table ip t { chain c { type nat hook prerouting priority -100; "


@pytest.mark.parametrize(
    ("heading", "statement"),
    [
        (HEAD, "meta mark set foo"),
        (HEAD, "meta mark set ct foo"),
        (NAT, "dnat to ip daddr map { 198.51.100.1 : 10.9.0.1-10.9.0.9 }"),
        (NAT, "dnat to ip daddr map @not_shown"),
    ],
)
def test_a_change_that_is_not_known_ends_a_branch(heading: str, statement: str) -> None:
    """What the packet is afterwards nobody knows, and the walk says which statement it was."""
    found = walk(f"{heading}{statement}; }}\n}}")
    ended = [branch.last.outcome for branch in found.branches if branch.works is None]

    assert found.branches[0].works
    (outcome,) = [outcome for outcome in ended if isinstance(outcome, Undecided)]
    assert isinstance(outcome.reason, StatementNotFollowed)
    assert "not modeled" in spell_reason(outcome.reason)

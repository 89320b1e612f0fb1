"""Which rules a repair touches, and what it calls them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.cause import RulePlace
from podpath.diagnosis.repairs_rules import accept_by_policy, move_to
from podpath.net.provenance import Known
from podpath.xtables.legality import TableFlavour
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis.test_repairs import cause_of, node


@pytest.mark.parametrize(
    ("rule", "title"),
    [
        ("FORWARD -j ACCEPT", "the rule that accepts"),
        ("FORWARD -j LATE", "the jump to LATE"),
    ],
)
def test_a_rule_that_moves_is_told_by_what_it_does(rule: str, title: str) -> None:
    """An admin looks for a jump by the chain that it leads to."""
    (table,) = given_tables(given_rules("FORWARD -j DROP", rule, chains=("LATE",)))
    chain = table.chains["FORWARD"]
    assert isinstance(chain, Known)
    moved = chain.value.rules[1]
    place = RulePlace(netns="host", table=table, chain=chain.value, rule=moved)

    assert title in move_to(node(), place, moved, 1).title


def test_a_policy_is_changed_in_the_table_that_drops() -> None:
    """Another table of that name, of the other backend, may have no such chain."""
    made = node(policy="DROP")
    netfilter = made.host.netfilter[4]
    legacy = replace(netfilter.tables[0], flavour=TableFlavour.LEGACY, chains={})
    both = replace(netfilter, tables=(legacy, *netfilter.tables))
    host = replace(made.host, netfilter={4: both})
    changed = replace(made, namespaces={**made.namespaces, "host": host})

    assert 1 == len(list(accept_by_policy(changed, cause_of(made))))

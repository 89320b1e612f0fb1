"""Generated native tables: the same seed gives the same ones, and what they say survives nft's
language.
"""

from __future__ import annotations

from random import Random

import pytest

from podpath.net import nft
from podpath.node.nftables import NftTable
from podpath.node.nftables_text import emit_rule, emit_table
from podpath_lab.cases.generate import NATIVE_SHARE, generate_case
from podpath_lab.cases.nftables import draw_native
from podpath_lab.draft import DraftNetns
from podpath_lab.topologies import routed_pods
from tests.nftables import native_tables


def draw(seed: int) -> list[NftTable]:
    """Draw the tables of one seed."""
    host = DraftNetns("host")
    draw_native(Random(seed), host, routed_pods())
    return host.nftables


def test_a_seed_gives_its_tables() -> None:
    """Nothing but the seed decides."""
    assert [emit_table(table) for table in draw(5)] == [emit_table(table) for table in draw(5)]


@pytest.mark.parametrize("seed", range(40))
def test_tables_read_back(seed: int) -> None:
    """Every rule has one counter, and text says the same."""
    for table in draw(seed):
        (again,) = native_tables(emit_table(table))
        for name, chain in table.chains.items():
            assert [emit_rule(rule) for rule in chain.rules] == [
                emit_rule(rule) for rule in again.chains[name].rules
            ]
            assert all(
                sum(isinstance(each, nft.Counter) for each in rule.statements) == 1
                for rule in chain.rules
            )


def test_about_a_fifth_of_the_cases_has_native_tables() -> None:
    """The share is the one that is stated."""
    count = sum(bool(generate_case(seed).node.host.nftables.items) for seed in range(200))

    assert abs(count / 200 - NATIVE_SHARE) < 0.1

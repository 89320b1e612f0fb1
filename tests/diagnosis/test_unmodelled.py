"""What the evidence shows on the way that no walk goes through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.diagnosis.unmodelled import find_unmodelled
from podpath.net.nft import NftChainType, NftFamily, NftHook, NftPolicy
from podpath.net.provenance import Listing
from podpath.node.nftables import NftChain, NftTable
from podpath.node.node import HOST, Node
from podpath.testing.nodes import given_cilium
from tests.diagnosis.scenes import GOOD, cilium_node, known

EMPTY = replace(cilium_node(known(GOOD)), cilium=None)


def node_with(table: NftTable) -> Node:
    """Return a node whose host has one native table."""
    host = replace(EMPTY.host, nftables=Listing((table,), True, "nft list ruleset"))
    return replace(EMPTY, namespaces={**EMPTY.namespaces, HOST: host})


def table_of(family: str, policy: str) -> NftTable:
    """Return a table with one base chain without rules."""
    chain = NftChain(
        name="input",
        hook=NftHook.INPUT,
        priority=0,
        policy=NftPolicy(policy),
        type=NftChainType.FILTER,
    )
    return NftTable(family=NftFamily(family), name="t", chains={"input": chain})


@pytest.mark.parametrize(
    ("family", "policy", "count"),
    [("bridge", "drop", 1), ("arp", "drop", 1), ("bridge", "accept", 0)],
)
def test_chains_of_bridges_and_arp_count_where_they_may_end_a_frame(
    family: str, policy: str, count: int
) -> None:
    """An empty chain that accepts decides nothing."""
    assert count == len(list(find_unmodelled(node_with(table_of(family, policy)), {HOST})))


def test_a_dormant_table_does_not_count() -> None:
    """The kernel does not run it."""
    table = replace(table_of("bridge", "drop"), dormant=True)
    assert [] == list(find_unmodelled(node_with(table), {HOST}))


def test_a_flowtable_counts() -> None:
    """What it offloads passes by FORWARD."""
    table = replace(table_of("inet", "accept"), objects=("flowtable f",))
    assert ["nft list flowtables"] == [
        item.ask for item in find_unmodelled(node_with(table), {HOST})
    ]


def test_a_namespace_that_no_walk_passed_does_not_count() -> None:
    """Its tables decided nothing of what was asked."""
    assert [] == list(find_unmodelled(node_with(table_of("bridge", "drop")), {"elsewhere"}))


@pytest.mark.parametrize(("policy", "count"), [("default", 1), ("always", 1), ("never", 0)])
def test_policies_of_cilium_count_unless_it_enforces_none(policy: str, count: int) -> None:
    """Its programs drop what a policy does not allow, and no walk asks them."""
    node = replace(EMPTY, cilium=given_cilium(enable_policy=policy))
    found = [one.ask for one in find_unmodelled(node, {HOST})]
    assert ["cilium-dbg endpoint list; cilium-dbg monitor -t drop"] * count == found
    assert [] == list(find_unmodelled(node, set()))

"""One base chain accepts, another one drops."""

from __future__ import annotations

from podpath.checks.netfilter.accept_elsewhere import check
from tests.checks.pasted import found


def test_fragments_of_two_base_chains() -> None:
    """LXD accepts in a chain of its own; the other chain's policy drops."""
    text = """
chain FORWARD {
        type filter hook forward priority filter; policy drop;

chain fwd.lxdbr0 {
        type filter hook forward priority filter; policy accept;
"""
    assert found(check, text) == [(1.0, "type filter hook forward priority filter; policy drop;")]


def test_one_base_chain_alone() -> None:
    """Nothing else accepts: the policy is another check's."""
    text = """
chain FORWARD {
        type filter hook forward priority filter; policy drop;
"""
    assert found(check, text) == []

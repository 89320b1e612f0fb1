"""What was typed that removes others' rules."""

from __future__ import annotations

from podpath.checks.netfilter.rules_flushed import check
from tests.checks.pasted import found


def test_a_flush_of_nat() -> None:
    """Docker's chains are gone with it."""
    text = """
$ iptables -t nat -F
"""
    assert found(check, text) == [(0.6, "$ iptables -t nat -F")]


def test_a_managers_restart() -> None:
    """Firewalld takes the chains of others along."""
    text = """
$ systemctl restart firewalld
"""
    assert found(check, text) == [(0.6, "$ systemctl restart firewalld")]


def test_another_service() -> None:
    """A restart of Docker writes its chains anew."""
    text = """
$ systemctl restart docker
"""
    assert found(check, text) == []


def test_a_chain_of_ones_own() -> None:
    """A script empties what it fills."""
    text = """
$ iptables -F MYCHAIN
"""
    assert found(check, text) == []

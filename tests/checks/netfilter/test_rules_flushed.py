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


def test_what_cured_it() -> None:
    """Somebody stopped the firewall to see whether it is to blame, and it was."""
    text = """
$ nc -zv 10.0.0.5 5432
nc: connect to 10.0.0.5 port 5432 (tcp) failed: No route to host
$ systemctl stop firewalld
$ nc -zv 10.0.0.5 5432
Connection to 10.0.0.5 5432 port [tcp/postgresql] succeeded!
"""
    assert found(check, text) == []


def test_ufw_removes_its_own_rules_alone() -> None:
    """Docker's chains stay."""
    assert found(check, "\n$ ufw enable\n") == []

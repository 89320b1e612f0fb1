"""Rules that ask empty sets."""

from __future__ import annotations

from podpath.checks.netfilter.empty_set import check
from tests.checks.pasted import found


def test_an_accept_that_never_matches() -> None:
    """The set is shown whole, and has nobody in it."""
    text = """
$ ipset save
create allowed hash:ip family inet hashsize 1024 maxelem 65536
$ iptables -S KUBE-POD-FW
-N KUBE-POD-FW
-A KUBE-POD-FW -m set --match-set allowed src -j ACCEPT
"""
    assert found(check, text) == [
        (0.7, "create allowed hash:ip family inet hashsize 1024 maxelem 65536")
    ]


def test_a_member() -> None:
    """The set has one."""
    text = """
$ ipset save
create allowed hash:ip family inet hashsize 1024 maxelem 65536
add allowed 10.1.1.1
$ iptables -S KUBE-POD-FW
-N KUBE-POD-FW
-A KUBE-POD-FW -m set --match-set allowed src -j ACCEPT
"""
    assert found(check, text) == []

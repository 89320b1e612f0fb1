"""Dropping rules that have counted."""

from __future__ import annotations

from podpath.checks.netfilter.drop_counter import check
from tests.checks.pasted import found


def test_the_one_that_counted_most() -> None:
    """An excerpt shows it."""
    text = """
$ iptables -nvL INPUT
Chain INPUT (policy ACCEPT 10 packets, 600 bytes)
 pkts bytes target     prot opt in     out     source               destination
   10   600 ACCEPT     all  --  lo     *       0.0.0.0/0            0.0.0.0/0
 3312  198K DROP       tcp  --  *      *       10.0.0.0/8           0.0.0.0/0            tcp dpt:6443
"""  # noqa: E501
    assert found(check, text) == [
        (0.7, "3312 198K DROP tcp -- * * 10.0.0.0/8 0.0.0.0/0 tcp dpt:6443")
    ]


def test_one_that_counted_nothing() -> None:
    """No packet has met it."""
    text = """
$ iptables -nvL INPUT
Chain INPUT (policy ACCEPT 10 packets, 600 bytes)
 pkts bytes target     prot opt in     out     source               destination
    0     0 DROP       tcp  --  *      *       10.0.0.0/8           0.0.0.0/0            tcp dpt:6443
"""  # noqa: E501
    assert found(check, text) == []

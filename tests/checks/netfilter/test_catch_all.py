"""Rules without conditions that end every packet."""

from __future__ import annotations

from podpath.checks.netfilter.catch_all import check
from tests.checks.pasted import found


def test_fedoras_default_is_enough() -> None:
    """It stands alone in FORWARD, so nothing is accepted before it."""
    text = """
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
-A INPUT -j REJECT --reject-with icmp-host-prohibited
"""
    assert found(check, text) == [(1.0, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_rules_below_are_never_asked() -> None:
    """The plugin's jump stands below."""
    text = """
$ iptables -S FORWARD
-P FORWARD ACCEPT
-A FORWARD -i eth9 -j ACCEPT
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
-A FORWARD -j KUBE-FORWARD
"""
    assert found(check, text) == [(1.0, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_a_filtered_listing_hides_what_stands_above() -> None:
    """With a grep the accepts may be left out."""
    text = """
$ iptables -S | grep REJECT
-A FORWARD -j REJECT --reject-with icmp-host-prohibited
"""
    assert found(check, text) == [(0.7, "-A FORWARD -j REJECT --reject-with icmp-host-prohibited")]


def test_an_accept_above_makes_it_a_default() -> None:
    """Docker's rules stand before it."""
    text = """
$ iptables -S FORWARD
-P FORWARD ACCEPT
-A FORWARD -j DOCKER-FORWARD
-A FORWARD -j REJECT
"""
    assert found(check, text) == []

"""Accepts below what drops the same packets."""

from __future__ import annotations

from podpath.checks.netfilter.shadowed_accept import check
from tests.checks.pasted import found


def test_an_accept_stands_below_its_drop() -> None:
    """The counters say the same as the order."""
    text = """
$ iptables -nvL INPUT
Chain INPUT (policy ACCEPT 10 packets, 100 bytes)
 pkts bytes target     prot opt in     out     source               destination
   90  5400 DROP       tcp  --  eth0   *       0.0.0.0/0            0.0.0.0/0            tcp dpts:8000:9000
    0     0 ACCEPT     tcp  --  eth0   *       0.0.0.0/0            0.0.0.0/0            tcp dpt:8443
"""  # noqa: E501
    assert found(check, text) == [
        (1.0, "90 5400 DROP tcp -- eth0 * 0.0.0.0/0 0.0.0.0/0 tcp dpts:8000:9000")
    ]


def test_a_chain_that_rejects_all_stands_before_dockers() -> None:
    """FORWARD jumps to a chain that ends everything, and to Docker's below."""
    text = """
-A FORWARD -j RH-Firewall-1-INPUT
-A FORWARD -o docker0 -j DOCKER
-A RH-Firewall-1-INPUT -i lo -j ACCEPT
-A RH-Firewall-1-INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT
-A RH-Firewall-1-INPUT -j REJECT --reject-with icmp-host-prohibited
"""
    assert found(check, text) == [
        (1.0, "-A RH-Firewall-1-INPUT -j REJECT --reject-with icmp-host-prohibited")
    ]


def test_an_accept_above_takes_the_same() -> None:
    """What is accepted twice is accepted."""
    text = """
-A INPUT -p tcp -m tcp --dport 8443 -j ACCEPT
-A INPUT -p tcp -m tcp --dport 8000:9000 -j DROP
-A INPUT -p tcp -m tcp --dport 8443 -j ACCEPT
"""
    assert found(check, text) == []


def test_a_narrower_drop_takes_only_its_part() -> None:
    """One banned client does not make the accept dead."""
    text = """
-A INPUT -s 192.0.2.9/32 -p tcp -m tcp --dport 22 -j DROP
-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT
"""
    assert found(check, text) == []

"""SNAT to an address that the host does not have."""

from __future__ import annotations

from podpath.checks.netfilter.snat_source import check
from tests.checks.pasted import found


def test_a_foreign_source() -> None:
    """No device has it."""
    text = """
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
2: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 172.18.0.1/16 brd 172.18.255.255 scope global docker0
$ iptables -t nat -S POSTROUTING
-P POSTROUTING ACCEPT
-A POSTROUTING -s 10.1.0.0/16 -j SNAT --to-source 192.0.2.7
"""
    assert found(check, text) == [
        (0.6, "-A POSTROUTING -s 10.1.0.0/16 -j SNAT --to-source 192.0.2.7")
    ]


def test_its_own() -> None:
    """A device has it."""
    text = """
$ ip addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
2: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    inet 172.18.0.1/16 brd 172.18.255.255 scope global docker0
$ iptables -t nat -S POSTROUTING
-P POSTROUTING ACCEPT
-A POSTROUTING -s 10.1.0.0/16 -j SNAT --to-source 172.18.0.1
"""
    assert found(check, text) == []

"""An overlay over VirtualBox's NAT."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.tunnel_over_nat_address import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
I0101 10:00:00.000000  1 main.go:475] Using interface with name eth0 and address 10.0.2.15
I0101 10:00:00.000000  1 main.go:492] Defaulting external address to interface address (10.0.2.15)
```
"""
ALMOST = """\
```
$ ip addr show eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 10.0.2.15/24 brd 10.0.2.255 scope global eth0
```
"""
HEALTHY = """\
```
I0101 10:00:00.000000  1 main.go:475] Using interface with name eth1 and address 192.168.56.11
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "10.0.2.15" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "10.0.2.15" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """The card alone is harmless, and another address is right."""
    assert [] == list(check(case_of_document(ticket)))


CARDS = """\
```
$ ip -d addr
2: enp0s3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether {mac}:d1:41:4b brd ff:ff:ff:ff:ff:ff
    inet 192.168.56.101/24 brd 192.168.56.255 scope global enp0s3
3: enp0s8: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether {mac}:8a:2d:63 brd ff:ff:ff:ff:ff:ff
    inet 10.0.3.15/24 brd 10.0.3.255 scope global enp0s8
5: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 3e:54:6d:e9:9b:a4 brd ff:ff:ff:ff:ff:ff
    vxlan id 1 local {local} dev enp0s8 srcport 0 0 dstport 8472 nolearning
```
"""
VIRTUALBOX = "08:00:27"


def test_the_nat_of_a_second_card() -> None:
    """VirtualBox counts its networks by cards."""
    text = CARDS.format(mac=VIRTUALBOX, local="10.0.3.15")
    (found,) = check(case_of_document(text))

    assert "10.0.3.15" in str(found.claim)


@pytest.mark.parametrize(
    ("mac", "local"), [("52:54:00", "10.0.3.15"), (VIRTUALBOX, "192.168.56.101")]
)
def test_such_an_address_elsewhere(mac: str, local: str) -> None:
    """The card is none of VirtualBox's, or the tunnel uses the other one."""
    assert not list(check(case_of_document(CARDS.format(mac=mac, local=local))))

"""A bridge wider than its uplink."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels import vxlan_mtu
from podpath.checks.tunnels.mtu_above_uplink import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip link
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff

$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5
```
"""
ALMOST = """\
```
$ ip link
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff

$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5
```
"""
HEALTHY = """\
```
$ ip link
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff

$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "mtu 1450" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "docker0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A narrower bridge, and an equal one."""
    assert [] == list(check(case_of_document(ticket)))


TUNNEL = """\
```
$ ip {option} link
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 4e:11:22:33:44:01 brd ff:ff:ff:ff:ff:ff
{details}```
"""
DETAILS = "    vxlan id 1 local 192.168.56.11 dev eth0 srcport 0 0 dstport 8472 nolearning\n"


@pytest.mark.parametrize(
    ("ticket", "checks"),
    [
        (TUNNEL.format(option="", details=""), ["mtu-above-uplink"]),
        (TUNNEL.format(option="-d", details=DETAILS), ["vxlan-mtu"]),
    ],
)
def test_a_wide_tunnel_is_told_once(ticket: str, checks: list[str]) -> None:
    """By vxlan-mtu where the listing says what carries it, here where only its name does."""
    case = case_of_document(ticket)

    assert checks == [found.check for look in (check, vxlan_mtu.check) for found in look(case)]


def test_an_mtu_that_no_output_shows_is_not_blamed() -> None:
    """`ip -br addr` shows none."""
    text = """\
```
$ ip -br addr
eth0             UP             192.168.77.5/24
flannel.1        UNKNOWN        10.42.0.0/32
docker0          UP             172.17.0.1/16
```
"""

    assert not list(check(case_of_document(text)))

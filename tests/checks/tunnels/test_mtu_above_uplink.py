"""A bridge wider than its uplink."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels import vxlan_mtu
from podpath.checks.tunnels.mtu_above_uplink import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

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


UPLINK = """\
{said}

```
{inner}
$ ip link show {device}
2: {device}: <UP,LOWER_UP> mtu 1400 qdisc fq_codel state UP mode DEFAULT group default qlen 1000
{routes}
```
"""
OPTION = """\
$ docker network inspect ci --format '{{{{json .Options}}}}'
{{"com.docker.network.driver.mtu":"{mtu}"}}"""
SYN = """\
$ tcpdump -ni {device}
10:22:01.884001 IP {source}.51422 > 198.51.100.200.80: Flags [{flags}], seq 11, win 64240, \
options [mss {mss},sackOK], length 0"""
HANG = "Downloads in containers hang."
BY_CARD = "$ ip route show default\ndefault via 10.0.0.1 dev ens3"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        (OPTION.format(mtu=1500), 1),
        (OPTION.format(mtu=1400), 0),
        (SYN.format(device="docker0", source="172.17.0.6", flags="S", mss=1460), 1),
        (SYN.format(device="br-0a1b2c3d4e5f", source="172.30.0.6", flags="S", mss=1460), 1),
        (SYN.format(device="docker0", source="172.17.0.6", flags="S", mss=1360), 0),
        (SYN.format(device="docker0", source="172.17.0.6", flags="S.", mss=1460), 0),
        (SYN.format(device="ens3", source="10.0.0.5", flags="S", mss=1460), 0),
    ],
)
def test_what_containers_take_for_their_size(inner: str, expected: int) -> None:
    """Their network's option, or the MSS that they announce and 40 bytes of headers."""
    text = UPLINK.format(said=HANG, inner=inner, device="ens3", routes=BY_CARD)

    assert expected == len(list(check(ticket_of(text))))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (f"The host goes out by tun7. {HANG}", 1),
        (f"The host goes out by tun8. {HANG}", 0),
        (HANG, 0),
    ],
)
def test_a_vpn_counts_where_it_is_the_way_out(said: str, expected: int) -> None:
    """Only people say so where no route is shown."""
    inner = OPTION.format(mtu=1500)
    text = UPLINK.format(said=said, inner=inner, device="tun7", routes="")

    assert expected == len(list(check(ticket_of(text))))

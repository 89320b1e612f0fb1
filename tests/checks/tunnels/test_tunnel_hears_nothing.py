"""A tunnel that only talks."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.tunnel_hears_nothing import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ifconfig flannel.1
flannel.1: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1450
        inet 10.244.3.0  netmask 255.255.255.255  broadcast 0.0.0.0
        ether 02:00:00:00:00:03  txqueuelen 0  (Ethernet)
        RX packets {rx}  bytes 0 (0.0 B)
        RX errors 0  dropped 0  overruns 0  frame 0
        TX packets {tx}  bytes 46400 (45.3 KiB)
        TX errors 0  dropped 8 overruns 0  carrier 0  collisions 0
```
"""
OLD = """\
```
$ ifconfig
tun0      Link encap:UNSPEC  HWaddr 00-00-00-00-00-00-00-00-00-00-00-00-00-00-00-00
          inet addr:10.8.0.1  P-t-P:10.8.0.2  Mask:255.255.255.255
          UP POINTOPOINT RUNNING NOARP MULTICAST  MTU:1500  Metric:1
          RX packets:0 errors:0 dropped:0 overruns:0 frame:0
          TX packets:812 errors:0 dropped:0 overruns:0 carrier:0
```
"""
STATISTICS = """\
```
$ ip -s link show vxlan.calico
9: vxlan.calico: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    link/ether 66:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    RX:  bytes packets errors dropped  missed   mcast
             0       0      0       0       0       0
    TX:  bytes packets errors dropped carrier collsns
         46400     580      0       8       0       0
```
"""


@pytest.mark.parametrize(
    ("ticket", "sent"),
    [
        (FAULT.format(rx=0, tx=580), "flannel.1 has sent 580"),
        (OLD, "tun0 has sent 812"),
        (STATISTICS, "vxlan.calico has sent 580"),
    ],
)
def test_a_tunnel_that_hears_nothing_is_told(ticket: str, sent: str) -> None:
    """In the words of three programs; it is possible, and says what to listen to."""
    (found,) = check(case_of_document(ticket))

    assert sent in str(found.claim)
    assert 0.7 == found.certainty
    assert "RX" in found.evidence[0].text
    assert "udp port 8472" in found.asks[0].command


@pytest.mark.parametrize(
    "ticket",
    [
        FAULT.format(rx=3, tx=580),
        FAULT.format(rx=0, tx=4),
        FAULT.format(rx=0, tx=580).replace("flannel.1", "eth0"),
        STATISTICS.replace("vxlan.calico", "docker0"),
    ],
)
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """One that heard something, one that has hardly spoken, and devices that are no tunnel."""
    assert [] == list(check(case_of_document(ticket)))

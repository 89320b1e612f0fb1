"""A port that STP holds."""

from __future__ import annotations

import pytest

from podpath.checks.links.bridge_port_blocked import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ bridge link
5: veth1@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state blocking priority 32 cost 2
```
"""  # noqa: E501
ALMOST = """\
```
$ bridge link
5: veth1@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state forwarding priority 32 cost 2
```
"""  # noqa: E501
HEALTHY = """\
```
$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "state blocking" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "veth1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A port that forwards."""
    assert [] == list(check(case_of_document(ticket)))


def test_the_ports_of_a_bridge_that_is_down_are_disabled() -> None:
    """The bridge is what was switched off; a port that still learns is on its way to forwarding."""
    ticket = """\
```
$ ip -d link
7: br0: <BROADCAST,MULTICAST> mtu 1500 qdisc noqueue state DOWN mode DEFAULT
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
    bridge forward_delay 1500
$ bridge link
5: veth1@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state disabled priority 32 cost 2
6: veth2@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br1 state learning priority 32 cost 2
```
"""  # noqa: E501
    assert [] == list(check(case_of_document(ticket)))

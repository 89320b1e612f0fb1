"""A bond that lost a slave."""

from __future__ import annotations

import pytest

from podpath.checks.links.bond_slave_down import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v5.15.0

Bonding Mode: load balancing (round-robin)
MII Status: up

Slave Interface: eno1
MII Status: down
```
"""
ALMOST = """\
```
$ cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v5.15.0

Bonding Mode: load balancing (round-robin)
MII Status: up

Slave Interface: eno1
MII Status: up
```
"""
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

    assert "MII Status: down" in found.evidence[0].text
    assert 0.7 == found.certainty
    assert "eno1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """All are up."""
    assert [] == list(check(case_of_document(ticket)))


AGGREGATORS = """\
Half of the connections to other nodes fail.

```
$ cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v5.15.0

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up

Slave Interface: eno1
MII Status: up
Aggregator ID: 1

Slave Interface: eno2
MII Status: up
Aggregator ID: {second}
```
"""


@pytest.mark.parametrize(("second", "expected"), [("2", ["1", "2"]), ("1", [])])
def test_slaves_of_two_aggregators_are_told(second: str, expected: list[str]) -> None:
    """Of one aggregator they are what they should be."""
    found = list(check(case_of_document(AGGREGATORS.format(second=second))))
    assert expected == [mark for one in found for mark in one.marks if mark.isdecimal()]

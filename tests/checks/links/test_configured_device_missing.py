"""A file that names a card of yesterday."""

from __future__ import annotations

import pytest

from podpath.checks.links.configured_device_missing import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        gateway 192.168.1.1
        bridge-ports enp3s0

$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""
ALMOST = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        bridge-ports eth0

$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""
HEALTHY = """\
```
$ cat /etc/network/interfaces
auto vmbr0
iface vmbr0 inet static
        address 192.168.1.5/24
        bridge-ports enp3s0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "enp3s0" in found.evidence[0].text
    assert 0.9 == found.certainty
    assert "enp3s0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A card that is there, and no list of the devices."""
    assert [] == list(check(case_of_document(ticket)))

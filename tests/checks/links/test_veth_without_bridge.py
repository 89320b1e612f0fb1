"""A veth that fell out of its bridge."""

from __future__ import annotations

import pytest

from podpath.checks.links.veth_without_bridge import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff
```
"""
ALMOST = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff
```
"""
HEALTHY = """\
```
$ ip link
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:02 brd ff:ff:ff:ff:ff:ff
5: veth1111@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP
    link/ether 02:42:00:00:00:03 brd ff:ff:ff:ff:ff:ff
6: veth2222@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:42:00:00:00:04 brd ff:ff:ff:ff:ff:ff

$ ip route
10.1.1.5 dev veth2222 scope host
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "veth2222" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "veth1111" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """All are ports, or one is routed."""
    assert [] == list(check(case_of_document(ticket)))

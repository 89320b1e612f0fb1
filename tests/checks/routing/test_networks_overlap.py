"""A bridge in the network of the LAN."""

from __future__ import annotations

import pytest

from podpath.checks.routing.networks_overlap import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 172.17.5.9/16 brd 10.255.255.255 scope global eth0
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 172.17.0.1/16 scope global docker0
```
"""
ALMOST = """\
```
$ ip addr
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    inet 172.18.5.9/16 brd 10.255.255.255 scope global eth0
3: docker0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    inet 172.17.0.1/16 scope global docker0
```
"""
HEALTHY = """\
```
$ ip addr
3: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN
    inet 10.244.0.0/16 scope global flannel.1
4: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UP
    inet 10.244.0.1/24 scope global cni0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "172.17.0.1/16" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "docker0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Neighbouring networks, and an overlay that holds its bridges."""
    assert [] == list(check(case_of_document(ticket)))

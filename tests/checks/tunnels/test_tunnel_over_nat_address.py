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

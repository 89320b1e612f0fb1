"""Containers on the host's own card."""

from __future__ import annotations

import pytest

from podpath.checks.links.macvlan_parent import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ docker network inspect lan
[
    {
        "Name": "lan",
        "Driver": "macvlan",
```
"""
ALMOST = """\
```
$ docker network inspect lan
[
    {
        "Name": "lan",
        "Driver": "bridge",
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

    assert "macvlan" in found.evidence[0].text
    assert 0.6 == found.certainty
    assert "macvlan" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A bridge."""
    assert [] == list(check(case_of_document(ticket)))

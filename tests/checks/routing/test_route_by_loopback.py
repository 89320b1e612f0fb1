"""A unicast route over lo."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_by_loopback import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route
default via 192.168.1.1 dev eth0
10.0.1.0/24 dev lo scope link metric 20
```
"""
ALMOST = """\
```
$ ip route show table local
local 10.0.1.0/24 dev lo proto kernel scope host
local 127.0.0.0/8 dev lo proto kernel scope host src 127.0.0.1
```
"""
HEALTHY = """\
```
$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "10.0.1.0/24 dev lo" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "10.0.1.0/24" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Local routes lead there on purpose."""
    assert [] == list(check(case_of_document(ticket)))

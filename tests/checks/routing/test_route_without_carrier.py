"""The default route over a device without carrier."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_without_carrier import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route
default via 192.168.1.1 dev eth0 metric 100 linkdown
default via 192.168.2.1 dev eth1 metric 200
```
"""
ALMOST = """\
```
$ ip route
default via 192.168.1.1 dev eth0 metric 100
default via 192.168.2.1 dev wlan0 metric 600 linkdown
```
"""
HEALTHY = """\
```
$ ip route
default via 192.168.1.1 dev eth0
172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "linkdown" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "eth0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A route that does not win, and a bridge without containers."""
    assert [] == list(check(case_of_document(ticket)))

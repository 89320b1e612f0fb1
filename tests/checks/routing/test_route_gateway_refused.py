"""A route whose gateway cannot be used."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_gateway_refused import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route add default via 10.0.5.1
Error: Nexthop has invalid gateway.
```
"""
ALMOST = """\
```
$ ip route add 10.0.0.7/8 via 10.0.5.1
Error: Invalid prefix for given prefix length.
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

    assert "invalid gateway" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "invalid gateway" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Another error has another check."""
    assert [] == list(check(case_of_document(ticket)))

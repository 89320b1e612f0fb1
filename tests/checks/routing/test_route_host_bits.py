"""A prefix with bits of a host is refused by the kernel."""

from __future__ import annotations

import pytest

from podpath.checks.routing.route_host_bits import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
adding route to local network 192.168.166.0/16 via 172.17.0.1 dev eth0
RTNETLINK answers: Invalid argument
```
"""
ALMOST = """\
```
adding route to local network 192.168.0.0/16 via 172.17.0.1 dev eth0
RTNETLINK answers: Invalid argument
```
"""
HEALTHY = """\
```
adding route to local network 192.168.166.0/24 via 172.17.0.1 dev eth0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "192.168.166.0/16" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "192.168.0.0/16" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A prefix that is one, whatever else failed."""
    assert [] == list(check(case_of_document(ticket)))

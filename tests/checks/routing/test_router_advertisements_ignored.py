"""A router that forgets its own."""

from __future__ import annotations

import pytest

from podpath.checks.routing.router_advertisements_ignored import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 1
```
"""
ALMOST = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 2
```
"""
HEALTHY = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 0
net.ipv6.conf.eth0.accept_ra = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "accept_ra" in found.evidence[0].text
    assert 0.5 == found.certainty
    assert "eth0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """It accepts them all the same, or forwards nothing."""
    assert [] == list(check(case_of_document(ticket)))

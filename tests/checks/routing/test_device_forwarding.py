"""One device that does not forward."""

from __future__ import annotations

import pytest

from podpath.checks.routing.device_forwarding import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ sysctl -a | grep forward
net.ipv4.ip_forward = 1
net.ipv4.conf.all.forwarding = 1
net.ipv4.conf.eth1.forwarding = 0
```
"""
ALMOST = """\
```
$ sysctl -a | grep forward
net.ipv4.ip_forward = 0
net.ipv4.conf.eth1.forwarding = 0
```
"""
HEALTHY = """\
```
$ sysctl -a | grep forward
net.ipv4.ip_forward = 1
net.ipv4.conf.default.forwarding = 0
net.ipv4.conf.eth1.forwarding = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "eth1.forwarding" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "eth1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A host that does not forward at all, and one that does."""
    assert [] == list(check(case_of_document(ticket)))

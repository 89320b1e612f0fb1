"""A sysctl file that switches forwarding off."""

from __future__ import annotations

import pytest

from podpath.checks.routing.forwarding_switched_off import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ cat /etc/sysctl.d/99-cis.conf
net.ipv4.ip_forward = 0
net.ipv4.conf.all.send_redirects = 0
$ sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 0
```
"""
ALMOST = """\
```
$ cat /etc/sysctl.d/99-cis.conf
net.ipv4.ip_forward = 0
$ sysctl net.ipv4.ip_forward
net.ipv4.ip_forward = 1
```
"""
HEALTHY = """\
```
$ cat /etc/sysctl.d/99-k8s.conf
net.ipv4.ip_forward = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "net.ipv4.ip_forward = 0" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "forwarding" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A file that did not come to count, and one that is right."""
    assert [] == list(check(case_of_document(ticket)))

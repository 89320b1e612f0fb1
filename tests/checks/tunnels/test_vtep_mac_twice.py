"""Two nodes with one MAC in the overlay."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.vtep_mac_twice import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ bridge fdb show dev flannel.1
8a:11:22:33:44:55 dst 10.0.0.2 self permanent
8a:11:22:33:44:55 dst 10.0.0.3 self permanent
```
"""
ALMOST = """\
```
$ bridge fdb show dev vxlan100
00:00:00:00:00:00 dst 10.0.0.2 self permanent
00:00:00:00:00:00 dst 10.0.0.3 self permanent
```
"""
HEALTHY = """\
```
$ bridge fdb show dev flannel.1
8a:11:22:33:44:55 dst 10.0.0.2 self permanent
8a:11:22:33:44:66 dst 10.0.0.3 self permanent
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "8a:11:22:33:44:55" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "10.0.0.3" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Zeros stand for every other end."""
    assert [] == list(check(case_of_document(ticket)))

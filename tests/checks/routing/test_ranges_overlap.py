"""Ranges of the cluster that overlap."""

from __future__ import annotations

import pytest

from podpath.checks.routing.ranges_overlap import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
networking:
  podSubnet: 10.96.0.0/11
  serviceSubnet: 10.96.0.0/12
```
"""
ALMOST = """\
```
networking:
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
```
"""
HEALTHY = """\
```
networking:
  podSubnet: 10.244.0.0/16
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "10.96.0.0/11" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "services" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Ranges that lie apart, and one alone."""
    assert [] == list(check(case_of_document(ticket)))

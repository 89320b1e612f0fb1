"""A list of policy rules without main."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rules_without_main import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip rule
0:	from all lookup local
32767:	from all lookup default
```
"""
ALMOST = """\
```
$ ip rule | grep default
32767:	from all lookup default
```
"""
HEALTHY = """\
```
$ ip rule
0:	from all lookup local
32766:	from all lookup main
32767:	from all lookup default
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "lookup" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "main table" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A grep hides rules."""
    assert [] == list(check(case_of_document(ticket)))

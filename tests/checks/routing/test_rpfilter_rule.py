"""The log of a reverse-path rule."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rpfilter_rule import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
[146484.816657] rpfilter_DROP: IN=wlp0s20f3 OUT= MAC=aa SRC=2001:db8::1 DST=2001:db8::2 LEN=140 PROTO=UDP
```
"""  # noqa: E501
ALMOST = """\
```
[146484.816657] FINAL_REJECT: IN=wlp0s20f3 OUT= MAC=aa SRC=192.0.2.1 DST=192.0.2.2 LEN=140 PROTO=UDP SPT=1 DPT=2
```
"""  # noqa: E501
HEALTHY = """\
```
[146484.816657] wg0: link becomes ready
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "rpfilter_DROP" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "wlp0s20f3" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Another rule's log."""
    assert [] == list(check(case_of_document(ticket)))

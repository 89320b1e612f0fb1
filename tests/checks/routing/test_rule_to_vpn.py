"""A rule that sends everything by a VPN."""

from __future__ import annotations

import pytest

from podpath.checks.routing.rule_to_vpn import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip rule
0:	from all lookup local
32765:	not from all fwmark 0xca6c lookup 51820
32766:	from all lookup main
32767:	from all lookup default
$ ip route show table 51820
default dev wg0 scope link
```
"""
ALMOST = """\
```
$ ip rule
0:	from all lookup local
100:	from 10.0.1.5 lookup 100
32766:	from all lookup main
32767:	from all lookup default
```
"""
HEALTHY = """\
```
$ ip rule
0:	from all lookup local
32764:	from all lookup main suppress_prefixlength 0
32766:	from all lookup main
32767:	from all lookup default
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "51820" in found.evidence[0].text
    assert 0.6 == found.certainty
    assert "wg0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """A rule for one source, and those of main itself."""
    assert [] == list(check(case_of_document(ticket)))

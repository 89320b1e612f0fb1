"""Two owners of one address."""

from __future__ import annotations

import pytest

from podpath.checks.links.arp_answered_twice import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ arping -c 2 -I eth0 10.0.0.5
ARPING 10.0.0.5 from 10.0.0.1 eth0
Unicast reply from 10.0.0.5 [00:11:22:33:44:55]  0.7ms
Unicast reply from 10.0.0.5 [00:11:22:33:44:66]  0.9ms
Sent 2 probes (1 broadcast(s))
Received 2 response(s)
```
"""
ALMOST = """\
```
$ arping -c 2 -I eth0 10.0.0.5
ARPING 10.0.0.5 from 10.0.0.1 eth0
Unicast reply from 10.0.0.5 [00:11:22:33:44:55]  0.7ms
Unicast reply from 10.0.0.5 [00:11:22:33:44:55]  0.9ms
Sent 2 probes (1 broadcast(s))
Received 2 response(s)
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
    """The deciding line is quoted first, and it is certain."""
    found = next(check(case_of_document(FAULT)))

    assert "00:11:22:33:44:66" in found.evidence[0].text
    assert 1.0 == found.certainty
    assert "10.0.0.5" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """One that answers twice."""
    assert [] == list(check(case_of_document(ticket)))

"""One lease for two machines."""

from __future__ import annotations

import pytest

from podpath.checks.links.lease_given_twice import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
Jul 31 23:31:47 gate dhcpd[2225]: DHCPACK on 10.0.0.226 to 08:00:27:47:64:71 (one) via enp0s3
Jul 31 23:32:00 gate dhcpd[2225]: DHCPOFFER on 10.0.0.226 to 08:00:27:38:65:f2 (two) via enp0s3
```
"""
ALMOST = """\
```
Jul 31 23:31:47 gate dhcpd[2225]: DHCPOFFER on 10.0.0.226 to 08:00:27:47:64:71 (one) via enp0s3
Jul 31 23:31:48 gate dhcpd[2225]: DHCPACK on 10.0.0.226 to 08:00:27:47:64:71 (one) via enp0s3
```
"""
HEALTHY = """\
```
Jul 31 23:31:47 gate dhcpd[2225]: DHCPACK on 10.0.0.226 to 08:00:27:47:64:71 (one) via enp0s3
Jul 31 23:32:00 gate dhcpd[2225]: DHCPACK on 10.0.0.227 to 08:00:27:38:65:f2 (two) via enp0s3
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "10.0.0.226" in found.evidence[0].text
    assert 0.8 == found.certainty
    assert "08:00:27:38:65:f2" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """One machine that asks twice, and two with an address each."""
    assert [] == list(check(case_of_document(ticket)))

"""A manager with a plugin's device."""

from __future__ import annotations

import pytest

from podpath.checks.host.managed_by_host import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cali12345  ethernet  connected               cali12345
```
"""
ALMOST = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cni0       bridge    connected (externally)  cni0
```
"""
HEALTHY = """\
```
$ nmcli device
DEVICE     TYPE      STATE                   CONNECTION
eth0       ethernet  connected               System eth0
cali12345  ethernet  unmanaged               --
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "cali12345" in found.evidence[0].text
    assert 0.5 == found.certainty
    assert "NetworkManager" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """What it only watches, and what it leaves alone."""
    assert [] == list(check(case_of_document(ticket)))

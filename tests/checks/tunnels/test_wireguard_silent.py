"""A peer that never answered."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.wireguard_silent import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ wg show
interface: wg0
  public key: abc=
  private key: (hidden)
  listening port: 51820

peer: xyz=
  endpoint: 192.0.2.4:51820
  allowed ips: 0.0.0.0/0
  transfer: 0 B received, 8.24 KiB sent
```
"""
ALMOST = """\
```
$ wg show
interface: wg0
  public key: abc=
  private key: (hidden)
  listening port: 51820

peer: xyz=
  endpoint: 192.0.2.4:51820
  allowed ips: 0.0.0.0/0
  latest handshake: 1 minute ago
  transfer: 1 KiB received, 8.24 KiB sent
```
"""
HEALTHY = """\
```
$ wg show
interface: wg0
  public key: abc=
  private key: (hidden)
  listening port: 51820

peer: xyz=
  endpoint: 192.0.2.4:51820
  allowed ips: 0.0.0.0/0
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "peer: xyz=" in found.evidence[0].text
    assert 0.7 == found.certainty
    assert "192.0.2.4:51820" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """One that shook hands, and one that nobody spoke to."""
    assert [] == list(check(case_of_document(ticket)))

"""Checksums left to an offload."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.tunnel_checksum_offload import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ethtool -k flannel.1
Features for flannel.1:
rx-checksumming: on
tx-checksumming: on
	tx-checksum-ip-generic: on
```
"""
ALMOST = """\
```
$ ethtool -k flannel.1
Features for flannel.1:
rx-checksumming: on
tx-checksumming: off
	tx-checksum-ip-generic: off
```
"""
HEALTHY = """\
```
$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "tx-checksum-ip-generic" in found.evidence[0].text
    assert 0.6 == found.certainty
    assert "flannel.1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """It is off."""
    assert [] == list(check(case_of_document(ticket)))

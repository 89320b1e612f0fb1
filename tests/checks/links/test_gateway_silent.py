"""A gateway that does not answer."""

from __future__ import annotations

import pytest

from podpath.checks.links.gateway_silent import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5

$ ip neigh
192.168.1.1 dev eth0  FAILED
192.168.1.9 dev eth0 lladdr 52:54:00:00:00:09 REACHABLE
```
"""
ALMOST = """\
```
$ ip route
default via 192.168.1.1 dev eth0
192.168.1.0/24 dev eth0 proto kernel scope link src 192.168.1.5

$ ip neigh
192.168.1.1 dev eth0 lladdr 52:54:00:00:00:fe STALE
192.168.1.9 dev eth0  FAILED
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
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "192.168.1.1 dev eth0" in found.evidence[0].text
    assert 0.9 == found.certainty
    assert "192.168.1.1" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """Another neighbour is gone, as they come and go."""
    assert [] == list(check(case_of_document(ticket)))


@pytest.mark.parametrize(
    ("switch", "general", "blamed"), [("0", "0", True), ("1", "0", False), ("0", "1", False)]
)
def test_a_pods_gateway_that_no_device_has_is_answered_for_by_the_host(
    switch: str, general: str, *, blamed: bool
) -> None:
    """Where the host's switches are off, they are the cause; whose device it is the ticket does
    not say.
    """
    ticket = f"""
Pods of this node reach nothing.

```
root@n3:~# kubectl exec -it web-0 -- sh -c 'ip route; ip neigh'
default via 169.254.1.1 dev eth0
169.254.1.1 dev eth0 scope link
169.254.1.1 dev eth0  FAILED
root@n3:~# sysctl net.ipv4.conf.all.proxy_arp net.ipv4.conf.cali3b1f04a6c2e.proxy_arp
net.ipv4.conf.all.proxy_arp = {general}
net.ipv4.conf.cali3b1f04a6c2e.proxy_arp = {switch}
```
"""
    (finding,) = check(case_of_document(ticket))

    assert blamed == any("proxy_arp" in span.text for span in finding.evidence)
    assert finding.certainty < 1

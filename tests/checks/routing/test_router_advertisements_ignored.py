"""A router that forgets its own."""

from __future__ import annotations

import pytest

from podpath.checks.routing.router_advertisements_ignored import check
from tests.assembly.evidence_text import case_of_document

FAULT = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 1
```
"""
ALMOST = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 2
```
"""
HEALTHY = """\
```
$ sysctl -a | grep ipv6
net.ipv6.conf.all.forwarding = 0
net.ipv6.conf.eth0.accept_ra = 1
```
"""


def test_the_fault_is_told_with_its_line() -> None:
    """The deciding line is quoted first, and it is possible."""
    found = next(check(case_of_document(FAULT)))

    assert "accept_ra" in found.evidence[0].text
    assert 0.5 == found.certainty
    assert "eth0" in str(found.claim)


@pytest.mark.parametrize("ticket", [ALMOST, HEALTHY])
def test_what_only_looks_like_it_is_let_be(ticket: str) -> None:
    """It accepts them all the same, or forwards nothing."""
    assert [] == list(check(case_of_document(ticket)))


UNREACHABLE = """\
```
$ ip -6 route
{routes}
$ sysctl net.ipv6.conf.all.forwarding net.ipv6.conf.eth0.accept_ra
net.ipv6.conf.all.forwarding = 1
net.ipv6.conf.eth0.accept_ra = 1
$ ping6 2001:db8:9::1
connect: Network is unreachable
```
"""
OWN = "fe80::/64 dev eth0 proto kernel metric 256 pref medium"
DEFAULT = "default via fe80::1 dev eth0 proto ra metric 1024 expires 1791sec hoplimit 64"


def test_a_host_without_its_default_route_says_so() -> None:
    """The routes have none, and the host itself refuses: nothing is left open."""
    found = next(check(case_of_document(UNREACHABLE.format(routes=OWN))))

    assert found.certainty == 1
    assert "connect: Network is unreachable" in [span.text for span in found.evidence]


def test_a_default_route_that_is_still_there_leaves_it_open() -> None:
    """It may expire, or somebody else may say so."""
    found = next(check(case_of_document(UNREACHABLE.format(routes=f"{OWN}\n{DEFAULT}"))))

    assert found.certainty == 0.5


def test_a_refusal_of_ipv4_says_nothing_of_advertisements() -> None:
    """The routes of the other family are not listed."""
    ticket = UNREACHABLE.format(routes=OWN).replace("ping6 2001:db8:9::1", "ping 198.51.100.9")
    found = next(check(case_of_document(ticket)))

    assert found.certainty == 0.5

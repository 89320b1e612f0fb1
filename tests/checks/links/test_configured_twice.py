"""A device with a static and a leased address."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.links.configured_twice import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

```
# ip addr show ens3
2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    link/ether fa:16:3e:11:22:33 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.10/24 brd 192.0.2.255 scope global ens3
       valid_lft forever preferred_lft forever
    inet {leased} brd 192.0.2.255 scope global secondary {word} ens3
       valid_lft 3400sec preferred_lft 3400sec
# ip route
default via 192.0.2.1 dev ens3 proto dhcp src 192.0.2.77 metric 100
192.0.2.0/24 dev ens3 proto kernel scope link src 192.0.2.10
{route}
# uname -r
6.1.0
```
"""
WRONG = "Peers see connections come from the wrong source address."
ROUTE = "192.0.2.0/24 dev ens3 proto kernel scope link src 192.0.2.77 metric 100"


def findings(
    complaint: str, leased: str = "192.0.2.77/24", word: str = "dynamic", route: str = ROUTE
) -> list[Finding]:
    """Return what is found in a ticket with one device."""
    text = TICKET.format(complaint=complaint, leased=leased, word=word, route=route)
    return list(check(ticket_of(text)))


def test_two_addresses_with_a_route_each() -> None:
    """It is certain where somebody complains of a wrong source."""
    (finding,) = findings(WRONG)

    assert 1.0 == finding.certainty
    assert 4 == len(finding.evidence)


@pytest.mark.parametrize(
    "complaint", ["Pods cannot resolve names.", "Connections to 192.0.2.10 are refused."]
)
def test_another_complaint_leaves_it_open(complaint: str) -> None:
    """The host may work with both."""
    (finding,) = findings(complaint)

    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("leased", "word", "route"),
    [
        ("192.0.2.77/24", "", ROUTE),
        ("192.0.2.77/32", "dynamic", ROUTE),
        ("198.51.100.7/24", "dynamic", ROUTE),
        ("192.0.2.77/24", "dynamic", "198.51.100.0/24 via 192.0.2.1 dev ens3"),
    ],
)
def test_a_virtual_address_is_healthy(leased: str, word: str, route: str) -> None:
    """Two static ones, another network, and one route for both."""
    assert not findings(WRONG, leased, word, route)

"""A wide network of a device covers what is behind a router."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.routing.network_too_wide import check
from tests.checks.pasted import ticket_of

TICKET = """\
Nothing on the host reaches 10.20.30.40.

```
$ ip route
default via 192.168.65.1 dev eth0
{route}
192.168.65.0/24 dev eth0 proto kernel scope link src 192.168.65.3
{more}
```
"""
WIDE = "10.0.0.0/8 dev eth1 proto kernel scope link src 10.0.75.2"


def findings(route: str, more: str = "") -> list[Finding]:
    """Return what is found with a route beside the default one."""
    return list(check(ticket_of(TICKET.format(route=route, more=more))))


def test_the_route_takes_what_fails() -> None:
    """It stays possible: the address may be there, and silent."""
    (finding,) = findings(WIDE)

    assert WIDE == finding.evidence[0].text.strip()
    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("route", "more"),
    [
        ("10.20.30.0/24 dev eth1 proto kernel scope link src 10.20.30.2", ""),
        ("10.0.0.0/8 via 10.0.75.1 dev eth1", ""),
        ("10.0.0.0/8 dev tun0 proto kernel scope link src 10.0.75.2", ""),
        ("10.0.0.0/8 dev docker0 proto kernel scope link src 10.0.75.2", ""),
        ("10.0.0.0/14 dev eth1 proto kernel scope link src 10.0.75.2", ""),
        (WIDE, "10.20.0.0/16 via 192.168.65.9 dev eth0"),
        (WIDE, "$ ip neigh\n10.20.30.40 dev eth1 lladdr 02:00:00:00:00:09 REACHABLE"),
    ],
)
def test_a_route_that_is_not_too_wide(route: str, more: str) -> None:
    """A usual length, a gateway, a VPN, a bridge of containers, another range, a longer route,
    and a neighbor that answers.
    """
    assert not findings(route, more)


def test_the_network_of_the_container_that_asks_is_no_detour() -> None:
    """An address behind `from` is who asks, and a bridge by its engine's name is the container's
    own.
    """
    asked = TICKET.replace("Nothing on the host reaches 10.20.30.40", "{}").format
    route = "10.20.0.0/16 dev {} proto kernel scope link src 10.20.0.1"
    told = "From container 10.20.30.40 nothing reaches 192.0.2.9 (timeout)"
    by_vlan = asked(told, route=route.format("eth0.20"), more="")
    on_bridge = asked(
        "Nothing on the host reaches 10.20.30.40", route=route.format("br-12ab"), more=""
    )

    assert [] == [*check(ticket_of(by_vlan)), *check(ticket_of(on_bridge))]

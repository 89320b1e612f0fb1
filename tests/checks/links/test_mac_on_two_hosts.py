"""Cards of two hosts with one MAC."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.links.mac_on_two_hosts import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

{first}

```
$ ip addr show dev eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    link/ether {mac} brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.10/24 brd 192.0.2.255 scope global eth0
```

{second}

```
$ ip addr show dev eth0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
    inet {address} brd 192.0.2.255 scope global eth0
```
"""
FAILS = "Connections to either of the two boxes break off."


def findings(
    complaint: str = FAILS,
    first: str = "node1:",
    second: str = "node2:",
    mac: str = "52:54:00:12:34:56",
    address: str = "192.0.2.11/24",
) -> list[Finding]:
    """Return what is found in a ticket with the cards of two hosts."""
    text = TICKET.format(complaint=complaint, first=first, second=second, mac=mac, address=address)
    return list(check(ticket_of(text)))


@pytest.mark.parametrize(
    ("first", "second"),
    [("node1:", "node2:"), ("On web-a1:", "On web-b1:"), ("Host 188:", "Host 189:")],
)
def test_one_mac_of_two_named_hosts(first: str, second: str) -> None:
    """Both devices are quoted."""
    (finding,) = findings(first=first, second=second)

    assert (1.0, 2) == (finding.certainty, len(finding.evidence))


@pytest.mark.parametrize(
    ("complaint", "address"), [("All is well.", "192.0.2.11/24"), (FAILS, "198.51.100.7/24")]
)
def test_hosts_that_may_be_apart_leave_it_open(complaint: str, address: str) -> None:
    """Behind a router nobody minds."""
    (finding,) = findings(complaint, address=address)

    assert finding.certainty < 1


@pytest.mark.parametrize(
    ("first", "second", "mac", "address"),
    [
        ("Before:", "After the change:", "52:54:00:12:34:56", "192.0.2.11/24"),
        ("node1:", "node1:", "52:54:00:12:34:56", "192.0.2.11/24"),
        ("node1:", "node2:", "52:54:00:12:34:57", "192.0.2.11/24"),
        ("node1:", "node2:", "52:54:00:12:34:56", "192.0.2.10/24"),
    ],
)
def test_one_host_in_two_states_has_its_own(
    first: str, second: str, mac: str, address: str
) -> None:
    """So has a host that is shown twice, and one whose MAC is another."""
    assert not findings(first=first, second=second, mac=mac, address=address)

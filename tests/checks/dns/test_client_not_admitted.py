"""Clients whose network a resolver's access list does not have."""

from __future__ import annotations

import pytest

from podpath.checks.dns.client_not_admitted import check
from tests.checks.pasted import ticket_of

TICKET = """\
Machines behind the VPN (10.77.0.0/24) get no names from our resolver{others}.

```
$ dig @192.168.20.2 example.net | grep status
;; ->>HEADER<<- opcode: QUERY, status: {status}, id: 31044
resolver# cat /etc/unbound/unbound.conf
server:
    access-control: 127.0.0.0/8 allow
    access-control: {network} {action}
```
"""
OTHERS = ", those in the house (192.168.20.0/24) do"


@pytest.mark.parametrize(
    ("others", "status", "network", "action", "certainties"),
    [
        (OTHERS, "REFUSED", "192.168.20.0/24", "allow", [1.0]),
        ("", "REFUSED", "192.168.20.0/24", "allow", [0.8]),
        ("", "REFUSED", "10.77.0.0/16", "allow", []),
        (OTHERS, "NOERROR", "192.168.20.0/24", "allow", []),
    ],
    ids=["others", "alone", "allowed", "answered"],
)
def test_a_network_that_no_line_allows(
    others: str, status: str, network: str, action: str, certainties: list[float]
) -> None:
    """Certain where a query was refused, and who is allowed gets names."""
    text = TICKET.format(others=others, status=status, network=network, action=action)

    assert certainties == [one.certainty for one in check(ticket_of(text))]

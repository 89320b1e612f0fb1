"""Routes to a pool's blocks that leave by the card although the pool says IPIP."""

from __future__ import annotations

import pytest

from podpath.checks.tunnels.ipip_not_used import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
# ip route
default via 172.21.5.1 dev ens3
{route}
blackhole 10.180.12.64/26 proto bird
# calicoctl get ippool main -o yaml | grep -E 'cidr|ipipMode'
  cidr: 10.180.0.0/16
  ipipMode: {mode}
```
"""
LOST = "Pods of hazel-1 do not reach those of hazel-2."
BY_CARD = "10.180.44.0/26 via 172.21.5.1 dev ens3 proto bird"


@pytest.mark.parametrize(
    ("said", "route", "mode", "expected"),
    [
        (LOST, BY_CARD, "Always", 1),
        (LOST, BY_CARD, "CrossSubnet", 0),
        (LOST, BY_CARD, "Never", 0),
        (LOST, "10.180.44.0/26 via 172.21.5.12 dev tunl0 proto bird onlink", "Always", 0),
        (LOST, "10.180.44.0/26 via 172.21.5.1 dev ens3 proto static", "Always", 0),
        (LOST, "10.190.44.0/26 via 172.21.5.1 dev ens3 proto bird", "Always", 0),
        ("Pods of hazel-1 reach those of hazel-2.", BY_CARD, "Always", 0),
    ],
)
def test_a_route_by_the_card(said: str, route: str, mode: str, expected: int) -> None:
    """The agent's own route to a block of that pool, where packets are lost."""
    found = list(check(ticket_of(TICKET.format(said=said, route=route, mode=mode))))

    assert expected == len(found)
    assert all("ens3" in one.evidence[0].text for one in found)

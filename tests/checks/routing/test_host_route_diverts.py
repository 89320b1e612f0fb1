"""Routes to single addresses that fail."""

from __future__ import annotations

import pytest

from podpath.checks.routing.host_route_diverts import check
from tests.checks.pasted import ticket_of

TICKET = """\
From node k1 one pod, 10.244.2.9, is unreachable.

```
# ip route
default via 192.168.10.1 dev eth0
10.244.2.0/24 via 192.168.10.12 dev eth0
{route}
192.168.10.0/24 dev eth0 proto kernel scope link src 192.168.10.11
```
"""


def test_both_routes_are_quoted() -> None:
    """The longer one first, and it is possible."""
    route = "10.244.2.9 via 192.168.10.77 dev eth0"
    (found,) = check(ticket_of(TICKET.format(route=route)))

    assert [route, "10.244.2.0/24 via 192.168.10.12 dev eth0"] == [
        span.text for span in found.evidence
    ]
    assert (0.5, 1) == (found.certainty, len(found.asks))


@pytest.mark.parametrize(
    "route",
    [
        "10.244.2.8 via 192.168.10.77 dev eth0",
        "10.244.2.9 via 192.168.10.12 dev eth0",
        "10.244.2.9 via 192.168.10.77 dev eth0 proto bird",
        "10.244.2.9 dev cali123 scope link",
        "10.244.7.0/24 via 192.168.10.77 dev eth0",
    ],
    ids=["another", "same-way", "announced", "own-pod", "network"],
)
def test_what_only_looks_like_it_is_let_be(route: str) -> None:
    """A route to an address that works, one by the same gateway, those that plugins set."""
    assert [] == list(check(ticket_of(TICKET.format(route=route))))

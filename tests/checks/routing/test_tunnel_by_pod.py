"""Routes into a tunnel by a pod's address."""

from __future__ import annotations

import pytest

from podpath.checks.routing.tunnel_by_pod import check
from tests.checks.pasted import ticket_of

ENDS = "Ping from 10.122.17.64 (node 192.168.3.110) to 10.122.127.128 (node 192.168.3.112) fails."


def certainties(prose: str, route: str) -> list[float]:
    """Return how sure the findings of a ticket with this route are."""
    text = f"{prose}\n\n```\n# ip route\n{route}\n```\n"
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    "route",
    [
        "10.122.17.64/26 via 10.122.127.128 dev tunl0",
        "10.122.17.64/26 via 10.122.127.128 dev tunl0 proto bird onlink",
        "10.122.0.0/19 via 10.122.127.128 dev tunl0",
        "10.122.17.64 via 10.122.127.128 dev ipip1",
    ],
)
def test_the_next_hop_is_the_other_end_itself(route: str) -> None:
    """Whatever the range and the device are called."""
    assert [1.0] == certainties(ENDS, route)


BARE = "Ping from 10.122.17.64 to 10.122.127.128 fails."
HOP = "10.122.17.64/26 via 10.122.127.128 dev tunl0"


@pytest.mark.parametrize(
    ("route", "certainty"),
    [
        (HOP, 0.6),
        (f"{HOP}\n10.122.127.128 dev cali1234 scope link", 1.0),
        (f"{HOP}\n10.122.127.128/26 via 192.168.3.112 dev tunl0", 1.0),
        (f"{HOP}\n10.122.127.0/24 dev eth0 scope link", 0.6),
    ],
)
def test_a_next_hop_that_may_be_a_node(route: str, certainty: float) -> None:
    """Nodes may live in one range with pods: a route to pods, or the sentence, tells them apart."""
    assert [certainty] == certainties(BARE, route)


@pytest.mark.parametrize(
    ("prose", "route"),
    [
        (ENDS, "10.122.17.64/26 via 192.168.3.110 dev tunl0 proto bird onlink"),
        (ENDS, "10.122.17.64/26 via 10.122.127.128 dev eth0"),
        (ENDS, "10.122.17.0/24 via 10.122.127.128 dev flannel.1 onlink"),
        (ENDS, "default via 10.122.127.128 dev tunl0"),
        ("Ping from 10.1.0.1 to 10.2.0.1 fails.", "10.122.17.64/26 via 10.122.127.128 dev tunl0"),
    ],
)
def test_right_next_hops_and_other_devices(prose: str, route: str) -> None:
    """A node's address; a plain route; VXLAN, whose next hops are in pod ranges; other ends."""
    assert [] == certainties(prose, route)

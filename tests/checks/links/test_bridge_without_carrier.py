"""Bridges for containers of which no port is up."""

from __future__ import annotations

import pytest

from podpath.checks.links.bridge_without_carrier import check
from tests.checks.pasted import ticket_of

LOST = (
    "# ping -c1 10.244.0.5\n"
    "PING 10.244.0.5 (10.244.0.5) 56(84) bytes of data.\n"
    "From 10.244.0.1 icmp_seq=1 Destination Host Unreachable\n"
)
ROUTE = "# ip route\n10.244.0.0/24 dev cni0 proto kernel scope link src 10.244.0.1 linkdown\n"
LINK = (
    "# ip -br link show cni0\ncni0  DOWN  3e:11:22:33:44:55 <NO-CARRIER,BROADCAST,MULTICAST,UP>\n"
)
UP = "# ip -br link show cni0\ncni0  UP  3e:11:22:33:44:55 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"


def _marks(shown: str) -> list[tuple[str, ...]]:
    case = ticket_of(f"The pod does not answer.\n\n```\n{shown}```\n")
    return [one.marks for one in check(case)]


@pytest.mark.parametrize(
    "shown", [LOST + ROUTE, LOST + LINK + ROUTE.replace(" linkdown", "")], ids=["route", "device"]
)
def test_either_line_tells(shown: str) -> None:
    """A route's flag, or the device's own."""
    assert [("cni0",)] == _marks(shown)


@pytest.mark.parametrize(
    "shown",
    [
        LOST + UP + ROUTE.replace(" linkdown", ""),
        LOST.replace("10.244.0.5", "10.244.9.5") + ROUTE,
        ROUTE,
        LOST + ROUTE.replace("cni0", "eth7"),
    ],
    ids=["up", "another range", "nothing lost", "a card"],
)
def test_what_only_looks_like_it_is_let_be(shown: str) -> None:
    """A bridge with a carrier, an idle one, and what is no bridge for containers."""
    assert [] == _marks(shown)

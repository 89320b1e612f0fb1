"""Routes of one prefix and one metric, of which the kernel uses the first."""

from __future__ import annotations

import pytest

from podpath.checks.routing.routes_compete import check
from tests.checks.pasted import ticket_of

HEAD = "Destination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
FIRST = "default via {} dev eth1\ndefault via 192.168.1.1 dev eth0\n"
NETS = "10.9.0.0/24 dev eth1 proto kernel scope link src 10.9.0.5\n"


def certainties(prose: str, routes: str) -> list[float]:
    """Return how sure the findings of a ticket with these routes are."""
    return [one.certainty for one in check(ticket_of(f"{prose}\n\n```\n{routes}```\n"))]


@pytest.mark.parametrize(
    ("prose", "sure"),
    [
        ("Since eth1 was added the host cannot reach the Internet.", True),
        ("The host has no Internet since a second network card was set up.", False),
    ],
)
def test_two_default_routes(prose: str, sure: bool) -> None:  # noqa: FBT001 # a row
    """Certain where the sentence is about the device of the first; else either may be the wrong
    one.
    """
    assert [1.0 if sure else 0.6] == certainties(
        prose, "# ip route\n" + FIRST.format("10.9.0.1") + NETS
    )


@pytest.mark.parametrize(
    ("gateway_first", "found"), [(True, [1.0]), (False, [0.6])], ids=["gateway", "connected"]
)
def test_a_connected_network_and_a_gateway_to_it(
    gateway_first: bool,  # noqa: FBT001 # a row
    found: list[float],
) -> None:
    """Whoever is listed first carries the packets."""
    rows = [
        "10.1.1.0        10.1.1.1        255.255.255.0   UG    0      0        0 eth1\n",
        "10.1.1.0        0.0.0.0         255.255.255.0   U     0      0        0 eth1\n",
    ]
    routes = (
        "# route -n\nKernel IP routing table\n"
        + HEAD
        + "".join(rows if gateway_first else rows[::-1])
    )

    assert found == certainties("The host 10.1.1.7 cannot be reached.", routes)


@pytest.mark.parametrize(
    ("prose", "routes"),
    [
        (
            "Since eth1 was added the Internet cannot be reached.",
            "default via 10.9.0.1 dev eth1 metric 100\ndefault via 192.168.1.1 dev eth0\n",
        ),
        ("A host with two cards.", FIRST.format("10.9.0.1")),
        ("Since eth1 was added the Internet cannot be reached.", FIRST.format("192.168.1.1")),
        ("The page answers with 502.", FIRST.format("10.9.0.1")),
    ],
    ids=["another metric", "nobody complains", "one gateway", "answered"],
)
def test_what_does_not_compete(prose: str, routes: str) -> None:
    """Metrics tell them apart; a failure that is answered is none of routes."""
    assert not certainties(prose, f"# ip route\n{routes}")


def test_two_cards_in_one_network() -> None:
    """Each has an address of its own and the same gateway: answers of the second leave by the
    first.
    """
    routes = (
        "default via 10.9.0.1 dev eth1 proto dhcp src 10.9.0.6 metric 1024\n"
        "default via 10.9.0.1 dev eth0 proto dhcp src 10.9.0.5 metric 1024\n"
    )

    assert [0.6] == certainties("The host does not answer.", "# ip route\n" + routes)


RANKED = """\
default via 172.31.98.1 dev wlan0 metric 50
default via 192.168.1.1 dev eth0 metric 100
"""


@pytest.mark.parametrize(
    ("prose", "routes", "expected"),
    [
        ("The laptop cannot reach the Internet.", RANKED, [0.5]),
        ("The laptop cannot reach the Internet.", RANKED.replace("wlan0", "eth2"), []),
        (
            "Since eth2 was added the host cannot reach the Internet.",
            RANKED.replace("wlan0", "eth2"),
            [0.5],
        ),
        ("The laptop cannot reach the Internet.", RANKED.replace("wlan0", "eth0"), []),
    ],
)
def test_a_lower_metric_puts_one_before_the_other(
    prose: str, routes: str, expected: list[float]
) -> None:
    """Which of them leads to the world, nothing states."""
    assert expected == certainties(prose, routes)


def test_two_listings_are_no_pair() -> None:
    """Each may be another host's, or of another moment."""
    one, other = FIRST.format("10.9.0.1").splitlines()
    prose = "Since eth1 was added the host cannot reach the Internet."
    listings = f"# ip route\n{one}\n{NETS}# ip route\n{other}\n"

    assert [] == certainties(prose, listings)

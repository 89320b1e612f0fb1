"""Routes at which the lookup ends."""

from __future__ import annotations

import pytest

from podpath.checks.routing.dead_end_route import check
from tests.checks.pasted import ticket_of

SAID = "kubectl logs fails: dial tcp 10.30.4.9:10250: connect: no route to host."
ROUTES = """\
default via 10.30.1.1 dev ens3
10.30.1.0/24 dev ens3 proto kernel scope link src 10.30.1.10
unreachable 10.30.4.0/24 proto bird
"""


def told(said: str = SAID, routes: str = ROUTES, show: str = "ip route") -> list[float]:
    """Return how sure each finding is; what is not certain asks."""
    found = list(check(ticket_of(f"{said}\n\n```\n# {show}\n{routes}# hostname\nm1\n```\n")))
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return [one.certainty for one in found]


def test_the_error_is_that_of_the_route() -> None:
    """Nothing else makes it where one machine is shown; a blackhole is as silent as a firewall."""
    silent = ROUTES.replace("unreachable", "blackhole")

    assert [1.0] == told()
    assert [1.0] == told(SAID.replace("no route to host", "invalid argument"), silent)
    assert [0.9] == told("The host does not reach 10.30.4.9.")
    assert [0.9] == told("10.30.4.9 times out from the host.", silent)


@pytest.mark.parametrize(
    ("said", "routes", "show"),
    [
        (SAID, ROUTES + "10.30.4.0/25 via 10.30.1.4 dev ens3 proto bird\n", "ip route"),
        (SAID, ROUTES.replace("10.30.4.0/24", "10.30.5.0/24"), "ip route"),
        (SAID, ROUTES.replace("unreachable", "blackhole"), "ip route"),
        (
            SAID,
            ROUTES.partition("unreachable")[2].join(("unreachable", "")),
            "ip route | grep bird",
        ),
        ("10.30.4.9 refuses connections.", ROUTES, "ip route"),
        ("The host reaches 10.30.4.9.", ROUTES, "ip route"),
    ],
    ids=["longer", "other", "other-error", "a-part", "refused", "works"],
)
def test_what_another_route_takes_or_another_error_tells(said: str, routes: str, show: str) -> None:
    """A longer route wins, and a part of the list may leave one out."""
    assert not told(said, routes, show)


def test_a_table_that_is_asked_before_main_leaves_it_open() -> None:
    """It may have a way there."""
    rules = "0: from all lookup local\n100: from all lookup 77\n32766: from all lookup main\n"

    table = "# ip route show table 77\n10.30.0.0/16 via 10.30.1.4 dev ens3\n"

    assert [0.9] == told(show=f"ip rule\n{rules}{table}# ip route")


RANGE = "$ kubectl cluster-info dump | grep -m1 service-cluster-ip-range\n"
SERVICES = '"--service-cluster-ip-range=10.96.0.0/16",\n'


@pytest.mark.parametrize(
    ("said", "route", "certainty"),
    [
        ("Host-network programs of the node reach no service; pods do.", "10.96.0.0/16", [1.0]),
        ("Host-network programs of the node reach no service.", "10.96.0.0/12", [0.9]),
        ("Host-network programs of the node reach no service.", "10.96.4.0/24", []),
        ("Pods reach no service.", "10.96.0.0/16", []),
        ("Host-network programs of the node reach no service.", "10.96.0.0/16 table 100", []),
        (
            "Host-network programs of the node reach no service.",
            "10.96.0.0/12 proto bird\n10.96.0.0/14 via 10.30.1.4 dev ens3",
            [],
        ),
    ],
)
def test_a_blackhole_for_all_services(said: str, route: str, certainty: list[float]) -> None:
    """What the host itself sends is looked up before it is translated."""
    routes = f"blackhole {route}\n{RANGE}{SERVICES}"

    assert certainty == told(said, routes, "ip route | grep bird")


def test_a_range_of_services_that_is_none_says_nothing() -> None:
    """A length of 99 is a slip."""
    said = "Host-network programs of the node reach no service; pods do."
    routes = f"blackhole 10.96.0.0/16 proto bird\n{RANGE}{SERVICES.replace('/16', '/99')}"

    assert [] == told(said, routes, "ip route | grep bird")

"""Routes that leave Docker no range."""

from __future__ import annotations

import pytest

from podpath.checks.routing.pools_covered import check
from tests.checks.pasted import ticket_of

FAILS = "Docker does not start."
HALVES = "0.0.0.0/1 via 10.8.0.5 dev tun0\n128.0.0.0/1 via 10.8.0.5 dev tun0\n"
PRIVATE = "unreachable 192.168.0.0/16 metric 999\nunreachable 172.16.0.0/12 metric 999\n"


def _ticket(said: str, routes: str) -> str:
    return f"{said}\n\n```\n# ip route\ndefault via 192.168.1.1 dev eth0\n{routes}```\n"


@pytest.mark.parametrize(
    ("routes", "quoted"), [(HALVES, 1), (PRIVATE, 2)], ids=["halves", "private"]
)
def test_the_routes_are_quoted(routes: str, quoted: int) -> None:
    """Those that cover a range; possible, for newer versions look at fewer routes."""
    (found,) = check(ticket_of(_ticket(FAILS, routes)))

    assert (0.6, quoted) == (found.certainty, len(found.evidence))


@pytest.mark.parametrize(
    ("said", "routes"),
    [
        (FAILS, ""),
        (FAILS, "unreachable 172.16.0.0/12 metric 999\n"),
        ("Docker starts.", HALVES),
        ("The program nginx does not start.", HALVES),
        (FAILS, HALVES + "# dmesg\n[9.1] nf_conntrack: table full, dropping packet\n"),
    ],
    ids=["default", "half", "starts", "another", "says"],
)
def test_what_only_looks_like_it_is_let_be(said: str, routes: str) -> None:
    """The default route counts for nothing, and one range is enough to start."""
    assert [] == list(check(ticket_of(_ticket(said, routes))))

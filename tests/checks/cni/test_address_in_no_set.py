"""Pods that no IP set holds."""

from __future__ import annotations

import pytest

from podpath.checks.cni.address_in_no_set import check
from tests.checks.pasted import ticket_of

FAILS = "Calico. A NetworkPolicy allows the client (10.244.194.66), yet it times out."
SEARCH = "# ipset list | grep 10.244.194.66\n"
END = "# uptime\n 10:00:00 up 3 days,  1:02,  1 user,  load average: 0.1, 0.1, 0.1\n"


def _ticket(said: str, search: str) -> str:
    return f"{said}\n\n```\n{search}{END}```\n"


def test_the_search_is_quoted() -> None:
    """It is possible, and the question is whether Calico knows the pod."""
    (found,) = check(ticket_of(_ticket(FAILS, SEARCH)))

    assert "ipset list" in found.evidence[0].text
    assert (0.7, ("10.244.194.66",)) == (found.certainty, found.marks)


@pytest.mark.parametrize(
    ("said", "search"),
    [
        (FAILS, SEARCH + "10.244.194.66\n"),
        (FAILS, SEARCH.replace("10.244.194.66", "cali40")),
        (FAILS.replace("Calico", "Weave"), SEARCH),
        (FAILS.replace("A NetworkPolicy allows the", "The"), SEARCH),
        (FAILS.replace("times out", "works"), SEARCH),
    ],
    ids=["held", "name", "weave", "no-policy", "works"],
)
def test_what_only_looks_like_it_is_let_be(said: str, search: str) -> None:
    """A set holds it, or nobody speaks of policies."""
    assert [] == list(check(ticket_of(_ticket(said, search))))

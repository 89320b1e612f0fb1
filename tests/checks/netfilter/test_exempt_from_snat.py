"""Exceptions from the translation of sources that keep pods from an answer."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.exempt_from_snat import check
from tests.checks.pasted import ticket_of

SAID = "Pods cannot reach the database at 10.50.3.3."
RULES = (
    "node$ iptables -t nat -S POSTROUTING\n"
    "-P POSTROUTING ACCEPT\n"
    "-A POSTROUTING -d 10.0.0.0/8 -j RETURN\n"
    "-A POSTROUTING -s 100.64.0.0/16 -j MASQUERADE\n"
)
POD = (
    "node$ kubectl exec app -- nc -zv -w3 10.50.3.3 5432\n"
    "nc: connect to 10.50.3.3 port 5432 (tcp) timed out: Operation now in progress\n"
)
NODE = (
    "node$ nc -zv 10.50.3.3 5432\nConnection to 10.50.3.3 5432 port [tcp/postgresql] succeeded!\n"
)


def _marks(*shown: str) -> list[tuple[str, ...]]:
    case = ticket_of(f"{SAID}\n\n```\n{''.join(shown)}```\n")
    return [one.marks for one in check(case)]


def test_the_exception_is_named() -> None:
    """The node's own address is what the far side answers."""
    assert [("10.0.0.0/8",)] == _marks(RULES, POD, NODE)


@pytest.mark.parametrize(
    "shown",
    [
        (RULES, POD),
        (RULES.replace("10.0.0.0/8", "10.60.0.0/16"), POD, NODE),
        (RULES.replace("-d 10.0.0.0/8", "-d 10.0.0.0/8 -p udp"), POD, NODE),
        (RULES.replace("-d 10.0.0.0/8", "! -d 10.0.0.0/8"), POD, NODE),
        ("\n".join((*RULES.splitlines()[:2], *RULES.splitlines()[:1:-1], "")), POD, NODE),
    ],
    ids=["node not tried", "another range", "udp", "all others", "below"],
)
def test_what_only_looks_like_it_is_let_be(shown: tuple[str, ...]) -> None:
    """An exception for something else, one that stands below, and nothing to compare with."""
    assert [] == _marks(*shown)

"""A table with a default route that no rule looks up."""

from __future__ import annotations

import pytest

from podpath.checks.routing.table_unused import check
from tests.checks.pasted import ticket_of

SAID = "Pods of the second interface cannot reach the Internet, they time out."
RULES = (
    "root@n1:~# ip rule\n"
    "0:\tfrom all lookup local\n"
    "512:\tfrom all to 10.0.14.22 lookup main\n"
    "32766:\tfrom all lookup main\n"
    "32767:\tfrom all lookup default\n"
)
TABLE = (
    "root@n1:~# ip route show table 2\n"
    "default via 10.0.12.1 dev eth1\n"
    "10.0.12.1 dev eth1 scope link\n"
)
USED = "1536:\tfrom 10.0.14.22 lookup 2\n"


def _names(said: str, shown: str) -> list[str]:
    case = ticket_of(f"{said}\n\n```\n{shown}```\n")
    return [one.marks[0] for one in check(case)]


def test_it_is_told_with_its_device() -> None:
    """The table's default route is by the second device."""
    assert ["eth1"] == _names(SAID, RULES + TABLE)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (SAID, RULES + USED + TABLE),
        (SAID, TABLE),
        (SAID, RULES.replace("ip rule", "ip rule | grep lookup") + TABLE),
        (SAID, RULES + TABLE.replace("default via 10.0.12.1", "10.9.0.0/16 via 10.0.12.1")),
        ("Pods of the second interface reach the Internet.", RULES + TABLE),
    ],
    ids=["used", "no rules", "some rules", "no default", "works"],
)
def test_what_only_looks_like_it_is_let_be(said: str, shown: str) -> None:
    """A rule that names it, a list that may have one, and a table that leads to one network."""
    assert [] == _names(said, shown)

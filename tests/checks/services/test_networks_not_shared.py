"""Containers that ask for a name which no network of theirs has."""

from __future__ import annotations

import pytest

from podpath.checks.services.networks_not_shared import check
from tests.checks.pasted import ticket_of

ASKS = "$ docker exec web ping db\nping: bad address 'db'\n"
INSPECTED = (
    "$ docker inspect web --format '{{json .NetworkSettings.Networks}}'\n"
    '{"app_front":{"IPAddress":"172.20.0.3"}}\n'
    "$ docker inspect db --format '{{json .NetworkSettings.Networks}}'\n"
    '{"app_back":{"IPAddress":"172.21.0.2"}}\n'
)
COMPOSE = """\
$ cat docker-compose.yml
services:
  web:
    image: web
    networks: [front]
  db:
    image: db
    networks: [back]
networks:
  front:
  back:
"""


def _marks(shown: str) -> list[tuple[str, ...]]:
    case = ticket_of(f"The container web cannot reach db by name.\n\n```\n{shown}```\n")
    return [one.marks for one in check(case)]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [(INSPECTED, ("app_front", "app_back")), (COMPOSE, ("front", "back"))],
    ids=["inspect", "compose"],
)
def test_both_networks_are_named(shown: str, expected: tuple[str, ...]) -> None:
    """As the engine, or the file, has them."""
    assert [expected] == _marks(ASKS + shown)


@pytest.mark.parametrize(
    "shown",
    [
        ASKS + INSPECTED.replace("app_back", "app_front"),
        ASKS + COMPOSE.replace("[back]", "[back, front]"),
        ASKS.replace("'db'", "'cache'") + INSPECTED,
        INSPECTED,
        ASKS + INSPECTED[: INSPECTED.index("$ docker inspect db")],
    ],
    ids=["shared", "one of two", "another name", "nobody asks", "half"],
)
def test_what_only_looks_like_it_is_let_be(shown: str) -> None:
    """A common network, a name that nobody has, and a container of which nothing is known."""
    assert [] == _marks(shown)

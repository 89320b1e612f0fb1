"""Two cards and one default route."""

from __future__ import annotations

import pytest

from podpath.checks.routing.second_card_unanswered import check
from tests.checks.pasted import ticket_of

ROUTES = """\
default via 192.0.2.1 dev eth0
10.0.3.0/24 dev lxcbr0 proto kernel scope link src 10.0.3.1
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.55
198.51.100.0/24 dev eth1 proto kernel scope link src 198.51.100.20
"""
SAID = "The published port of a container does not answer by the address 198.51.100.20."
OTHER = "default via 198.51.100.1 dev eth1 metric {metric}\n"
RULE = "100:\tfrom 198.51.100.20 lookup 100\n"


def certainties(said: str = SAID, routes: str = ROUTES, rules: str = "") -> list[float]:
    """Return how sure each finding is."""
    listed = f"0:\tfrom all lookup local\n{rules}32766:\tfrom all lookup main\n"
    text = f"{said}\n\n```\n$ ip route\n{routes}$ ip rule\n{listed}$ hostname\nhost1\n```\n"
    return [one.certainty for one in check(ticket_of(text))]


@pytest.mark.parametrize(
    ("said", "certainty"),
    [
        (SAID, 0.8),
        ("Clients get no answer by eth1.", 0.8),
        ("By the second card of the host, clients get no answer.", 0.6),
    ],
    ids=["address", "device", "second"],
)
def test_a_second_card_without_a_way_back(said: str, certainty: float) -> None:
    """Surer where people name it."""
    assert [certainty] == certainties(said)


@pytest.mark.parametrize(
    "changed",
    [
        {"rules": RULE, "said": "Clients get no answer from sshd by the address 198.51.100.20."},
        {"rules": "100:\tfrom all fwmark 0x1 lookup 100\n"},
        {"routes": ROUTES + "default via 198.51.100.1 dev eth1\n"},
        {"routes": ROUTES.replace("eth0\n", "eth0 metric 9\n", 1) + OTHER.format(metric=8)},
        {"said": "Clients get no answer by the address 192.0.2.55."},
        {"said": "Clients get no answer by the address 10.0.3.1."},
        {"said": "By eth1 everything works."},
        {"routes": ROUTES.replace("198.51.100.", "192.0.2.")},
    ],
    ids=["rule", "mark", "two-defaults", "wins", "first", "bridge", "works", "one-network"],
)
def test_what_only_looks_like_it_is_let_be(changed: dict[str, str]) -> None:
    """It has a rule, another default route leads by it, or something else fails."""
    assert not certainties(**changed)


@pytest.mark.parametrize(
    ("works", "proves"), [("", False), ("From 198.51.100.0/24 it does.", True)]
)
def test_a_default_route_of_a_greater_metric_is_idle(works: str, proves: bool) -> None:  # noqa: FBT001
    """That it works from the card's own network is the other half of the fault."""
    text = f"{SAID} {works}\n\n```\n$ ip route\n{ROUTES}{OTHER.format(metric=200)}```\n"
    (found,) = check(ticket_of(text))

    assert 0.8 == found.certainty
    assert "metric" in str(found.claim)
    assert proves == bool(found.proves)


PUBLISHED = """\
{}

```
$ ip rule
0:	from all lookup local
{}100:	from 198.51.100.20 lookup second
32766:	from all lookup main
32767:	from all lookup default
```
"""
UNANSWERED = "The published port 443 of a container gets no answer at 198.51.100.20."


@pytest.mark.parametrize(
    ("said", "beside", "sure"),
    [
        (UNANSWERED, "", [0.7]),
        (UNANSWERED, "99:\tfrom all fwmark 0x1 lookup 200\n", []),
        (UNANSWERED, "99:\tfrom 172.18.0.0/16 lookup 200\n", []),
        ("The web server of the host gets no requests at 198.51.100.20.", "", []),
    ],
    ids=["address-alone", "mark", "range", "of-the-host"],
)
def test_a_rule_for_the_address_serves_no_container(
    said: str, beside: str, sure: list[float]
) -> None:
    """What a container answers is looked up with its own address; a mark or a rule for its range
    may lead it back.
    """
    assert sure == [one.certainty for one in check(ticket_of(PUBLISHED.format(said, beside)))]

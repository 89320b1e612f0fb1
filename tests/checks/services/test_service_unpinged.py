"""Pings of a service's address."""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.services.service_unpinged import check
from tests.checks.pasted import ticket_of

PING = """
```
$ ping -c 2 web
PING web.shop.svc.cluster.local (10.96.4.1) 56(84) bytes of data.

--- web.shop.svc.cluster.local ping statistics ---
2 packets transmitted, 0 received, 100% packet loss, time 1003ms
```
"""
WORKS = "\n```\n$ nc -zv 10.96.4.1 80\nConnection to 10.96.4.1 80 port [tcp/http] succeeded!\n```\n"
FAILS = "\n```\n$ nc -zv 10.96.4.1 80\nnc: connect to 10.96.4.1 port 80 (tcp) failed: Connection refused\n```\n"  # noqa: E501
OTHER = "\n```\n$ curl http://10.96.4.9/\ncurl: (28) Connection timed out\n```\n"


def find(*parts: str) -> list[Finding]:
    """Return what is found in a ticket of these parts."""
    return list(check(ticket_of("\n".join(parts))))


def test_a_ping_fails_and_the_port_works() -> None:
    """Both lines are quoted, the ping's first."""
    (finding,) = find("I cannot ping the service.", PING, WORKS)

    assert finding.certainty == 1
    assert "100% packet loss" in finding.evidence[0].text
    assert "succeeded" in finding.evidence[1].text


def test_what_people_complain_of_is_no_ping() -> None:
    """A ping that fails beside another failure explains nothing."""
    (finding,) = find("Requests to the service time out now and then.", PING, WORKS)

    assert finding.certainty < 1
    assert finding.asks


@pytest.mark.parametrize(
    "parts",
    [(PING,), (PING, FAILS), (PING, WORKS, OTHER), (PING.replace(".svc.", ".lan."), WORKS)],
    ids=["no other try", "the port fails", "something else fails", "no service"],
)
def test_a_ping_that_may_mean_something(parts: tuple[str, ...]) -> None:
    """Only where a service's port works and nothing else fails is a ping without meaning."""
    assert not find("I cannot ping the service.", *parts)

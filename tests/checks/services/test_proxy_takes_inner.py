"""What a forward proxy denied, held against NO_PROXY."""

from __future__ import annotations

import pytest

from podpath.checks.services.proxy_takes_inner import check
from tests.checks.pasted import ticket_of

TICKET = """\
{said}

```
$ kubectl exec web-0 -- env
HTTPS_PROXY=http://proxy.example.net:3128
NO_PROXY={exempt}
proxy$ tail -1 /var/log/squid/access.log
1700000000.123      0 10.2.3.4 TCP_DENIED/403 3800 CONNECT {dst}:443 - HIER_NONE/- text/html
```
"""
FAILS = "The operator gets Forbidden from the API server."


def count(said: str = FAILS, exempt: str = ".svc,10.0.0.0/9", dst: str = "10.200.0.1") -> int:
    """Return how many findings there are."""
    return len(list(check(ticket_of(TICKET.format(said=said, exempt=exempt, dst=dst)))))


def test_an_inner_address_that_is_not_exempt() -> None:
    """It is outside of the one range that is listed."""
    assert count() == 1


@pytest.mark.parametrize(
    ("said", "exempt", "dst"),
    [
        (FAILS, ".svc,10.0.0.0/8", "10.200.0.1"),
        (FAILS, "10.200.0.1,.svc", "10.200.0.1"),
        (FAILS, "*", "10.200.0.1"),
        (FAILS, ".svc", "203.0.113.9"),
        ("The operator cannot reach the API server: connection refused.", ".svc", "10.200.0.1"),
    ],
)
def test_calls_in_order(said: str, exempt: str, dst: str) -> None:
    """It is exempt, it is outside, or what fails is no answer of a proxy."""
    assert count(said, exempt, dst) == 0


@pytest.mark.parametrize(
    ("said", "certainty"),
    [
        ("The operator gets an error page (403) from the API server.", 1.0),
        ("Names do not resolve in the pods.", 0.8),
        ('E0411 main.go:51] list: Get "https://10.200.0.1:443/api/v1/nodes": Forbidden', 1.0),
        ('E0411 main.go:51] list: Get "https://10.200.0.17:443/api/v1/nodes": Forbidden', 0.8),
    ],
    ids=["answered", "another-failure", "status-alone", "status-of-another"],
)
def test_what_fails_is_what_is_denied(said: str, certainty: float) -> None:
    """Some client's denied call need not be what people miss."""
    text = TICKET.format(said=said, exempt=".svc", dst="10.200.0.1")
    (found,) = check(ticket_of(text))

    assert certainty == found.certainty

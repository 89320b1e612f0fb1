"""Whole names that something below a search domain answers for."""

from __future__ import annotations

from podpath.checks.dns.search_domain_answers import check
from tests.checks.pasted import ticket_of

TICKET = """{prose}

```
$ nslookup {asked}
Server:    10.96.0.10
Address:   10.96.0.10#53

Name:   {found}
Address: 203.0.113.80
```
"""
FAILS = "Requests to api.example.org fail with a foreign certificate."


def test_a_wildcard_below_a_search_domain() -> None:
    """The line with the longer name is quoted."""
    text = TICKET.format(
        prose=FAILS, asked="api.example.org", found="api.example.org.corp.example.com"
    )

    (found,) = check(ticket_of(text))

    assert ["Name:   api.example.org.corp.example.com"] == [span.text for span in found.evidence]


def test_names_of_the_cluster_are_meant_to_be_completed() -> None:
    """A service is found below its namespace's domain, and a whole name as it stands."""
    short = TICKET.format(prose=FAILS, asked="web.shop", found="web.shop.svc.cluster.local")
    same = TICKET.format(prose=FAILS, asked="api.example.org", found="api.example.org")

    assert not list(check(ticket_of(short)))
    assert not list(check(ticket_of(same)))


def test_nobody_complains() -> None:
    """A lookup alone is no fault."""
    text = TICKET.format(
        prose="A note.", asked="api.example.org", found="api.example.org.corp.example.com"
    )

    assert not list(check(ticket_of(text)))

"""Whole names that something below a search domain answers for."""

from __future__ import annotations

import pytest

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


SHORT = """One pod cannot reach the service backend.

```
$ {command}
198.51.100.9    {found}
$ kubectl get svc -A
NAMESPACE   NAME      TYPE        CLUSTER-IP     EXTERNAL-IP   PORT(S)   AGE
prod        {service}   ClusterIP   10.43.99.14    <none>        80/TCP    9d
```
"""
IN_POD = "kubectl exec web-0 -- getent hosts backend"


def test_the_short_name_of_a_service_of_another_namespace() -> None:
    """A wildcard of the company's domain answers for it in the pod."""
    text = SHORT.format(command=IN_POD, found="backend.example.net", service="backend")
    (found,) = check(ticket_of(text))

    assert found.evidence[0].text.endswith("backend.example.net")
    assert "prod/backend" in str(found.claim)


@pytest.mark.parametrize(
    ("command", "found", "service"),
    [
        ("getent hosts backend", "backend.example.net", "backend"),
        (IN_POD, "backend.prod.svc.cluster.local", "backend"),
        (IN_POD, "backend.example.net", "storage"),
        (IN_POD, "backend", "backend"),
    ],
    ids=["host", "cluster", "no-service", "itself"],
)
def test_a_short_name_that_is_meant_so(command: str, found: str, service: str) -> None:
    """A host's own domain, the cluster's, or no service of that name."""
    text = SHORT.format(command=command, found=found, service=service)

    assert not list(check(ticket_of(text)))


@pytest.mark.parametrize(("asked", "count"), [("example.com", 1), ("web.shop", 0)])
def test_a_name_with_one_dot_may_be_a_services(asked: str, count: int) -> None:
    """Names under .com and its like are meant as they stand; others may be SERVICE.NAMESPACE."""
    text = TICKET.format(prose=FAILS, asked=asked, found=f"{asked}.corp.example.org")

    assert len(list(check(ticket_of(text)))) == count

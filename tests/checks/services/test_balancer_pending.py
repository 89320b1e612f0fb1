"""Load balancers without an address."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.checks.services.balancer_pending import check
from podpath.net.complaints import Complaint, EndKind
from podpath.net.provenance import Source, Span
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl get svc
NAME      TYPE           CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE
ingress   LoadBalancer   10.100.187.26   {outer}     80:32598/TCP   11m
details   ClusterIP      10.96.29.36     <none>        9080/TCP       41m
```
"""

HEADING = "NAME      TYPE           CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE"
MISSED = (
    "Clients outside the cluster cannot reach the ingress; it never gets an external address.\n"
)


def test_an_address_that_is_missed_is_certain() -> None:
    """The prose says that those outside do not reach it."""
    case = case_of_document(TICKET.format(outer="<pending>"))
    (possible,) = check(case)
    complaint = Complaint(span=possible.evidence[0], works=False, source=EndKind.OUTSIDE)
    (certain,) = check(replace(case, complaints=(complaint,)))

    assert (0.6, 1.0) == (possible.certainty, certain.certainty)
    assert "<pending>" in certain.evidence[0].text


def test_an_address_is_right() -> None:
    """A ClusterIP needs none."""
    assert not list(check(case_of_document(TICKET.format(outer="192.0.2.7"))))


def prose(text: str) -> Span:
    """Return the first line of a text that somebody wrote."""
    return Span(Source(name="ticket.md", lines=tuple(text.splitlines())), 1, 1)


OTHER = "web       LoadBalancer   10.96.29.37     192.0.2.9     80:32599/TCP   40d"
LOGS = """
```
$ kubectl -n lb logs deploy/metallb-controller
nothing of note
```
"""
DEMANDING = """
```
$ kubectl get svc ingress -o yaml
kind: Service
metadata:
  name: ingress
spec:
  type: LoadBalancer
  loadBalancerIP: 192.0.2.4
```
"""


@pytest.mark.parametrize(
    ("more", "certainty"),
    [("", 1.0), (f"```\n$ kubectl get svc\n{HEADING}\n{OTHER}\n```\n", 0.6), (LOGS, 0.6),
     (DEMANDING, 0.6), ("MetalLB was upgraded the day before.\n", 0.6)],
    ids=["alone", "another has one", "a controller runs", "it wants a certain one", "told"],
)  # fmt: skip
def test_whatever_gives_addresses_has_a_reason_of_its_own(more: str, certainty: float) -> None:
    """No controller is to blame only where nothing shows one."""
    case = case_of_document(MISSED + TICKET.format(outer="<pending>") + more)
    missed = Complaint(span=prose(MISSED + more), works=False, source=EndKind.OUTSIDE)
    found = [
        one for one in check(replace(case, complaints=(missed,))) if "ingress" in str(one.claim)
    ]

    assert [certainty] == [one.certainty for one in found]
    assert bool(found[0].asks) is (certainty < 1)

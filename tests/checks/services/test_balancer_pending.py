"""Load balancers without an address."""

from __future__ import annotations

from dataclasses import replace

from podpath.checks.services.balancer_pending import check
from podpath.net.complaints import Complaint, EndKind
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl get svc
NAME      TYPE           CLUSTER-IP      EXTERNAL-IP   PORT(S)        AGE
ingress   LoadBalancer   10.100.187.26   {outer}     80:32598/TCP   11m
details   ClusterIP      10.96.29.36     <none>        9080/TCP       41m
```
"""


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

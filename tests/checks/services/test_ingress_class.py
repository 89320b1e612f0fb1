"""Ingresses against the classes that there are."""

from __future__ import annotations

import pytest

from podpath.checks.services.ingress_class import check
from tests.checks.pasted import ticket_of

TICKET = """
{complaint}

```
$ kubectl get ing -A
NAMESPACE   NAME   CLASS    HOSTS              ADDRESS      PORTS   AGE
web         wiki   {named}   wiki.example.net   {address}   80      3d
$ kubectl get ingressclass{one}
NAME    CONTROLLER             PARAMETERS   AGE
outer   k8s.io/ingress-nginx   <none>       9d
```
"""
FAILS = "wiki.example.net does not open: it answers 404."


def certainties(
    complaint: str = FAILS, named: str = "inner ", address: str = "          ", one: str = ""
) -> list[float]:
    """Return how certain each finding is."""
    text = TICKET.format(complaint=complaint, named=named, address=address, one=one)
    return [found.certainty for found in check(ticket_of(text))]


def test_a_class_that_is_not_listed() -> None:
    """It is certain where nobody took the Ingress, and people name its host."""
    assert [1.0] == certainties()


@pytest.mark.parametrize(
    ("complaint", "address"),
    [("blog.example.net does not open.", "          "), (FAILS, "192.0.2.80")],
)
def test_somebody_may_serve_it(complaint: str, address: str) -> None:
    """Another host fails, or a controller wrote an address: possible only."""
    assert [0.7] == certainties(complaint, address=address)


def test_classes_in_order() -> None:
    """A class that is listed, and one where a single other class was asked for."""
    assert [] == certainties(named="outer ")
    assert [] == certainties(one=" outer")


LOG = (
    'store.go:440] "Ignoring ingress because of error while validating ingress class" '
    'ingress="web/wiki" error="no object matching key \\"inner\\" in local store"'
)
LISTED = """\
$ kubectl get ingressclass
NAME    CONTROLLER                      PARAMETERS   AGE
inner   traefik.io/ingress-controller   <none>       9d
"""
SHOWN = """\
$ kubectl get ing -n web
NAME   CLASS   HOSTS              ADDRESS   PORTS   AGE
wiki   inner   wiki.example.net             80      3d
"""


@pytest.mark.parametrize(
    ("outputs", "expected"), [(SHOWN, [1.0]), ("", [0.7]), (SHOWN + LISTED, [])]
)
def test_a_controller_knows_the_classes_of_its_own(outputs: str, expected: list[float]) -> None:
    """Its log says the same of a class that another controller serves."""
    text = f"{FAILS}\n\n```\n{outputs}$ kubectl logs nginx-1\nI0110 08:01:44.531207 7 {LOG}\n```\n"

    assert expected == [found.certainty for found in check(ticket_of(text))]


def test_which_of_two_is_meant_is_not_said() -> None:
    """An Ingress fails, and another one is shown."""
    said = "Our Ingress answers 404."
    rows = "web         blog   outer    blog.example.net   192.0.2.80   80      3d\n"
    text = TICKET.replace("$ kubectl get ingressclass", f"{rows}$ kubectl get ingressclass")
    filled = text.format(complaint=said, named="inner ", address="          ", one="")

    assert [0.7] == [found.certainty for found in check(ticket_of(filled))]

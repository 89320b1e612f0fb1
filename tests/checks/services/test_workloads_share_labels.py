"""Workloads with the same selector."""

from __future__ import annotations

from podpath.checks.services.workloads_share_labels import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
apiVersion: apps/v1
kind: Deployment
metadata:
  name: db
  namespace: {one}
spec:
  selector:
    matchLabels:
      app: {first}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: {other}
spec:
  selector:
    matchLabels:
      app: {second}
```
"""


def test_the_same_selector_is_certain() -> None:
    """Both lines are quoted."""
    (found,) = check(
        case_of_document(TICKET.format(one="shop", other="shop", first="shop", second="shop"))
    )

    assert ["app: shop", "app: shop"] == [span.text.strip() for span in found.evidence]
    assert 1.0 == found.certainty


def test_other_labels_or_namespaces_are_right() -> None:
    """A selector counts within its namespace."""
    assert not list(
        check(case_of_document(TICKET.format(one="shop", other="shop", first="db", second="web")))
    )
    assert not list(
        check(
            case_of_document(TICKET.format(one="shop", other="test", first="shop", second="shop"))
        )
    )

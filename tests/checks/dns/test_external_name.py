"""A name that is an address."""

from __future__ import annotations

from podpath.checks.dns.external_name import check
from tests.assembly.evidence_text import case_of_document

AN_ADDRESS_IS_CERTAIN = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: ExternalName
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
  externalName: 10.1.2.3
  selector:
    app: web
```
"""
A_NAME_IS_RIGHT = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: ExternalName
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
  externalName: db.example.com
  selector:
    app: web
```
"""
ANOTHER_TYPE_HAS_NONE = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: ClusterIP
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
    protocol: TCP
  selector:
    app: web
```
"""


def test_an_address_is_certain() -> None:
    """externalName is an address."""
    (found,) = check(case_of_document(AN_ADDRESS_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "externalName: 10.1.2.3" in found.evidence[0].text


def test_a_name_is_right() -> None:
    """externalName is a name."""
    assert not list(check(case_of_document(A_NAME_IS_RIGHT)))


def test_another_type_has_none() -> None:
    """A ClusterIP."""
    assert not list(check(case_of_document(ANOTHER_TYPE_HAS_NONE)))

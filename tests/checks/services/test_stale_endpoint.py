"""Endpoints that no pod has."""

from __future__ import annotations

from podpath.checks.services.stale_endpoint import check
from tests.assembly.evidence_text import case_of_document

AN_ADDRESS_OF_NO_POD = """
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
```
$ kubectl get pod web-0 -n shop -o yaml
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: shop
  labels:
    app: web
spec:
  nodeName: node1
  containers:
  - name: web
    ports:
    - containerPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
```
$ kubectl -n shop get endpoints web
NAME   ENDPOINTS         AGE
web    10.244.1.9:8080   5d
```
"""
THE_PODS_OWN_ADDRESS = """
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
```
$ kubectl get pod web-0 -n shop -o yaml
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  namespace: shop
  labels:
    app: web
spec:
  nodeName: node1
  containers:
  - name: web
    ports:
    - containerPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
```
$ kubectl -n shop get endpoints web
NAME   ENDPOINTS         AGE
web    10.244.1.5:8080   5d
```
"""
NO_POD_IS_SHOWN = """
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
```
$ kubectl -n shop get endpoints web
NAME   ENDPOINTS         AGE
web    10.244.1.9:8080   5d
```
"""


def test_an_address_of_no_pod() -> None:
    """The service's pod has another address."""
    (found,) = check(case_of_document(AN_ADDRESS_OF_NO_POD))

    assert 0.7 == found.certainty
    assert "10.244.1.9:8080" in found.evidence[0].text


def test_the_pods_own_address() -> None:
    """The endpoint is the pod's."""
    assert not list(check(case_of_document(THE_PODS_OWN_ADDRESS)))


def test_no_pod_is_shown() -> None:
    """Without the pods nothing is known."""
    assert not list(check(case_of_document(NO_POD_IS_SHOWN)))

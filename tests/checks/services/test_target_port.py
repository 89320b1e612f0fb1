"""A service that leads to a port its pods do not have."""

from __future__ import annotations

from podpath.checks.services.target_port import check
from tests.assembly.evidence_text import case_of_document

A_NAME_THAT_NO_CONTAINER_HAS_IS_CERTAIN = """
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
    targetPort: htttp
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
"""
ANOTHER_NUMBER_MAY_BE_RIGHT = """
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
    targetPort: 9090
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
"""
THE_DECLARED_PORT_IS_RIGHT = """
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
"""
THE_DECLARED_NAME_IS_RIGHT = """
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
    targetPort: http
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
"""


def test_a_name_that_no_container_has_is_certain() -> None:
    """A named target has to exist."""
    (found,) = check(case_of_document(A_NAME_THAT_NO_CONTAINER_HAS_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "targetPort: htttp" in found.evidence[0].text


def test_another_number_may_be_right() -> None:
    """Declared ports only inform."""
    (found,) = check(case_of_document(ANOTHER_NUMBER_MAY_BE_RIGHT))

    assert 0.6 == found.certainty
    assert "targetPort: 9090" in found.evidence[0].text


def test_the_declared_port_is_right() -> None:
    """The target is declared, by number."""
    assert not list(check(case_of_document(THE_DECLARED_PORT_IS_RIGHT)))


def test_the_declared_name_is_right() -> None:
    """The target is declared, by name."""
    assert not list(check(case_of_document(THE_DECLARED_NAME_IS_RIGHT)))

"""A service whose selector no pod has."""

from __future__ import annotations

from podpath.checks.services.selector_mismatch import check
from tests.assembly.evidence_text import case_of_document

OTHER_LABELS_AND_NO_ENDPOINTS_ARE_THE_CAUSE = """
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
    app: wbe
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
NAME   ENDPOINTS   AGE
web    <none>      5d
```
"""
OTHER_LABELS_ALONE_MAY_BE = """
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
    app: wbe
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
THE_RIGHT_LABELS_ARE_NONE_OF_IT = """
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
NAME   ENDPOINTS   AGE
web    <none>      5d
```
"""


def test_other_labels_and_no_endpoints_are_the_cause() -> None:
    """A pod with the same label of another value, and endpoints that are shown empty, decide it."""
    (found,) = check(case_of_document(OTHER_LABELS_AND_NO_ENDPOINTS_ARE_THE_CAUSE))

    assert 1.0 == found.certainty
    assert "app: wbe" in found.evidence[0].text


def test_other_labels_alone_may_be() -> None:
    """Without the endpoints another pod may have the label."""
    (found,) = check(case_of_document(OTHER_LABELS_ALONE_MAY_BE))

    assert 0.6 == found.certainty
    assert "app: wbe" in found.evidence[0].text


def test_the_right_labels_are_none_of_it() -> None:
    """A pod that the selector chooses needs no finding."""
    assert not list(check(case_of_document(THE_RIGHT_LABELS_ARE_NONE_OF_IT)))

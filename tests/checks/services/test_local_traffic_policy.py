"""A service that is Local, and nodes without its pods."""

from __future__ import annotations

from podpath.checks.services.local_traffic_policy import check
from tests.assembly.evidence_text import case_of_document

A_NODE_WITHOUT_A_POD_WAS_ASKED = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: NodePort
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
    nodePort: 30080
  externalTrafficPolicy: Local
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
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   192.168.1.11   <none>        Ubuntu
$ curl http://192.168.1.11:30080/
curl: (28) Failed to connect to 192.168.1.11 port 30080: Connection timed out
```
"""
A_NODE_WITH_A_POD_WAS_ASKED = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: NodePort
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
    nodePort: 30080
  externalTrafficPolicy: Local
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
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   192.168.1.11   <none>        Ubuntu
$ curl http://192.168.1.10:30080/
curl: (28) Failed to connect to 192.168.1.10 port 30080: Connection timed out
```
"""
CLUSTER_GOES_EVERYWHERE = """
```
$ kubectl get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: NodePort
  clusterIP: 10.96.0.20
  ports:
  - name: http
    port: 80
    targetPort: 8080
    nodePort: 30080
  externalTrafficPolicy: Cluster
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
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   192.168.1.11   <none>        Ubuntu
$ curl http://192.168.1.11:30080/
curl: (28) Failed to connect to 192.168.1.11 port 30080: Connection timed out
```
"""


def test_a_node_without_a_pod_was_asked() -> None:
    """The NodePort of a node that has none of the pods timed out."""
    (found,) = check(case_of_document(A_NODE_WITHOUT_A_POD_WAS_ASKED))

    assert 1.0 == found.certainty
    assert "externalTrafficPolicy: Local" in found.evidence[0].text


def test_a_node_with_a_pod_was_asked() -> None:
    """Another node lacks the pods, but the one that has it was asked."""
    (found,) = check(case_of_document(A_NODE_WITH_A_POD_WAS_ASKED))

    assert 0.6 == found.certainty
    assert "externalTrafficPolicy: Local" in found.evidence[0].text


def test_cluster_goes_everywhere() -> None:
    """Cluster takes traffic at each node."""
    assert not list(check(case_of_document(CLUSTER_GOES_EVERYWHERE)))

"""A service asked at a port of another place."""

from __future__ import annotations

from podpath.checks.services.node_port_confused import check
from tests.assembly.evidence_text import case_of_document

THE_NODES_ADDRESS_WITH_THE_SERVICES_PORT = """
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
  selector:
    app: web
```
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
$ curl http://192.168.1.10:80/
curl: (7) Failed to connect to 192.168.1.10 port 80: Connection refused
```
"""
THE_SERVICES_ADDRESS_WITH_THE_NODES_PORT = """
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
  selector:
    app: web
```
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
$ curl http://10.96.0.20:30080/
curl: (7) Failed to connect to 10.96.0.20 port 30080: Connection refused
```
"""
THE_RIGHT_PORT_FAILS_FOR_ANOTHER_REASON = """
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
  selector:
    app: web
```
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP    EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   192.168.1.10   <none>        Ubuntu
$ curl http://192.168.1.10:30080/
curl: (7) Failed to connect to 192.168.1.10 port 30080: Connection refused
```
"""


def test_the_nodes_address_with_the_services_port() -> None:
    """The node is asked at 80."""
    (found,) = check(case_of_document(THE_NODES_ADDRESS_WITH_THE_SERVICES_PORT))

    assert 0.7 == found.certainty
    assert "192.168.1.10 port 80" in found.evidence[0].text


def test_the_services_address_with_the_nodes_port() -> None:
    """The cluster's address is asked at 30080."""
    (found,) = check(case_of_document(THE_SERVICES_ADDRESS_WITH_THE_NODES_PORT))

    assert 0.7 == found.certainty
    assert "10.96.0.20 port 30080" in found.evidence[0].text


def test_the_right_port_fails_for_another_reason() -> None:
    """The node is asked at 30080."""
    assert not list(check(case_of_document(THE_RIGHT_PORT_FAILS_FOR_ANOTHER_REASON)))

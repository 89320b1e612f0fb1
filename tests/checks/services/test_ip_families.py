"""A service of a family that its pods lack."""

from __future__ import annotations

import pytest

from podpath.checks.services.ip_families import check
from tests.assembly.evidence_text import case_of_document

NO_POD_HAS_THE_FAMILY = """
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
  ipFamilies:
  - IPv6
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
THE_PODS_FAMILY_IS_RIGHT = """
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
  ipFamilies:
  - IPv4
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
NOTHING_IS_SAID_OF_FAMILIES = """
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


def test_no_pod_has_the_family() -> None:
    """IPv6 alone, and pods of IPv4."""
    (found,) = check(case_of_document(NO_POD_HAS_THE_FAMILY))

    assert 0.9 == found.certainty
    assert "- IPv6" in found.evidence[0].text


def test_the_pods_family_is_right() -> None:
    """IPv4 for both."""
    assert not list(check(case_of_document(THE_PODS_FAMILY_IS_RIGHT)))


def test_nothing_is_said_of_families() -> None:
    """A service that says nothing of families."""
    assert not list(check(case_of_document(NOTHING_IS_SAID_OF_FAMILIES)))


MIXED = """\
```
{error}
```

```yaml
apiVersion: v1
kind: Endpoints
metadata:
  name: kubernetes
  namespace: default
subsets:
- addresses:
  - ip: 172.22.248.182
  - ip: {other}
  ports:
  - port: 6443
```
"""
SIX = "Get https://[2001:db8:330::1]:443/api/v1/nodes: dial tcp [2001:db8:330::1]:443: refused"
SIX = SIX.replace("refused", "connect: connection refused")
OTHER = "dial tcp [2001:db8:999::1]:443: connect: connection refused"
FOUR = "dial tcp 10.96.0.1:443: connect: connection refused"


@pytest.mark.parametrize(
    ("error", "other", "expected"),
    [
        (SIX, "2001:db8:730::183", 1),
        (SIX.replace("connect: connection refused", "i/o timeout"), "2001:db8:730::183", 1),
        (OTHER, "2001:db8:730::183", 0),
        (OTHER, "2001:db8:999::1", 1),
        (FOUR, "2001:db8:730::183", 0),
        (SIX, "172.22.248.183", 0),
    ],
)
def test_endpoints_of_two_families(error: str, other: str, expected: int) -> None:
    """Where a connection of IPv6 fails; one family alone, or a failure of IPv4, is another
    fault.
    """
    assert expected == len(list(check(case_of_document(MIXED.format(error=error, other=other)))))

"""A hostPort that no plugin makes."""

from __future__ import annotations

from podpath.checks.services.host_port_without_portmap import check
from tests.assembly.evidence_text import case_of_document

A_CHAIN_WITHOUT_PORTMAP_IS_CERTAIN = """
```
$ cat /etc/cni/net.d/10-flannel.conflist
{"name": "cbr0", "cniVersion": "0.3.1", "plugins": [{"type": "flannel"}]}
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
      hostPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
"""
WITH_PORTMAP_ALL_IS_WELL = """
```
$ cat /etc/cni/net.d/10-flannel.conflist
{"name": "cbr0", "cniVersion": "0.3.1", "plugins": [{"type": "flannel"},
 {"type": "portmap", "capabilities": {"portMappings": true}}]}
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
      hostPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
"""
NO_HOST_PORT_IS_ASKED_FOR = """
```
$ cat /etc/cni/net.d/10-flannel.conflist
{"name": "cbr0", "cniVersion": "0.3.1", "plugins": [{"type": "flannel"}]}
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


def test_a_chain_without_portmap_is_certain() -> None:
    """The whole chain is shown and maps no ports."""
    (found,) = check(case_of_document(A_CHAIN_WITHOUT_PORTMAP_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "hostPort: 8080" in found.evidence[0].text


def test_with_portmap_all_is_well() -> None:
    """portmap is in the chain."""
    assert not list(check(case_of_document(WITH_PORTMAP_ALL_IS_WELL)))


def test_no_host_port_is_asked_for() -> None:
    """A pod without hostPort needs none."""
    assert not list(check(case_of_document(NO_HOST_PORT_IS_ASKED_FOR)))

"""Pods on the host's network that ask the node's resolver."""

from __future__ import annotations

from podpath.checks.dns.host_network_dns import check
from tests.assembly.evidence_text import case_of_document

CLUSTER_FIRST_DOES_NOTHING_THERE = """
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
  hostNetwork: true
  dnsPolicy: ClusterFirst
  containers:
  - name: web
    ports:
    - containerPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
"""
THE_POLICY_FOR_IT_IS_RIGHT = """
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
  hostNetwork: true
  dnsPolicy: ClusterFirstWithHostNet
  containers:
  - name: web
    ports:
    - containerPort: 8080
      name: http
status:
  podIP: 10.244.1.5
```
"""
A_POD_OF_ITS_OWN_NETWORK_IS_RIGHT = """
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


def test_cluster_first_does_nothing_there() -> None:
    """hostNetwork with ClusterFirst."""
    (found,) = check(case_of_document(CLUSTER_FIRST_DOES_NOTHING_THERE))

    assert 0.6 == found.certainty
    assert "dnsPolicy: ClusterFirst" in found.evidence[0].text


def test_the_policy_for_it_is_right() -> None:
    """ClusterFirstWithHostNet."""
    assert not list(check(case_of_document(THE_POLICY_FOR_IT_IS_RIGHT)))


def test_a_pod_of_its_own_network_is_right() -> None:
    """Without hostNetwork."""
    assert not list(check(case_of_document(A_POD_OF_ITS_OWN_NETWORK_IS_RIGHT)))

"""Nodes with one address."""

from __future__ import annotations

import pytest

from podpath.checks.cni.node_address_twice import check
from tests.assembly.evidence_text import case_of_document

THE_SAME_INTERNAL_ADDRESS_IS_CERTAIN = """
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   10.0.2.15     <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   10.0.2.15     <none>        Ubuntu
```
"""
FLANNEL_CHOSE_ANOTHER_ADDRESS = """
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   10.0.2.15     <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   10.0.2.16     <none>        Ubuntu
```
```
$ kubectl get node node2 -o yaml
apiVersion: v1
kind: Node
metadata:
  name: node2
  annotations:
    flannel.alpha.coreos.com/public-ip: 192.168.7.7
```
"""
EACH_HAS_ITS_OWN = """
```
$ kubectl get nodes -o wide
NAME    STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE
node1   Ready    <none>   5d    v1.28.0   10.0.2.15     <none>        Ubuntu
node2   Ready    <none>   5d    v1.28.0   10.0.2.16     <none>        Ubuntu
```
```
$ kubectl get node node2 -o yaml
apiVersion: v1
kind: Node
metadata:
  name: node2
  annotations:
    flannel.alpha.coreos.com/public-ip: 10.0.2.16
```
"""


def test_the_same_internal_address_is_certain() -> None:
    """Two nodes, one InternalIP."""
    (found,) = check(case_of_document(THE_SAME_INTERNAL_ADDRESS_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "10.0.2.15" in found.evidence[0].text


def test_flannel_chose_another_address() -> None:
    """The annotation is not the node's InternalIP."""
    (found,) = check(case_of_document(FLANNEL_CHOSE_ANOTHER_ADDRESS))

    assert 0.7 == found.certainty
    assert "public-ip: 192.168.7.7" in found.evidence[0].text


def test_each_has_its_own() -> None:
    """Two addresses, and the annotation fits."""
    assert not list(check(case_of_document(EACH_HAS_ITS_OWN)))


PODS = """
```
$ kubectl get pods -n kube-system -o wide
NAME                READY   STATUS    RESTARTS   AGE   IP          NODE
{one}   2/2     Running   0          1h    10.0.2.15   node1
{other}   1/2     Running   0          1h    10.0.2.15   {node}
```
"""


@pytest.mark.parametrize(
    ("one", "other", "node", "count"),
    [
        ("calico-node-abcde", "calico-node-fghij", "node2", 1),
        ("calico-node-abcde", "kube-proxy-fghij", "node1", 0),
        ("web-abcde", "web-fghij", "node2", 0),
    ],
)
def test_pods_on_the_hosts_network_tell_the_nodes_address(
    one: str, other: str, node: str, count: int
) -> None:
    """Such pods have their node's; other pods tell of themselves alone."""
    case = case_of_document(PODS.format(one=one, other=other, node=node))

    assert count == len(list(check(case)))

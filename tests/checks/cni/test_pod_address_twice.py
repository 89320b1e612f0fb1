"""Two pods with one address."""

from __future__ import annotations

from podpath.checks.cni.pod_address_twice import check
from tests.assembly.evidence_text import case_of_document

TWO_RUNNING_PODS_OF_TWO_NODES_ARE_CERTAIN = """
```
$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-0   1/1     Running   0          5d    10.244.1.2   node1
db-0    1/1     Running   0          5d    10.244.1.2   node2
```
"""
A_COMPLETED_POD_HAS_IT_NO_LONGER = """
```
$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-0   1/1     Running   0          5d    10.244.1.2   node1
db-0    1/1     Completed   0          5d    10.244.1.2   node2
```
"""
PODS_OF_ONE_NODE_MAY_BE_ITS_OWN = """
```
$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-0   1/1     Running   0          5d    10.244.1.2   node1
db-0    1/1     Running   0          5d    10.244.1.2   node1
```
"""


def test_two_running_pods_of_two_nodes_are_certain() -> None:
    """Both run, on two nodes."""
    (found,) = check(case_of_document(TWO_RUNNING_PODS_OF_TWO_NODES_ARE_CERTAIN))

    assert 1.0 == found.certainty
    assert "10.244.1.2" in found.evidence[0].text


def test_a_completed_pod_has_it_no_longer() -> None:
    """What is completed keeps its address in the listing only."""
    assert not list(check(case_of_document(A_COMPLETED_POD_HAS_IT_NO_LONGER)))


def test_pods_of_one_node_may_be_its_own() -> None:
    """Two pods of one node may both be on its network."""
    assert not list(check(case_of_document(PODS_OF_ONE_NODE_MAY_BE_ITS_OWN)))

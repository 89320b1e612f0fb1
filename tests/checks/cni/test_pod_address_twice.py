"""Two pods with one address."""

from __future__ import annotations

import pytest

from podpath.checks.cni.pod_address_twice import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import case_of

TABLE_OF_TWO_NODES = """
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


RANGE_OF_THE_PODS = """
```
$ cat /run/flannel/subnet.env
FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.1.1/24
```
"""
OTHER_RANGE = RANGE_OF_THE_PODS.replace("10.244", "10.99")
RANGE_OF_A_NODE = """
```
$ kubectl get node node1 -o yaml
apiVersion: v1
kind: Node
metadata:
  name: node1
spec:
  podCIDR: 10.244.1.0/24
```
"""
SPECIFICATIONS = """
```
$ kubectl get pods -o yaml
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: web-0, namespace: default}
  spec: {nodeName: node1, containers: [{name: web}]}
  status: {phase: Running, podIP: 10.244.1.2}
- apiVersion: v1
  kind: Pod
  metadata: {name: db-0, namespace: default}
  spec: {nodeName: node2, containers: [{name: db}]}
  status: {phase: Running, podIP: 10.244.1.2}
```
"""
OF_THE_HOST = SPECIFICATIONS.replace("{nodeName", "{hostNetwork: true, nodeName")
TUNNEL_OF_A_NODE = """
```
$ ip -d link show vxlan.calico
9: vxlan.calico: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT
    link/ether 66:1c:9a:02:d7:5e brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    vxlan id 4096 local 10.244.1.2 dev eth1 srcport 0 0 dstport 4789 nolearning ttl auto
```
"""


@pytest.mark.parametrize("more", ["", OTHER_RANGE], ids=["no range", "another range"])
def test_a_table_of_pods_does_not_say_whose_network_they_are_on(more: str) -> None:
    """The agents of a plugin have their nodes' addresses, and two nodes may have the same one."""
    (found,) = check(case_of_document(TABLE_OF_TWO_NODES + more))

    assert found.certainty < 1
    assert "nodes" in found.asks[0].command
    assert "10.244.1.2" in found.evidence[0].text


@pytest.mark.parametrize(
    "text",
    [TABLE_OF_TWO_NODES + RANGE_OF_THE_PODS, TABLE_OF_TWO_NODES + RANGE_OF_A_NODE, SPECIFICATIONS],
    ids=["range of the plugin", "range of a node", "specifications"],
)
def test_pods_that_are_shown_to_have_a_network_of_their_own_are_certain(text: str) -> None:
    """Their address is in a range of the pods, or their own specifications are whole."""
    (found,) = check(case_of_document(text))

    assert 1.0 == found.certainty


@pytest.mark.parametrize(
    "text", [OF_THE_HOST, TABLE_OF_TWO_NODES + TUNNEL_OF_A_NODE], ids=["pods", "a tunnel's end"]
)
def test_the_address_of_a_node_is_nobodys(text: str) -> None:
    """Whoever is on the host's network has the host's address, as its tunnels have."""
    assert not list(check(case_of_document(text)))


def test_a_completed_pod_has_it_no_longer() -> None:
    """What is completed keeps its address in the listing only."""
    assert not list(check(case_of_document(A_COMPLETED_POD_HAS_IT_NO_LONGER)))


def test_pods_of_one_node_may_be_its_own() -> None:
    """Two pods of one node may both be on its network."""
    assert not list(check(case_of_document(PODS_OF_ONE_NODE_MAY_BE_ITS_OWN)))


LISTED = """\
$ kubectl get pods -A -o wide
NAMESPACE   NAME      READY   STATUS    RESTARTS   AGE   IP           NODE
shop        front-1   1/1     Running   5          2h    10.2.55.10   {node}
shop        front-2   1/1     Running   5          2h    10.2.55.12   {node}
bank        gate-1    1/1     Running   5          2h    10.2.55.12   {node}
shop        back-1    1/1     Running   5          2h    {other}   {node}
"""


@pytest.mark.parametrize(
    ("node", "other", "expected"),
    [
        ("10.199.134.36", "10.2.55.16", [1.0]),
        ("10.2.55.12", "10.2.55.16", []),
        ("worker-1", "10.2.55.16", []),
        ("10.199.134.36", "10.2.99.16", []),
    ],
    ids=["named-otherwise", "the-nodes-own", "unknown", "no-range"],
)
def test_two_pods_of_one_node(node: str, other: str, expected: list[float]) -> None:
    """Pods on the host's network share the node's address, which has to be known."""
    case = case_of(LISTED.format(node=node, other=other))

    assert expected == [one.certainty for one in check(case)]


def test_two_pods_that_somebody_looked_for_by_their_address_are_told() -> None:
    """Who looks for an address suspects it: both may be on the host's network, so it is
    possible.
    """
    text = "$ kubectl get pods -A -o wide | grep 10.2.55.12\n"
    text += "shop   front-2   1/1   Running   0   2h   10.2.55.12   n5   <none>   <none>\n"
    text += "bank   gate-1    1/1   Running   0   2h   10.2.55.12   n5   <none>   <none>\n"

    assert [0.6] == [one.certainty for one in check(case_of(text))]
    assert [] == list(check(case_of(text.replace(" | grep 10.2.55.12", ""))))

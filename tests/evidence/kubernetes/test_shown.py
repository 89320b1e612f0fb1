"""Tables and descriptions under the names of the API."""

from __future__ import annotations

from podpath.evidence import recognition
from podpath.evidence.kubernetes.records import ApiObjectRecord
from tests.evidence.consoles import block


def only(text: str, kind: str) -> ApiObjectRecord:
    """Read the one object of a kind."""
    reading = recognition.read(block(text))
    assert reading is not None
    (record,) = [
        one for one in reading.records if isinstance(one, ApiObjectRecord) and one.kind == kind
    ]
    return record


SERVICE = """Name:                     web
Namespace:                shop
Labels:                   app=web
Selector:                 app=web,tier=front
Type:                     NodePort
IP Families:              IPv4
IP:                       10.96.0.20
Port:                     http  80/TCP
TargetPort:               8080/TCP
NodePort:                 http  30080/TCP
Endpoints:                10.244.1.5:8080
Session Affinity:         None
External Traffic Policy:  Local"""
POD = """Name:         web-0
Namespace:    shop
Node:         node1/192.168.1.10
Labels:       app=web
Status:       Running
IP:           10.244.1.5
Containers:
  web:
    Image:        nginx
    Port:         80/TCP
    Host Port:    8080/TCP
    State:        Running
    Ready:        True
Conditions:
  Type    Status
  Ready   True
QoS Class:    BestEffort
Tolerations:  <none>"""
NODE = """Name:               node1
Roles:              <none>
Annotations:        flannel.alpha.coreos.com/public-ip: 10.0.2.15
Unschedulable:      false
Conditions:
  Type    Status  Reason
  Ready   False   KubeletNotReady
Addresses:
  InternalIP:  192.168.1.10
Capacity:
  cpu: 2
PodCIDR:            10.244.1.0/24"""


def test_a_described_service() -> None:
    """Its selector, ports and policy, each at its line, and its endpoints."""
    tree = only(SERVICE, "Service").tree
    (port,) = tree.items_at("spec", "ports")
    policy = tree.at("spec", "externalTrafficPolicy")

    assert ["web", "front"] == [
        tree.text_at("spec", "selector", label) for label in ("app", "tier")
    ]
    assert ("80", "8080", "30080", "http") == tuple(
        port.text_at(name) for name in ("port", "targetPort", "nodePort", "name")
    )
    assert policy is not None
    assert "External Traffic Policy:  Local" == policy.line.text
    (subset,) = only(SERVICE, "Endpoints").tree.items_at("subsets")
    assert ["10.244.1.5"] == [item.text_at("ip") for item in subset.items_at("addresses")]


def test_a_described_pod() -> None:
    """Its labels, node, address and what its containers declare."""
    tree = only(POD, "Pod").tree
    (container,) = tree.items_at("spec", "containers")
    assert ("web", "node1", "10.244.1.5") == (
        tree.text_at("metadata", "labels", "app"), tree.text_at("spec", "nodeName"),
        tree.text_at("status", "podIP"),
    )  # fmt: skip
    assert ["80"] == [port.text_at("containerPort") for port in container.items_at("ports")]
    assert ["8080"] == [port.text for port in container.items_at("hostPorts")]


def test_a_described_node() -> None:
    """Its addresses, annotations, range and conditions."""
    tree = only(NODE, "Node").tree
    assert "10.244.1.0/24" == tree.text_at("spec", "podCIDR")
    assert "10.0.2.15" == tree.text_at(
        "metadata", "annotations", "flannel.alpha.coreos.com/public-ip"
    )
    assert [("InternalIP", "192.168.1.10")] == [
        (item.text_at("type"), item.text_at("address"))
        for item in tree.items_at("status", "addresses")
    ]
    assert ["False"] == [item.text_at("status") for item in tree.items_at("status", "conditions")]


def test_rows_of_tables() -> None:
    """Whatever columns a table has, the object has its fields."""
    service = only(
        "NAME  TYPE          CLUSTER-IP  EXTERNAL-IP  PORT(S)       AGE  SELECTOR\n"
        "web   LoadBalancer  10.96.0.20  <pending>    80:30080/TCP  5d   app=web",
        "Service",
    )
    node = only(
        (
            "NAME   STATUS     ROLES   AGE  VERSION  INTERNAL-IP\n"
            "node1  NotReady   <none>  5d   v1.28.0  10.0.2.15"
        ),
        "Node",
    )
    pod = only(
        (
            "NAME   READY  STATUS   RESTARTS  AGE  LABELS\n"
            "web-0  0/1    Running  0         5d   app=web"
        ),
        "Pod",
    )
    policy = only("NAME  POD-SELECTOR  AGE\nlock  app=web       5d", "NetworkPolicy")

    assert ("<pending>", "web") == (
        service.tree.text_at("status", "pending"),
        service.tree.text_at("spec", "selector", "app"),
    )
    assert ["10.0.2.15"] == [
        item.text_at("address") for item in node.tree.items_at("status", "addresses")
    ]
    assert "web" == pod.tree.text_at("metadata", "labels", "app")
    assert "web" == policy.tree.text_at("listed", "podSelector", "matchLabels", "app")


def test_endpoints_of_a_row() -> None:
    """None are an empty list; some that are left out are told."""
    empty = only("NAME  ENDPOINTS  AGE\nweb   <none>     5d", "Endpoints")
    cut = only(
        (
            "NAME  ENDPOINTS                                   AGE\n"
            "web   10.244.1.5:80,10.244.1.6:80 + 3 more...    5d"
        ),
        "Endpoints",
    )

    assert () == empty.tree.items_at("subsets")
    assert empty.tree.at("subsets") is not None
    assert ("true", 2) == (cut.tree.text_at("elided"), len(cut.tree.items_at("subsets")))

"""A node's address as external IP of a service, in IPVS mode and in another one."""

from __future__ import annotations

import pytest

from podpath.checks.services.external_address_of_node import check
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.node.case import Case

NODES = """
```
$ kubectl get nodes -o wide
NAME       STATUS     ROLES    AGE   VERSION   INTERNAL-IP      EXTERNAL-IP   OS-IMAGE
worker-1   NotReady   <none>   23d   v1.21.3   10.128.149.177   <none>        Ubuntu 20.04
worker-2   Ready      <none>   23d   v1.21.3   10.128.149.199   <none>        Ubuntu 20.04
```
"""
SERVICE = """
```
$ kubectl get svc
NAME    TYPE       CLUSTER-IP       EXTERNAL-IP      PORT(S)        AGE
nginx   NodePort   10.104.206.115   10.128.149.177   80:31811/TCP   44s
```
"""
MODE = """
```
$ kubectl -n kube-system get cm kube-proxy -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: kube-proxy
  namespace: kube-system
data:
  config.conf: |-
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    mode: "ipvs"
```
"""


def case_of(text: str) -> Case:
    """Read a ticket."""
    return read_together([Pasted(text, "ticket.md")]).facts


def test_an_address_of_a_node_in_ipvs_mode_is_certain() -> None:
    """The service, the node and the mode are all stated."""
    (found,) = check(case_of(f"Nodes are not ready.\n{NODES}{SERVICE}{MODE}"))

    assert 1.0 == found.certainty
    assert ["10.128.149.177" in span.text or "ipvs" in span.text for span in found.evidence] == [
        True,
        True,
        True,
    ]


def test_a_mode_that_people_tell_is_possible() -> None:
    """Prose states nothing of a node."""
    (found,) = check(case_of(f"kube-proxy runs in IPVS mode.\n{NODES}{SERVICE}"))

    assert (0.6, True) == (found.certainty, bool(found.asks))


@pytest.mark.parametrize(
    "text",
    [
        f"Nodes are not ready.\n{NODES}{SERVICE}",
        f"We left IPVS.\n{NODES}{SERVICE}{MODE.replace('ipvs', 'iptables')}",
        f"{NODES}{SERVICE.replace('10.128.149.177', '10.128.149.200')}{MODE}",
        f"{NODES}{SERVICE.replace('NodePort  ', 'LoadBalancer')}{MODE}",
        f"{SERVICE}{MODE}",
    ],
)
def test_what_does_no_harm_is_not_reported(text: str) -> None:
    """No IPVS, another mode, an address of no node, an address that a controller gave, no nodes."""
    assert () == tuple(check(case_of(text)))


HELD = """
```
# ip -4 addr show kube-ipvs0
6: kube-ipvs0: <BROADCAST,NOARP> mtu 1500 qdisc noop state DOWN group default
    inet 10.96.0.1/32 scope global kube-ipvs0
    inet 10.128.149.177/32 scope global kube-ipvs0
```
"""
OWN = """
```
# ip -4 addr show ens3
2: ens3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq_codel state UP group default
    inet {address}/24 brd 10.128.149.255 scope global ens3
```
"""


@pytest.mark.parametrize(
    ("text", "certainties"),
    [
        (f"It cannot reach 10.128.149.177.\n{NODES}{HELD}", [0.6]),
        (f"Pods fail.\n{NODES}{HELD}{OWN.format(address='10.128.149.199')}", [1.0]),
        (f"Pods fail.\n{NODES}{HELD}", [0.6]),
        (f"Pods fail.\n{NODES}{HELD}{OWN.format(address='10.128.149.177')}", []),
        (f"Pods fail.\n{NODES}{HELD.replace('149.177', '149.50')}", []),
    ],
    ids=["fails", "another-node", "whose", "own", "no-node"],
)
def test_another_nodes_address_on_the_dummy_device(text: str, certainties: list[float]) -> None:
    """The service need not be shown; the node's own address there, and one of no node, are no
    fault.
    """
    assert certainties == [found.certainty for found in check(case_of(text))]


MACHINE = """
```
$ kubectl get svc archive
NAME      TYPE        CLUSTER-IP      EXTERNAL-IP     PORT(S)    AGE
archive   ClusterIP   10.98.31.14     10.128.150.20   2049/TCP   5m
```
"""


@pytest.mark.parametrize(
    ("text", "certainties"),
    [
        ("Since today no node reaches the file server 10.128.150.20.", [0.7]),
        ("Since today no node reaches the service 10.128.150.20.", []),
        ("Since today no node reaches the file server 10.128.150.21.", []),
        ("The service archive is slow.", []),
    ],
    ids=["machine", "service", "another", "none"],
)
def test_another_machines_address_on_the_dummy_device(text: str, certainties: list[float]) -> None:
    """People call it a machine, and the service has its address; the question is who has it."""
    held = HELD.replace("10.128.149.177", "10.128.150.20")
    found = list(check(case_of(f"{text}\n{MACHINE}{held}")))

    assert certainties == [one.certainty for one in found]
    assert all("arping" in one.asks[0].command for one in found)
    assert [] == list(check(case_of(f"{text}\n{MACHINE}")))

"""Ranges of pods that do not fit each other."""

from __future__ import annotations

import pytest

from podpath.checks.cni.pod_cidr import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

FLANNEL_HAS_ANOTHER_RANGE = """
```
$ cat /run/flannel/subnet.env
FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.2.1/24
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
```
```
$ kubectl -n kube-system get cm kubeadm-config -o yaml
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
networking:
  podSubnet: 192.168.0.0/16
  serviceSubnet: 10.96.0.0/12
```
"""
A_PART_OF_THE_RANGE_FITS = """
```
$ cat /run/flannel/subnet.env
FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.2.1/24
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
```
```
$ kubectl -n kube-system get cm kubeadm-config -o yaml
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
networking:
  podSubnet: 10.244.0.0/14
  serviceSubnet: 10.96.0.0/12
```
"""
A_POD_IN_DOCKERS_BRIDGE = """
```
$ cat /run/flannel/subnet.env
FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.2.1/24
FLANNEL_MTU=1450
FLANNEL_IPMASQ=true
```
```
$ kubectl -n kube-system get cm kubeadm-config -o yaml
apiVersion: kubeadm.k8s.io/v1beta3
kind: ClusterConfiguration
networking:
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
```
```
$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-0   1/1     Running   0          5d    172.17.0.2   node1
```
"""


def test_flannel_has_another_range() -> None:
    """kubeadm's podSubnet and flannel's network are apart."""
    (found,) = check(case_of_document(FLANNEL_HAS_ANOTHER_RANGE))

    assert 0.8 == found.certainty
    assert "FLANNEL_NETWORK=10.244.0.0/16" in found.evidence[0].text


def test_a_part_of_the_range_fits() -> None:
    """A plugin may use a part."""
    assert not list(check(case_of_document(A_PART_OF_THE_RANGE_FITS)))


def test_a_pod_in_dockers_bridge() -> None:
    """A pod that started before the plugin has an address of Docker's."""
    (found,) = check(case_of_document(A_POD_IN_DOCKERS_BRIDGE))

    assert 0.8 == found.certainty
    assert "172.17.0.2" in found.evidence[0].text


POOL = """
```
$ kubeadm init --pod-network-cidr={cluster}
$ kubectl -n kube-system set env ds/calico-node CALICO_IPV4POOL_CIDR={pool}
```
"""


def test_a_flag_and_a_plugins_setting_differ() -> None:
    """What was typed states the range as well as an object does."""
    (finding,) = check(
        case_of_document(POOL.format(cluster="10.244.0.0/16", pool="192.168.0.0/16"))
    )

    assert ["10.244.0.0/16", "192.168.0.0/16"] == sorted(finding.marks)
    assert not list(
        check(case_of_document(POOL.format(cluster="10.244.0.0/16", pool="10.244.0.0/17")))
    )


OTHERS_RANGE = """
Pods of w1 are not reached from other nodes; {plugin} is used.

```
$ kubectl describe node w1 | grep CIDR
PodCIDR:                      10.244.1.0/24
PodCIDRs:                     10.244.1.0/24
$ kubectl describe node w2 | grep CIDR
PodCIDR:                      10.244.2.0/24
PodCIDRs:                     10.244.2.0/24
$ kubectl get pods -o wide
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE   NOMINATED NODE   READINESS GATES
web-0   1/1     Running   0          5m    {address}    w1     <none>           <none>
{shown}
```
"""
FLANNEL = """\
$ ip link show flannel.1
4: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT
    link/ether 1a:ca:a9:2c:dc:3b brd ff:ff:ff:ff:ff:ff"""


@pytest.mark.parametrize(
    ("plugin", "shown", "address", "certainties"),
    [
        ("A plugin", FLANNEL, "10.244.2.7", [1.0]),
        ("flannel", "", "10.244.2.7", [0.6]),
        ("A plugin", "", "10.244.2.7", [0.6]),
        ("flannel", FLANNEL, "10.244.9.7", [0.6]),
        ("flannel", FLANNEL, "10.244.1.7", []),
    ],
)
def test_a_pod_of_another_nodes_range(
    plugin: str, shown: str, address: str, certainties: list[float]
) -> None:
    """Flannel has every node send it to the other node; that a text speaks of flannel does not
    state that it is there.
    """
    case = ticket_of(OTHERS_RANGE.format(plugin=plugin, shown=shown, address=address))

    assert certainties == [one.certainty for one in check(case)]

"""CoreDNS that forwards to itself."""

from __future__ import annotations

from podpath.checks.dns.dns_forward import check
from tests.assembly.evidence_text import case_of_document

ITS_OWN_SERVICE_IS_CERTAIN = """
```
$ kubectl -n kube-system get cm coredns -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {
        errors
        kubernetes cluster.local in-addr.arpa ip6.arpa
        forward . 10.96.0.10
        cache 30
    }
```
```
$ kubectl -n kube-system get svc
NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   5d
```
"""
A_STUB_IN_THE_NODES_FILE = """
```
$ kubectl -n kube-system get cm coredns -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {
        errors
        kubernetes cluster.local in-addr.arpa ip6.arpa
        forward . /etc/resolv.conf
        cache 30
    }
```
```
$ kubectl -n kube-system get svc
NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   5d
```
```
root@node1:~# cat /etc/resolv.conf
nameserver 127.0.0.53
```
"""
A_RESOLVER_ELSEWHERE_IS_RIGHT = """
```
$ kubectl -n kube-system get cm coredns -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {
        errors
        kubernetes cluster.local in-addr.arpa ip6.arpa
        forward . 8.8.8.8
        cache 30
    }
```
```
$ kubectl -n kube-system get svc
NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   5d
```
"""
A_FILE_WITH_A_RESOLVER_IS_RIGHT = """
```
$ kubectl -n kube-system get cm coredns -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {
        errors
        kubernetes cluster.local in-addr.arpa ip6.arpa
        forward . /etc/resolv.conf
        cache 30
    }
```
```
$ kubectl -n kube-system get svc
NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   5d
```
```
root@node1:~# cat /etc/resolv.conf
nameserver 192.168.1.1
```
"""


def test_its_own_service_is_certain() -> None:
    """Forwarding to kube-dns' own address comes back."""
    (found,) = check(case_of_document(ITS_OWN_SERVICE_IS_CERTAIN))

    assert 1.0 == found.certainty
    assert "forward . 10.96.0.10" in found.evidence[0].text


def test_a_stub_in_the_nodes_file() -> None:
    """The file of the node names a loopback address."""
    (found,) = check(case_of_document(A_STUB_IN_THE_NODES_FILE))

    assert 0.8 == found.certainty
    assert "nameserver 127.0.0.53" in found.evidence[0].text


def test_a_resolver_elsewhere_is_right() -> None:
    """Another address is an upstream."""
    assert not list(check(case_of_document(A_RESOLVER_ELSEWHERE_IS_RIGHT)))


def test_a_file_with_a_resolver_is_right() -> None:
    """The node's file names an upstream."""
    assert not list(check(case_of_document(A_FILE_WITH_A_RESOLVER_IS_RIGHT)))

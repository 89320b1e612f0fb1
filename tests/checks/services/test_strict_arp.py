"""IPVS without strict ARP beside MetalLB."""

from __future__ import annotations

from podpath.checks.services.strict_arp import check
from tests.assembly.evidence_text import case_of_document

IPVS_WITHOUT_IT_MAY_BE_THE_CAUSE = """
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
    ipvs:
      scheduler: ""
      strictARP: false
    mode: "ipvs"
```
```
$ kubectl get pods -n metallb-system
NAME            READY   STATUS    RESTARTS   AGE
speaker-abcde   1/1     Running   0          5d
```
"""
WITH_IT_ALL_IS_WELL = """
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
    ipvs:
      scheduler: ""
      strictARP: true
    mode: "ipvs"
```
```
$ kubectl get pods -n metallb-system
NAME            READY   STATUS    RESTARTS   AGE
speaker-abcde   1/1     Running   0          5d
```
"""
IPTABLES_DOES_NOT_NEED_IT = """
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
    ipvs:
      scheduler: ""
      strictARP: false
    mode: "iptables"
```
```
$ kubectl get pods -n metallb-system
NAME            READY   STATUS    RESTARTS   AGE
speaker-abcde   1/1     Running   0          5d
```
"""


def test_ipvs_without_it_may_be_the_cause() -> None:
    """IPVS, strictARP false, and MetalLB."""
    (found,) = check(case_of_document(IPVS_WITHOUT_IT_MAY_BE_THE_CAUSE))

    assert 0.8 == found.certainty
    assert "strictARP: false" in found.evidence[0].text


def test_with_it_all_is_well() -> None:
    """strictARP true."""
    assert not list(check(case_of_document(WITH_IT_ALL_IS_WELL)))


def test_iptables_does_not_need_it() -> None:
    """Another mode binds no addresses."""
    assert not list(check(case_of_document(IPTABLES_DOES_NOT_NEED_IT)))

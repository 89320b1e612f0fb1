"""A pod that asks itself for names."""

from __future__ import annotations

from podpath.checks.dns.pod_loopback_resolver import check
from tests.assembly.evidence_text import case_of_document

A_STUB_IN_A_POD = """
```
$ kubectl exec web-0 -- cat /etc/resolv.conf
nameserver 127.0.0.53
options ndots:5
```
"""
THE_CLUSTERS_SERVER = """
```
$ kubectl exec web-0 -- cat /etc/resolv.conf
nameserver 10.96.0.10
options ndots:5
```
"""
DOCKERS_OWN_RESOLVER_LISTENS = """
```
$ kubectl exec web-0 -- cat /etc/resolv.conf
nameserver 127.0.0.11
options ndots:5
```
"""


def test_a_stub_in_a_pod() -> None:
    """127.0.0.53 within a pod."""
    (found,) = check(case_of_document(A_STUB_IN_A_POD))

    assert 0.9 == found.certainty
    assert "nameserver 127.0.0.53" in found.evidence[0].text


def test_a_stub_that_refuses() -> None:
    """A lookup in the same pod that the address refuses proves it where the pod's manifest says
    that it has its own network; one elsewhere does not, nor one in a pod that may have the node's.
    """
    refused = """
```
$ kubectl exec {pod} -- nslookup example.org
nslookup: write to '127.0.0.53': Connection refused
;; connection timed out; no servers could be reached
```
"""

    manifest = """
```
$ kubectl get pod web-0 -o yaml
kind: Pod
metadata: {name: web-0, namespace: default}
spec:
  dnsPolicy: Default
  containers: [{name: web}]
```
"""
    told = refused.format(pod="web-0")

    (found,) = check(case_of_document(A_STUB_IN_A_POD + told + manifest))
    (whose,) = check(case_of_document(A_STUB_IN_A_POD + told))
    (other,) = check(case_of_document(A_STUB_IN_A_POD + refused.format(pod="db-1") + manifest))
    on_host = manifest.replace("spec:", "spec:\n  hostNetwork: true")
    (hosted,) = check(case_of_document(A_STUB_IN_A_POD + told + on_host))

    assert (found.certainty, found.severity) == (1.0, "fault")
    assert "write to '127.0.0.53'" in found.evidence[1].text
    assert all(one.certainty < 1 for one in (whose, other, hosted))


def test_the_clusters_server() -> None:
    """The DNS service's address."""
    assert not list(check(case_of_document(THE_CLUSTERS_SERVER)))


def test_dockers_own_resolver_listens() -> None:
    """Docker's own listens in the container."""
    assert not list(check(case_of_document(DOCKERS_OWN_RESOLVER_LISTENS)))

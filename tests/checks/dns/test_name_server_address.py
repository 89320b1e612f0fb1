"""The DNS service that pods ask."""

from __future__ import annotations

from podpath.checks.dns.name_server_address import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl -n kube-system get svc
NAME       TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)         AGE
kube-dns   ClusterIP   10.96.0.10   <none>        53/UDP,53/TCP   5d
$ kubectl exec web -- cat /etc/resolv.conf
nameserver {server}
search default.svc.{domain} svc.{domain} {domain}
options ndots:5
```
```
$ kubectl -n kube-system get cm coredns -o yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: coredns
  namespace: kube-system
data:
  Corefile: |
    .:53 {{
        errors
        kubernetes cluster.local in-addr.arpa ip6.arpa
        forward . /etc/resolv.conf
    }}
```
"""


def test_an_address_that_no_service_has() -> None:
    """Pod and service are quoted."""
    (found,) = check(case_of_document(TICKET.format(server="10.43.0.10", domain="cluster.local")))

    assert ["nameserver 10.43.0.10", "10.96.0.10"] == [
        found.evidence[0].text,
        found.evidence[1].text.split()[2],
    ]


def test_a_domain_that_nobody_serves() -> None:
    """The search list and the plugin's line are quoted."""
    (found,) = check(case_of_document(TICKET.format(server="10.96.0.10", domain="k8s.example")))

    assert ("k8s.example", "cluster.local") == found.marks


def test_the_services_own_address_or_a_cache_on_the_node_is_right() -> None:
    """NodeLocal DNSCache has a link-local one."""
    for server in ("10.96.0.10", "169.254.20.10"):
        assert not list(
            check(case_of_document(TICKET.format(server=server, domain="cluster.local")))
        )

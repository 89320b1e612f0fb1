"""Domains that CoreDNS keeps to itself."""

from __future__ import annotations

from podpath.checks.dns.zone_taken import check
from tests.assembly.evidence_text import case_of_document

TICKET = """
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
        kubernetes {zones} in-addr.arpa ip6.arpa {{
            pods insecure
            fallthrough {fallthrough}
        }}
        forward . /etc/resolv.conf
        cache 30
    }}
```
```
$ curl http://{name}/
curl: (6) Could not resolve host: {name}
```
"""


def made(
    zones: str, name: str = "git.example.org", fallthrough: str = "in-addr.arpa ip6.arpa"
) -> str:
    """Return the ticket."""
    return TICKET.format(zones=zones, name=name, fallthrough=fallthrough)


def test_a_company_s_domain_that_fails_is_certain() -> None:
    """The plugin's line is quoted, and the failure."""
    (found,) = check(case_of_document(made("example.org cluster.local")))

    assert 1.0 == found.certainty
    assert "kubernetes example.org cluster.local" in found.evidence[0].text


def test_another_name_that_fails_leaves_it_possible() -> None:
    """It is still no domain of the cluster."""
    (found,) = check(case_of_document(made("example.org cluster.local", name="git.example.com")))

    assert 0.7 == found.certainty


def test_the_clusters_own_domain_is_right() -> None:
    """Alone, or where what it does not have goes on."""
    assert not list(check(case_of_document(made("cluster.local"))))
    assert not list(check(case_of_document(made("example.org"))))
    assert not list(check(case_of_document(made("example.org cluster.local", fallthrough=""))))

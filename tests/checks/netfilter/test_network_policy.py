"""Policies that deny what is missing."""

from __future__ import annotations

import pytest

from podpath.checks.netfilter.network_policy import check
from tests.assembly.evidence_text import case_of_document

DENYING_EVERYTHING_MAY_BE_THE_CAUSE = """
```yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: lock
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
  - Ingress

```
"""
EGRESS_WITHOUT_DNS_MAY_BE_THE_CAUSE = """
```yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: lock
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
  - Egress
  egress:
  - ports:
    - port: 443
      protocol: TCP
```
"""
EGRESS_WITH_DNS_IS_NONE_OF_IT = """
```yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: lock
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
  - Egress
  egress:
  - ports:
    - port: 53
      protocol: UDP
```
"""
ADMITTING_ALL_IS_NONE_OF_IT = """
```yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: lock
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
  - Ingress
  ingress:
  - {}
```
"""
LABELS_THAT_NO_NAMESPACE_HAS = """
```yaml
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: lock
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
  - Ingress
  ingress:
  - from:
    - namespaceSelector:
        matchLabels:
          team: web
```
```yaml
apiVersion: v1
kind: Namespace
metadata:
  name: web
  labels:
    kubernetes.io/metadata.name: web
```
"""


def test_denying_everything_may_be_the_cause() -> None:
    """A policy of a direction without rules admits nothing."""
    (found,) = check(case_of_document(DENYING_EVERYTHING_MAY_BE_THE_CAUSE))

    assert 0.5 == found.certainty
    assert "policyTypes:" in found.evidence[0].text


def test_egress_without_dns_may_be_the_cause() -> None:
    """An egress policy that lists another port alone admits no DNS."""
    (found,) = check(case_of_document(EGRESS_WITHOUT_DNS_MAY_BE_THE_CAUSE))

    assert 0.7 == found.certainty
    assert "egress:" in found.evidence[0].text


def test_egress_with_dns_is_none_of_it() -> None:
    """Port 53 is admitted."""
    assert not list(check(case_of_document(EGRESS_WITH_DNS_IS_NONE_OF_IT)))


def test_admitting_all_is_none_of_it() -> None:
    """An empty rule admits everything."""
    assert not list(check(case_of_document(ADMITTING_ALL_IS_NONE_OF_IT)))


def test_labels_that_no_namespace_has() -> None:
    """A namespaceSelector goes by labels."""
    (found,) = check(case_of_document(LABELS_THAT_NO_NAMESPACE_HAS))

    assert 0.8 == found.certainty
    assert "team: web" in found.evidence[0].text


@pytest.mark.parametrize(
    ("ports", "space", "number", "certainty"),
    [
        ("", "shop", "80", 1.0),
        ("", "mail", "80", 0.8),
        ("    ports: [{port: 9400}]\n", "shop", "9400", 1.0),
        ("    ports: [{port: 9400}]\n", "shop", "80", 0.8),
    ],
    ids=["its-namespace", "another-namespace", "its-port", "another-port"],
)
def test_a_drop_that_the_policy_makes(
    ports: str, space: str, number: str, certainty: float
) -> None:
    """Another policy may have denied what goes to another port or namespace."""
    policy = LABELS_THAT_NO_NAMESPACE_HAS.replace(
        "          team: web\n", f"          team: web\n{ports}"
    )
    drop = (
        "```\n$ hubble observe --verdict DROPPED\n"
        f"May 14 09:22:10.117: web/front-0:40122 (ID:9400) <> {space}/api-0:{number} (ID:80) "
        "Policy denied DROPPED (TCP Flags: SYN)\n```\n"
    )
    (found,) = check(case_of_document(policy + drop))

    assert certainty == found.certainty

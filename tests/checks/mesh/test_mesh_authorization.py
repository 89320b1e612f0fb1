"""A policy of the mesh that admits nothing."""

from __future__ import annotations

from podpath.checks.mesh.mesh_authorization import check
from tests.assembly.evidence_text import case_of_document

A_POLICY_WITHOUT_RULES_DENIES_ALL = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: AuthorizationPolicy
metadata:
  name: lock
  namespace: shop
spec:
  action: ALLOW
```
"""
A_RULE_ADMITS_SOMETHING = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: AuthorizationPolicy
metadata:
  name: lock
  namespace: shop
spec:
  action: ALLOW
  rules:
  - from:
    - source:
        namespaces: [web]
```
"""
DENYING_A_PART_IS_MEANT = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: AuthorizationPolicy
metadata:
  name: lock
  namespace: shop
spec:
  action: DENY
  rules:
  - to:
    - operation:
        paths: [/admin]
```
"""


def test_a_policy_without_rules_denies_all() -> None:
    """ALLOW without rules."""
    (found,) = check(case_of_document(A_POLICY_WITHOUT_RULES_DENIES_ALL))

    assert 0.8 == found.certainty
    assert "action: ALLOW" in found.evidence[0].text


def test_a_rule_admits_something() -> None:
    """ALLOW with a rule."""
    assert not list(check(case_of_document(A_RULE_ADMITS_SOMETHING)))


def test_denying_a_part_is_meant() -> None:
    """DENY with a condition."""
    assert not list(check(case_of_document(DENYING_A_PART_IS_MEANT)))

"""Mutual TLS that one side does not speak."""

from __future__ import annotations

from podpath.checks.mesh.mesh_mtls import check
from tests.assembly.evidence_text import case_of_document

STRICT_AND_DISABLE_MAY_BE_THE_CAUSE = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: PeerAuthentication
metadata:
  name: default
  namespace: istio-system
spec:
  mtls:
    mode: STRICT
---
apiVersion: networking.istio.io/v1beta1
kind: DestinationRule
metadata:
  name: web
  namespace: shop
spec:
  host: web.shop.svc.cluster.local
  trafficPolicy:
    tls:
      mode: DISABLE
```
"""
PERMISSIVE_TAKES_BOTH = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: PeerAuthentication
metadata:
  name: default
  namespace: istio-system
spec:
  mtls:
    mode: PERMISSIVE
---
apiVersion: networking.istio.io/v1beta1
kind: DestinationRule
metadata:
  name: web
  namespace: shop
spec:
  host: web.shop.svc.cluster.local
  trafficPolicy:
    tls:
      mode: DISABLE
```
"""
MUTUAL_FITS_STRICT = """
```yaml
apiVersion: security.istio.io/v1beta1
kind: PeerAuthentication
metadata:
  name: default
  namespace: istio-system
spec:
  mtls:
    mode: STRICT
---
apiVersion: networking.istio.io/v1beta1
kind: DestinationRule
metadata:
  name: web
  namespace: shop
spec:
  host: web.shop.svc.cluster.local
  trafficPolicy:
    tls:
      mode: ISTIO_MUTUAL
```
"""


def test_strict_and_disable_may_be_the_cause() -> None:
    """A rule for plain text meets STRICT."""
    (found,) = check(case_of_document(STRICT_AND_DISABLE_MAY_BE_THE_CAUSE))

    assert 0.7 == found.certainty
    assert "mode: DISABLE" in found.evidence[0].text


def test_permissive_takes_both() -> None:
    """PERMISSIVE."""
    assert not list(check(case_of_document(PERMISSIVE_TAKES_BOTH)))


def test_mutual_fits_strict() -> None:
    """Both sides speak it."""
    assert not list(check(case_of_document(MUTUAL_FITS_STRICT)))

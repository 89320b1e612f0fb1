"""Pools and who announces them."""

from __future__ import annotations

from podpath.checks.services.pool_not_announced import check
from tests.assembly.evidence_text import case_of_document

METALLB = """
```
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata:
  name: first
spec:
  addresses:
  - 192.168.1.240-192.168.1.250
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata:
  name: example
spec:
  ipAddressPools:
  - {named}
```
"""
CILIUM = """
```
apiVersion: cilium.io/v2alpha1
kind: CiliumBGPPeeringPolicy
metadata:
  name: tor
spec:
  virtualRouters:
  - localASN: 64512
    neighbors:
    - peerAddress: 10.0.0.1/32
      peerASN: 64512
{selector}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  labels:
    announce: bgp
spec:
  type: LoadBalancer
  clusterIP: 10.96.0.9
  ports:
  - port: 80
```
"""


def test_a_pool_of_another_name() -> None:
    """The name that nobody has is quoted."""
    (found,) = check(case_of_document(METALLB.format(named="second")))

    assert ("- second", 1.0) == (found.evidence[0].text.strip(), found.certainty)
    assert not list(check(case_of_document(METALLB.format(named="first"))))


def test_a_policy_of_no_service() -> None:
    """Without a selector Cilium announces none; with one, those that fit."""
    (none,) = check(case_of_document(CILIUM.format(selector="")))
    (other,) = check(
        case_of_document(
            CILIUM.format(
                selector="    serviceSelector:\n      matchLabels:\n        announce: yes-please"
            )
        )
    )

    assert "serviceSelector" in str(none.claim)
    assert ("yes-please",) == other.marks
    assert not list(
        check(
            case_of_document(
                CILIUM.format(
                    selector="    serviceSelector:\n      matchLabels:\n        announce: bgp"
                )
            )
        )
    )

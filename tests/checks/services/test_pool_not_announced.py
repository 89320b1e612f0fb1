"""Pools and who announces them."""

from __future__ import annotations

import pytest

from podpath.checks.services.pool_not_announced import check
from tests.assembly.evidence_text import case_of_document
from tests.checks.pasted import ticket_of

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


LISTED = """MetalLB's address is not reachable.

```
$ kubectl get ipaddresspools -A
NAMESPACE        NAME         AUTO ASSIGN   AVOID BUGGY IPS   ADDRESSES
metallb-system   first-pool   true          false             ["192.0.2.200-192.0.2.240"]
$ {command}
{answer}
```
{more}
"""
ARPING = """
```
$ arping -I eth0 192.0.2.200
ARPING 192.0.2.200 from 192.0.2.5 eth0
Sent 7 probes (7 broadcast(s))
Received 0 response(s)
```
"""
NONE = "No resources found"
ONE = """NAMESPACE        NAME   IPADDRESSPOOLS   IPADDRESSPOOL SELECTORS   INTERFACES
metallb-system   l2"""


def test_pools_without_any_advertisement() -> None:
    """Nothing announces them: certain where neither kind is there, or nobody answers ARP."""
    both = LISTED.format(
        command="kubectl get l2advertisements,bgpadvertisements -A", answer=NONE, more=""
    )
    silent = LISTED.format(command="kubectl get l2advertisements -A", answer=NONE, more=ARPING)
    alone = LISTED.format(command="kubectl get l2advertisements -A", answer=NONE, more="")

    certainties = [
        found.certainty for text in (both, silent, alone) for found in check(case_of_document(text))
    ]
    assert certainties == [1, 1, 0.8]


def test_an_advertisement_or_no_question_is_no_fault() -> None:
    """One is listed, or what was not found is of another kind."""
    one = LISTED.format(command="kubectl get l2advertisements -A", answer=ONE, more="")
    other = LISTED.format(command="kubectl get communities -A", answer=NONE, more="")

    assert not list(check(case_of_document(one)))
    assert not list(check(case_of_document(other)))


NODES = """MetalLB's address is not reachable.

```
$ kubectl get nodes --show-labels
NAME     STATUS   ROLES           AGE   VERSION   LABELS
master   Ready    control-plane   10d   v1.32.0   kubernetes.io/os=linux,{label}
{more}
```
"""
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers="


def test_the_only_node_is_left_out_by_its_label() -> None:
    """kubeadm labels its control plane so, and a cluster of one node has no other."""
    (found,) = check(ticket_of(NODES.format(label=EXCLUDED, more="")))

    assert (found.certainty, found.marks) == (1, (EXCLUDED.rstrip("="),))


@pytest.mark.parametrize(
    ("label", "more"),
    [
        ("kubernetes.io/hostname=master", ""),
        (EXCLUDED, "worker   Ready    <none>          10d   v1.32.0   kubernetes.io/os=linux"),
    ],
)
def test_another_node_may_announce(label: str, more: str) -> None:
    """The label is not there, or a worker lacks it."""
    assert not list(check(ticket_of(NODES.format(label=label, more=more))))

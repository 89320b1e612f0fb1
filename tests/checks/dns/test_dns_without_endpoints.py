"""The cluster's DNS service without endpoints."""

from __future__ import annotations

import pytest

from podpath.checks.dns.dns_without_endpoints import check
from podpath.testing.nodes import given_node
from tests.checks.api import case_with

SERVICE = """
- kind: Service
  metadata: {name: kube-dns, namespace: kube-system, labels: {k8s-app: kube-dns}}
  spec:
    clusterIP: 10.96.0.10
    ports:
    - {name: dns, port: 53, protocol: UDP}
"""
NONE = "- kind: Endpoints\n  metadata:\n    name: kube-dns\n    namespace: kube-system\n"
PORTS = "  - ports:\n    - {name: dns, port: 53, protocol: UDP}\n"


def test_no_endpoint() -> None:
    """The Endpoints and the service are quoted."""
    (found,) = check(case_with(given_node(), SERVICE, NONE))

    assert found.claim == ("The cluster's DNS service kube-system/kube-dns has no ready endpoint.")
    assert found.breaks == ("every name that pods look up",)


def test_one_that_is_not_ready() -> None:
    """Its line is quoted."""
    unready = NONE + "  subsets:\n" + PORTS + "    notReadyAddresses:\n    - ip: 10.244.0.9\n"
    (found,) = check(case_with(given_node(), SERVICE, unready))

    assert "(1 not ready)" in str(found.claim)
    assert "10.244.0.9" in found.evidence[0].text


@pytest.mark.parametrize(
    "objects",
    [
        (SERVICE, NONE + "  subsets:\n" + PORTS + "    addresses:\n    - ip: 10.244.0.9\n"),
        (SERVICE,),
        (SERVICE.replace("kube-system", "shop"), NONE.replace("kube-system", "shop")),
        (SERVICE.replace("10.96.0.10", "None"), NONE),
    ],
)
def test_what_is_in_order_or_not_shown(objects: tuple[str, ...]) -> None:
    """Nothing is said of a ready one, of endpoints that nobody shows, and of other services."""
    assert list(check(case_with(given_node(), *objects))) == []

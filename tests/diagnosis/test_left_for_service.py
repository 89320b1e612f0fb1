"""Ends of `why` that are services of every kind: none of them crashes, is claimed wrongly, or gets
an all-clear by being ignored.
"""

from __future__ import annotations

import pytest

from podpath.library.given import Pasted
from podpath.library.why import WhyResult, why
from podpath.net.errors import UsageError
from tests.clusters import OBJECTS, RECORDED

HEALTHY = {node: str(RECORDED / f"{node}.tar.gz") for node in ("node1", "node2")}
PORTS = "ports: [{name: http, port: 80, targetPort: 8080, protocol: TCP}]"
FAR = f"selector: {{app: far}}, {PORTS}"
SUBSET = """
  - {key}: [{{ip: {address}, nodeName: node2}}]
    ports: [{{name: http, port: 8080, protocol: TCP}}]"""


def ask(
    destination: str, spec: str, *, ready: str = "", unready: str = "", slices: str = ""
) -> WhyResult:
    """Ask why a pod cannot reach a service `odd` of a specification, with such endpoints."""
    service = f"""\
- apiVersion: v1
  kind: Service
  metadata: {{name: odd, namespace: shop}}
  spec: {{{spec}}}
"""
    subsets = "".join(
        SUBSET.format(key=key, address=address)
        for key, held in (("addresses", ready), ("notReadyAddresses", unready))
        for address in held.split()
    )
    endpoints = f"""\
- apiVersion: v1
  kind: Endpoints
  metadata: {{name: odd, namespace: shop}}
  subsets:{subsets or " []"}
"""
    sliced = f"""\
- apiVersion: discovery.k8s.io/v1
  kind: EndpointSlice
  metadata: {{name: odd-x, namespace: shop, labels: {{kubernetes.io/service-name: odd}}}}
  addressType: IPv4
  endpoints: [{{addresses: [{slices}]}}]
  ports: [{{name: http, port: 8080, protocol: TCP}}]
"""
    more = service + (sliced if slices else endpoints)
    said = OBJECTS.read_text(encoding="utf-8").replace("items:\n", f"items:\n{more}", 1)
    return why("shop/web-node1", destination, nodes=HEALTHY, objects=Pasted(said, "api"))


@pytest.mark.parametrize(
    ("destination", "spec", "ready", "unready"),
    [
        (
            "svc/shop/odd:http",
            f"clusterIP: 10.96.0.81, internalTrafficPolicy: Local, {FAR}",
            "1",
            "",
        ),
        ("svc/shop/odd:http", f"clusterIP: 10.96.0.81, {FAR}", "", "1"),
        ("svc/shop/odd:http", f"clusterIP: 10.96.0.81, sessionAffinity: ClientIP, {FAR}", "1", ""),
        (
            "203.0.113.6:80",
            f"type: LoadBalancer, clusterIP: 10.96.0.81, loadBalancerIP: 203.0.113.6, {FAR}",
            "1",
            "",
        ),
        ("203.0.113.5:80", f"clusterIP: 10.96.0.81, externalIPs: [203.0.113.5], {FAR}", "1", ""),
        (
            "svc/shop/odd:http",
            f"clusterIP: 10.96.0.81, clusterIPs: [10.96.0.81, 'fd00:96::81'], {FAR}",
            "1",
            "",
        ),
        (
            "svc/shop/odd:http",
            f"clusterIP: 10.96.0.81, publishNotReadyAddresses: true, {FAR}",
            "",
            "1",
        ),
        ("svc/shop/odd:http", f"clusterIP: 10.96.0.81, {PORTS}", "", ""),
    ],
)
def test_a_service_that_no_rule_translates_is_not_cleared(
    destination: str, spec: str, ready: str, unready: str
) -> None:
    """Its packets leave with its address: what is behind the uplink makes of them nobody knows."""
    far = "10.244.0.3"
    answer = ask(destination, spec, ready=far if ready else "", unready=far if unready else "")

    assert answer.verdict == "possible"
    assert all(finding.certainty < 1 for finding in answer.findings)


def test_a_headless_service_is_its_one_pod() -> None:
    """By its endpoints, or by their slices."""
    spec = f"clusterIP: None, {FAR}"
    for answer in (
        ask("svc/shop/odd:http", spec, ready="10.244.0.3"),
        ask("svc/shop/odd", spec, slices="10.244.0.3"),
        ask("shop/odd:8080", spec, ready="10.244.0.3"),
    ):
        assert answer.verdict == "none"
        assert str(answer.probe).endswith("> 10.244.0.3:8080 from web-node1")


@pytest.mark.parametrize(
    ("destination", "spec", "ready", "says"),
    [
        (
            "svc/shop/odd:http",
            f"clusterIP: None, {FAR}",
            "10.244.0.3 10.244.1.2",
            "2 pods: name one of 10.244.0.3:8080, 10.244.1.2:8080",
        ),
        (
            "svc/shop/odd:http",
            f"clusterIP: None, {FAR}",
            "",
            "no endpoint of it is shown",
        ),
        ("svc/shop/odd", "type: ExternalName, externalName: db.example.org", "", "ExternalName"),
        (
            "svc/shop/odd:s",
            "clusterIP: 10.96.0.81, ports: [{name: s, port: 80, protocol: SCTP}]",
            "",
            "has no port of tcp: it speaks sctp",
        ),
        (
            "svc/shop/odd:http",
            f"clusterIP: 'fd00:96::81', clusterIPs: ['fd00:96::81'], {FAR}",
            "10.244.0.3",
            "addresses of one family",
        ),
    ],
)
def test_what_has_no_address_to_walk_to_is_said(
    destination: str, spec: str, ready: str, says: str
) -> None:
    """Nothing is walked to a guess."""
    with pytest.raises(UsageError, match=says):
        ask(destination, spec, ready=ready)

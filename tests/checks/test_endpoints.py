"""What the API says of a service's endpoints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from podpath.checks.endpoints import (
    backends_of,
    changed_at,
    listed_at,
    pods_changed_at,
    read_moment,
)
from podpath.checks.objects import see
from podpath.net.addresses import Address
from tests.checks.proxied import ENDPOINTS, LONG_AGO, SERVICE, case_of, endpoints, iptables, listed

SLICE = """
- kind: EndpointSlice
  metadata:
    name: api-x
    namespace: shop
    labels: {kubernetes.io/service-name: api}
    managedFields:
    - {manager: kube-controller-manager, operation: Update, time: "2026-11-23T01:50:00Z"}
  ports:
  - {name: http, port: 8080, protocol: TCP}
  endpoints:
  - addresses: [10.244.0.2]
    conditions: {ready: false, serving: true, terminating: true}
    nodeName: node2
    targetRef: {kind: Pod, name: api-node2, namespace: shop}
"""


def test_endpoints_and_slices_together(tmp_path: Path) -> None:
    """What a slice adds stands beside what the Endpoints say; who is not ready in one is not."""
    objects = listed(SERVICE, endpoints(ENDPOINTS), SLICE)
    case = case_of(tmp_path, iptables(*ENDPOINTS), objects)
    (service,) = see(case, "Service")
    (behind,) = backends_of(case, service)
    second = behind.backends[Address.parse("10.244.0.2"), 8080]

    assert behind.title == "shop/api:http"
    assert behind.whole
    assert [str(one.address) for one in behind.ready] == ["10.244.1.3"]
    assert (second.node, second.pod, second.serving) == ("node2", "shop/api-node2", True)


def test_slices_alone_are_not_known_to_be_all(tmp_path: Path) -> None:
    """Another slice may hold more."""
    case = case_of(tmp_path, iptables(*ENDPOINTS), listed(SERVICE, SLICE))
    (service,) = see(case, "Service")
    (behind,) = backends_of(case, service)

    assert not behind.whole
    assert changed_at(behind) == read_moment("2026-11-23T01:50:00Z")


def test_when_objects_changed_and_were_listed(tmp_path: Path) -> None:
    """The controller's own note tells where no manager's does; what has neither is of no time."""
    objects = listed(SERVICE, endpoints(ENDPOINTS, changed=LONG_AGO))
    case = case_of(tmp_path, iptables(*ENDPOINTS), objects)
    (service,) = see(case, "Service")
    (behind,) = backends_of(case, service)

    assert changed_at(behind) == read_moment(LONG_AGO)
    assert listed_at(case, behind) == read_moment("2026-11-23T01:53:50Z")
    assert changed_at(replace(behind, sources=(*behind.sources, service))) is None
    assert changed_at(replace(behind, backends={})) is None
    assert read_moment("soon") is None


def test_when_the_pods_behind_a_port_changed(tmp_path: Path) -> None:
    """By their readiness and their containers; nobody knows it of pods that are not shown."""
    pod = """
- kind: Pod
  metadata: {name: api-0, namespace: shop}
  status:
    podIP: 10.244.1.3
    conditions: [{type: Ready, lastTransitionTime: "2026-11-23T01:41:00Z"}]
    containerStatuses: [{state: {running: {startedAt: "2026-11-23T01:42:00Z"}}}]
"""
    for number, (more, moment) in enumerate((((), None), ((pod,), "2026-11-23T01:42:00Z"))):
        objects = listed(SERVICE, endpoints(ENDPOINTS), *more)
        case = case_of(tmp_path / str(number), iptables(*ENDPOINTS), objects)
        (service,) = see(case, "Service")
        (behind,) = backends_of(case, service)

        assert pods_changed_at(case, behind) == (moment and read_moment(moment))

"""What kubectl prints of services, pods, endpoints and events."""

from __future__ import annotations

import pytest

from podpath.evidence.kubernetes.describe import read_describe
from podpath.evidence.kubernetes.events import read_events, recognise_events
from podpath.evidence.kubernetes.get import read_get
from podpath.evidence.kubernetes.records import (
    EventRecord,
    PodRecord,
    ServicePortRecord,
    ServiceRecord,
)
from podpath.evidence.kubernetes.service import NOT_LISTED, parse_endpoints
from podpath.net import protocols
from podpath.net.addresses import Address
from tests.evidence.attempted import attempted
from tests.evidence.consoles import FOLDER, block, load_console, read


def _a(text: str) -> Address:
    return Address.parse(text)


def test_a_described_service() -> None:
    """Addresses, ports, targets and endpoints stand in one record."""
    (service,) = [one for one in read(load_console(FOLDER / "cluster" / "kubectl-describe-service.txt")).records  # noqa: E501
                  if isinstance(one, ServiceRecord)]  # fmt: skip
    assert ("billing", "ledger", "ClusterIP", (_a("10.97.44.210"),)) == (
        service.namespace, service.name, service.type, service.addresses,
    )  # fmt: skip
    endpoints = ((_a("10.61.4.12"), 8080), (_a("10.61.9.31"), 8080))
    assert (
        ServicePortRecord("http", protocols.TCP, 80, "8080", None, endpoints, 0),
    ) == service.ports


def test_several_ports_and_more_endpoints() -> None:
    """Each port has the endpoints below it; `+ 7 more...` counts those left out."""
    text = """\
Name:              export
Namespace:         prod
Selector:          run=export
Type:              NodePort
IP:                10.67.30.133
External IPs:      192.0.2.4
Port:              <unset>  80/TCP
TargetPort:        80/TCP
Endpoints:         10.96.5.44:80,10.96.54.235:80 + 7 more...
Port:              dns  53/UDP
TargetPort:        dns/UDP
NodePort:          dns  30053/UDP
Endpoints:         <none>
Session Affinity:  None
Events:            <none>"""
    (service,) = [
        one for one in read_describe(block(text)).records if isinstance(one, ServiceRecord)
    ]
    assert (_a("10.67.30.133"), _a("192.0.2.4")) == service.addresses
    assert [(None, 80, 2, 7, None), ("dns", 53, 0, 0, 30053)] == [
        (port.name, port.port, len(port.endpoints), port.more, port.node_port)
        for port in service.ports
    ]


def test_a_described_pod() -> None:
    """Address, node, labels, annotations and container states are read, and its events name it."""
    text = """\
Name:         web-0
Namespace:    prod
Priority:     0
Node:         node1/10.0.0.5
Labels:       app=web
              ver=1
Annotations:  linkerd.io/inject: enabled
Status:       Running
IP:           10.4.1.7
IPs:
  IP:           10.4.1.7
Controlled By:  StatefulSet/web
Containers:
  app:
    State:          Running
      Started:      Mon
    Ready:          False
Events:
  Type     Reason     Age                From     Message
  ----     ------     ----               ----     -------
  Warning  Unhealthy  4s (x43 over 7m9s)  kubelet  Liveness probe failed: dial tcp 10.4.1.7:80: connect: connection refused"""  # noqa: E501
    reading = read_describe(block(text))
    (pod,) = [one for one in reading.records if isinstance(one, PodRecord)]
    assert ("prod", "web-0", _a("10.4.1.7"), "node1", _a("10.0.0.5")) == (
        pod.namespace, pod.name, pod.address, pod.node, pod.node_address,
    )  # fmt: skip
    assert {
        "labels.app": "web", "labels.ver": "1", "annotations.linkerd.io/inject": "enabled",
        "status": "Running", "containers.app.state": "Running", "containers.app.ready": "False",
    } == pod.details  # fmt: skip
    assert ["pod/web-0"] == [one.object for one in reading.records if isinstance(one, EventRecord)]
    assert [("tcp", "10.4.1.7:80", "refused", "kubelet liveness probe", "host")] == attempted(
        reading
    )


def test_events_alone() -> None:
    """The table at a description's end is read by itself; a failed probe is an attempt of the
    kubelet.
    """
    reading = read(load_console(FOLDER / "cluster" / "kubectl-events.txt"))
    (event,) = [one for one in reading.records if isinstance(one, EventRecord)]
    assert ("Warning", "Unhealthy", "kubelet", 43) == (
        event.type,
        event.reason,
        event.origin,
        event.count,
    )
    assert [("tcp", "10.88.5.61:9187", "timeout", "kubelet readiness probe", "host")] == attempted(
        reading
    )


HEADING = "LAST SEEN   TYPE      REASON      OBJECT        MESSAGE\n"
EVENTS = [
    (
        "  Warning  Unhealthy  <invalid> (x11 over <invalid>)  kubelet  Readiness probe failed: "
        "Get http://10.4.3.6:91/: i/o timeout"
    ),
    (
        "3m20s       Warning   Unhealthy   pod/web-0     Readiness probe failed: Get "
        '"http://10.4.3.6:91/m": i/o timeout'
    ),
    HEADING
    + (
        "3m   Warning   Unhealthy   pod/web-0   Readiness probe failed: dial tcp 10.4.3.6:91: i/o "
        "timeout"
    ),
]


@pytest.mark.parametrize("text", EVENTS)
def test_other_tables_of_events(text: str) -> None:
    """A row alone, `kubectl get events`, and clocks that disagree (`<invalid>`) are read."""
    source = block(text)
    assert recognise_events(source)
    assert [("tcp", "10.4.3.6:91", "timeout", "kubelet readiness probe", "host")] == attempted(
        read_events(source)
    )


def test_pods_wide() -> None:
    """`kubectl get pods -o wide` gives addresses and nodes; the namespace stands in the command."""
    reading = read(load_console(FOLDER / "cluster" / "kubectl-get-pods.txt"))
    pods = [one for one in reading.records if isinstance(one, PodRecord)]
    assert [
        ("billing", "ledger-0", _a("10.61.9.31"), "edge-17"),
        ("billing", "ledger-1", _a("10.61.4.12"), "edge-22"),
    ] == [(pod.namespace, pod.name, pod.address, pod.node) for pod in pods[1:]]


def test_services_and_endpoints() -> None:
    """A table of services shows no endpoints; a table of endpoints shows no service's port."""
    text = """\
NAMESPACE     NAME       TYPE       CLUSTER-IP   EXTERNAL-IP   PORT(S)                  AGE
kube-system   kube-dns   NodePort   10.9.0.10    <none>        53/UDP,53:30053/TCP      10d"""
    (service,) = [
        one
        for one in read_get(block(text, "kubectl get svc -A")).records
        if isinstance(one, ServiceRecord)
    ]
    assert ("kube-system", [(17, 53, None, NOT_LISTED), (6, 53, 30053, NOT_LISTED)]) == (
        service.namespace,
        [(port.protocol, port.port, port.node_port, port.more) for port in service.ports],
    )  # fmt: skip
    text = (
        "NAME   ENDPOINTS                                AGE\n"
        "web    10.0.0.1:80,10.0.0.2:80 + 3 more...   5d"
    )
    (service,) = [
        one
        for one in read_get(block(text, "kubectl get ep")).records
        if isinstance(one, ServiceRecord)
    ]
    assert [(0, 2, 3)] == [(port.port, len(port.endpoints), port.more) for port in service.ports]


def test_endpoints_of_ipv6() -> None:
    """Endpoints in brackets are addresses, too."""
    assert (((_a("fd00::1"), 80),), 0) == parse_endpoints("[fd00::1]:80")


def test_a_table_whose_columns_a_paste_parted_by_single_blanks() -> None:
    """Each cell is one word, or one with what belongs to it; a row that lacks one is a gap."""
    text = """\
NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES
web-1 1/1 Running 3 (4h ago) 5d 10.1.1.1 node1 <none> <none>
web-2 1/1 Running 0 5d 10.1.1.2 node2"""
    reading = read_get(block(text, "kubectl get pods -o wide"))
    (pod,) = (one for one in reading.records if isinstance(one, PodRecord))
    assert (pod.name, pod.address, pod.node) == ("web-1", _a("10.1.1.1"), "node1")
    assert [gap.span.line for gap in reading.gaps] == [3]


@pytest.mark.parametrize(
    "heading",
    [
        "NAMESPACE NAME  TYPE  CLUSTER-IP  EXTERNAL-IP  PORT(S)  AGE",
        "NAMESPACE  NAME TYPE CLUSTER-IP  EXTERNAL-IP PORT(S)  AGE",
    ],
)
def test_a_heading_whose_blanks_a_paste_took_in_part(heading: str) -> None:
    """Two titles with one blank between them are no column."""
    row = "post mail LoadBalancer 10.96.3.4 <pending> 25:32025/TCP 3d"
    reading = read_get(block(f"{heading}\n{row}", "kubectl get svc -A"))
    (service,) = (one for one in reading.records if isinstance(one, ServiceRecord))
    assert (service.namespace, service.name, service.type) == ("post", "mail", "LoadBalancer")


def test_rows_that_stand_without_their_heading() -> None:
    """`grep` takes the heading away."""
    rows = "ss  web  ClusterIP  10.96.182.195 <none>  50300/UDP\nss  web-1  1/1  Running 0 20h"
    reading = read(block(rows, "kubectl get svc,pod -A | grep web"))
    (service,) = (one for one in reading.records if isinstance(one, ServiceRecord))
    (pod,) = (one for one in reading.records if isinstance(one, PodRecord))
    assert (service.namespace, service.addresses) == ("ss", (_a("10.96.182.195"),))
    assert (pod.namespace, pod.name, pod.address) == ("ss", "web-1", None)
    assert not reading.gaps

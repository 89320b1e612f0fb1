"""Whether a finding is about the connection in question."""

from __future__ import annotations

from dataclasses import replace

import pytest

import podpath
from podpath.checks.finding import Finding, Severity
from podpath.datapath.tracing.trace import Branch
from podpath.diagnosis.sharing import list_ends, shares_ends
from podpath.library.given import Pasted
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint
from podpath.net.failures import FailureKind
from podpath.net.probe import Probe
from podpath.node.case import Attempt, Case
from podpath.node.node import Pod
from tests.checks.nodes import netns, node, span

POD = Pod(namespace="shop", name="web-1", address=Address.parse("10.1.0.7"))
TRIED = Attempt(
    probe=Probe.parse("tcp 10.1.0.2 > 10.2.0.9:80"),
    result=FailureKind.TIMEOUT,
    span=span("timed out"),
)


def finding(line: str) -> Finding:
    """Make a fault that quotes a line."""
    return Finding(
        check="no-route", severity=Severity.FAULT, claim="It is gone.", evidence=(span(line),)
    )


def case(*attempts: Attempt, complaints: tuple[Complaint, ...] = ()) -> Case:
    """Make a case with one described pod."""
    return Case(
        node=replace(node(netns("host")), pods=(POD,)), attempts=attempts, complaints=complaints
    )


@pytest.mark.parametrize(
    ("line", "shared"),
    [
        ("10.2.0.0/16 via 10.9.0.1 dev eth1", True), ("10.3.0.0/16 via 10.9.0.1 dev eth1", False),
        ("0.0.0.0/0 via 10.9.0.1", False), ((
            "-A KUBE-SEP -s 10.1.0.2/32 -j "
            "DROP"
        ), True), ("unreachable 110.2.0.9", False),
    ],
)  # fmt: skip
def test_a_line_with_an_end_is_about_it(line: str, shared: bool) -> None:  # noqa: FBT001  # a column of a table
    """An address, or a range that holds one and is not everybody's."""
    assert shared == shares_ends(finding(line), list_ends(case(TRIED)))


def test_a_pod_is_known_by_name_and_by_address() -> None:
    """A complaint names the pod, and the line has its address; and the reverse."""
    complaint = Complaint(span=span("web-1 hangs"), works=False, names=("web-1.shop.svc",))
    tried = replace(TRIED, probe=Probe.parse("tcp 10.5.0.2 > 10.1.0.7:80"))

    assert shares_ends(
        finding("10.1.0.7 dev cali1 FAILED"), list_ends(case(complaints=(complaint,)))
    )
    assert shares_ends(finding("pod web-1 is not ready"), list_ends(case(tried)))


def test_a_good_attempt_names_no_end() -> None:
    """What works, and loopback, are not in question."""
    loopback = replace(TRIED, probe=Probe.parse("tcp 127.0.0.1 > 127.0.0.1:80"))
    assert not list_ends(case(replace(TRIED, good=True), loopback)).is_known


OBJECTS = """
```
$ kubectl get svc,ep,pods -A -o yaml
apiVersion: v1
kind: List
items:
- kind: Service
  metadata: {name: metrics, namespace: tools}
  spec: {clusterIP: 10.96.9.9, selector: {app: metrics}, ports: [{port: PORT, protocol: TCP}]}
- kind: Endpoints
  metadata: {name: metrics, namespace: tools}
  subsets:
  - notReadyAddresses: [{ip: 10.244.1.9, targetRef: {kind: Pod, name: metrics-0}}]
    ports: [{port: PORT, protocol: TCP}]
- kind: Service
  metadata: {name: db, namespace: shop}
  spec: {clusterIP: 10.96.4.4, selector: {app: db}, ports: [{port: 5432, protocol: TCP}]}
- kind: Endpoints
  metadata: {name: db, namespace: shop}
  subsets:
  - addresses: [{ip: 10.244.1.5, targetRef: {kind: Pod, name: db-0}}]
    ports: [{port: 5432, protocol: TCP}]
```
"""


@pytest.mark.parametrize(
    ("complaint", "port", "sure"),
    [
        ("The web pods cannot reach db.shop at port 5432, connections time out.", 9090, False),
        ("Connections to 10.96.4.4 port 5432 of the db service time out.", 9090, False),
        ("The pod web-0 cannot connect to the service db: timeout.", 9090, False),
        ("The web pods cannot reach metrics.tools at port 9090, it times out.", 9090, True),
        ("Connections to metrics-0 time out.", 9090, True),
        ("Some connections in our cluster time out.", 9090, False),
        ("The web pods cannot reach db.shop at port 5432, connections time out.", 53, True),
    ],
)
def test_a_fault_of_a_service_that_nobody_complains_of_is_no_certain_cause(
    complaint: str, port: int, *, sure: bool
) -> None:
    """It is where that service is named, and where it answers for names."""
    text = complaint + "\n" + OBJECTS.replace("PORT", str(port))

    findings = podpath.diagnose(Pasted(text, "ticket.md")).findings

    assert findings[0].check in {"no-endpoints", "endpoint-not-ready"}
    assert sure is any(finding.certainty == 1 for finding in findings)


def test_what_looks_like_an_address_and_is_none_hides_no_other() -> None:
    """A number of 300 in a line is skipped."""
    line = "300.1.1.1 10.2.0.0/16 via 10.9.0.1"

    assert shares_ends(finding(line), list_ends(case(TRIED)))


def test_what_a_walk_found_is_about_the_connection_that_was_walked() -> None:
    """Whatever its line says."""
    walked = replace(finding("no address"), shown_by=Branch(assumptions=(), traces=(), works=False))

    assert shares_ends(walked, list_ends(case(TRIED)))

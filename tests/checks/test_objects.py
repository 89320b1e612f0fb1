"""What the objects of a case say together."""

from __future__ import annotations

import pytest

from podpath.checks.objects import (
    chosen,
    covering,
    endpoints,
    failures,
    is_made_of,
    is_near,
    is_of_all,
    is_of_namespace,
    is_ready,
    is_without_endpoints,
    pods,
    read_prefix,
    see,
    selects,
)
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.provenance import Source, Span
from tests.assembly.evidence_text import case_of_document

TICKET = """
```
$ kubectl -n shop get svc web -o wide
NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE   SELECTOR
web    ClusterIP   10.96.0.20   <none>        80/TCP    5d    app=web
$ kubectl -n shop get endpoints web
NAME   ENDPOINTS   AGE
web    <none>      5d
$ kubectl -n shop get deployment web -o yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: web
        ports:
        - containerPort: 8080
$ kubectl -n shop get svc web -o yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  externalTrafficPolicy: Local
$ curl http://10.96.0.20/
curl: (7) Failed to connect to 10.96.0.20 port 80: Connection refused
```
"""
CASE = case_of_document(TICKET)


def test_sights_of_one_object_are_one() -> None:
    """The table has the selector, the YAML the policy."""
    (service,) = see(CASE, "Service")
    assert ("web", "Local", "shop/web") == (
        service.text_at("spec", "selector", "app"),
        service.text_at("spec", "externalTrafficPolicy"), service.title,
    )  # fmt: skip


def test_a_template_stands_for_its_pods() -> None:
    """A service chooses the template whose labels it selects."""
    (service,) = see(CASE, "Service")
    (pod,) = chosen(CASE, service)
    assert pods(CASE) == (pod,)
    assert ["8080"] == [port.text_at("containerPort") for port in pod.ports]
    assert {"app": "web"} == pod.labels


def test_endpoints_that_are_empty() -> None:
    """Shown and empty is another thing than not shown."""
    (service,) = see(CASE, "Service")
    assert is_without_endpoints(endpoints(service, CASE))
    assert not is_without_endpoints(None)


def test_failures_have_their_destination() -> None:
    """Also where nothing tells from where it was tried."""
    assert ("10.96.0.20", 80, "refused") in [
        (str(one.dst), one.dport, one.result) for one in failures(CASE)
    ]


def test_names_and_ranges() -> None:
    """What is not told may be any namespace; what is no range is none."""
    assert [True, True, False] == [is_near("a", ""), is_near("a", "a"), is_near("a", "b")]
    assert selects({"a": "1"}, {"a": "1", "b": "2"})
    assert not selects({"a": "1"}, {"a": "2"})
    assert read_prefix("x") is None
    assert read_address("x") is None
    assert covering([Prefix.parse("10.0.0.0/8")], Address.parse("10.1.1.1"))
    assert not covering([Prefix.parse("10.0.0.0/8")], Address.parse("fd00::1"))


def test_a_pod_has_the_name_of_what_controls_it() -> None:
    """By letters that are drawn, or a number; another word is another workload."""
    made = ("api", "api-0", "api-x2x9k", "api-7d9f8b6c5-x2x9k")

    assert all(is_made_of(pod, "api") for pod in made)
    assert not any(is_made_of(pod, "api") for pod in ("api-gateway", "apis-0", "web-0"))
    assert not is_made_of("api-0", "")


def test_a_pod_is_ready_by_that_condition_alone() -> None:
    """One that ends has it, too, and gets nothing."""
    rows = "NAME   READY   STATUS   RESTARTS   AGE\na 1/1 Running 0 2m\nb 0/1 Running 0 2m\n"
    case = case_of_document(f"```\n$ kubectl get pods\n{rows}c 1/1 Terminating 0 2m\n```\n")

    assert [("a", True), ("b", False), ("c", False)] == [
        (pod.name, is_ready(pod)) for pod in see(case, "Pod")
    ]


def test_a_list_of_all_nodes_selects_none() -> None:
    """Neither by a name, nor by a label or a field, nor by a filter."""
    whole = ("kubectl get nodes", "oc get no -o wide", "kubectl get nodes --show-labels | sort")
    part = ("kubectl get node a", "kubectl get nodes -l x=y", "kubectl get nodes | head -2")
    field = "kubectl get nodes --field-selector=spec.unschedulable=false"

    def listed(command: str) -> bool:
        rows = "NAME STATUS ROLES AGE VERSION\na Ready <none> 2d v1.29.4\n"
        case = case_of_document(f"```\n$ {command}\n{rows}```\n")
        return any(is_of_all(node.span) for node in see(case, "Node"))

    assert all(map(listed, whole))
    assert not any(map(listed, (*part, field)))


def test_pods_listed_by_a_selector_are_chosen_by_the_same() -> None:
    """A command that asks for other labels lists other pods."""
    listed = """
```
$ kubectl get pods -o wide -l SELECTOR
NAME    READY   STATUS    RESTARTS   AGE   IP           NODE
web-0   1/1     Running   0          9d    10.244.1.5   node1
$ kubectl get svc web -o wide
NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE   SELECTOR
web    ClusterIP   10.96.0.20   <none>        80/TCP    5d    app=web,tier=front
```
"""
    found = {}
    for selector in ("tier=front,app==web", "app=web", "app!=web"):
        case = case_of_document(listed.replace("SELECTOR", selector))
        (service,) = see(case, "Service")
        found[selector] = [pod.seen.name for pod in chosen(case, service)]

    assert found == {"tier=front,app==web": ["web-0"], "app=web": [], "app!=web": []}


@pytest.mark.parametrize(
    ("command", "whole", "selected"),
    [
        ("kubectl -n till get netpol", True, True),
        ("kubectl get pods -n shop -o wide", True, True),
        ("kubectl get pods -l app=web -o wide", False, True),
        ("kubectl get pod web-0 -o yaml", False, False),
        ("kubectl get pods -o wide | grep web", False, False),
        ("kubectl get pods -l app=web --field-selector spec.nodeName=node1", False, False),
    ],
)
def test_a_list_of_a_namespace_names_none(command: str, *, whole: bool, selected: bool) -> None:
    """A name, a filter or a field leaves some out; labels leave out what nobody asks about."""
    span = Span(Source(name="ticket", lines=(), command=command), 1, 1)

    assert (whole, selected) == (is_of_namespace(span), is_of_namespace(span, selected=True))

"""Flows that the evidence asks for, and the file of them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from podpath.flows.derive import derive_flows, emit_flows
from podpath.flows.file import read_flows
from podpath.flows.flow import Expectation, Flow
from podpath.net.protocols import TCP, UDP
from podpath.node.case import Case
from podpath.node.node import Node, Service, ServicePort
from podpath.testing.nodes import ip
from tests.checks.test_policies import DENY, LABELS, objects
from tests.flows.samples import given_sound_node

PROBED = (
    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: api\n  namespace: shop\nspec:\n"
    "  nodeName: n\n  containers:\n  - name: main\n    ports:\n    - name: web\n"
    "      containerPort: 8080\n    readinessProbe:\n      httpGet:\n        port: web\n"
)


def service(name: str, protocol: int, port: int, *ends: str) -> Service:
    """Return a service."""
    endpoints = tuple((ip(end), port) for end in ends)
    ports = (ServicePort(protocol=protocol, port=port, endpoints=endpoints),)
    return Service(
        namespace="shop", name=name, type="ClusterIP", addresses=(ip("10.96.0.9"),), ports=ports
    )


def given_node_with(*services: Service) -> Node:
    """Return the node with services."""
    return replace(given_sound_node(), services=services)


def test_services_with_endpoints_have_to_answer() -> None:
    """In the order of their names; one without endpoints is asked for nothing."""
    node = given_node_with(
        service("web", TCP, 80, "10.1.0.2"),
        service("dns", UDP, 53, "10.2.0.2"),
        service("none", TCP, 80),
    )

    assert ["udp pod/shop/api > svc/shop/dns:53", "tcp pod/shop/api > svc/shop/web:80"] == [
        flow.probe for flow in derive_flows(Case(node=node))
    ]


def test_probes_come_from_the_node() -> None:
    """The name of a port is looked up in its container."""
    case = Case(node=given_sound_node(), objects=objects(PROBED))

    (flow,) = derive_flows(case)

    assert ("tcp host > pod/shop/api:8080", Expectation.CONNECTS) == (flow.probe, flow.expect)


def test_a_probe_may_name_another_host() -> None:
    """As pods on their node's network do, which listen on its loopback address alone."""
    text = f"{PROBED}        host: 127.0.0.1\n"

    (flow,) = derive_flows(Case(node=given_sound_node(), objects=objects(text)))

    assert flow.probe == "tcp host > 127.0.0.1:8080"
    assert "readinessProbe of main" in flow.origin


def test_what_policies_forbid_has_to_fail() -> None:
    """At the ports that services lead to."""
    node = given_node_with(service("api", TCP, 80, "10.2.0.2"))
    case = Case(node=node, objects=objects(DENY, *LABELS))
    failing = [flow for flow in derive_flows(case) if flow.expect is Expectation.FAILS]

    assert ["tcp pod/shop/web > pod/shop/api:80"] == [flow.probe for flow in failing]


@given(st.text(min_size=1), st.text())
def test_what_is_emitted_is_read(name: str, origin: str) -> None:
    """Whatever stands in names and origins."""
    flow = Flow(
        name=name, source="host", target="10.0.0.1:80", expect=Expectation.FAILS, origin=origin
    )

    (read,) = read_flows(emit_flows([flow]), "f")

    assert (flow.name, flow.probe, flow.expect) == (read.name, read.probe, read.expect)

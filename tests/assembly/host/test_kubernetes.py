"""Services, pods, CNI networks, Cilium's options, and the node's name."""

from __future__ import annotations

from podpath.assembly.case import assemble_case
from podpath.evidence.kubernetes.records import CiliumOptionRecord, CniRecord, PodRecord
from podpath.net.provenance import Span
from tests.assembly.evidence_text import (
    Output,
    Read,
    address,
    by_hand,
    case_of,
    known,
    options_of,
    read_outputs,
)

SERVICE = """
Name:              shop
Namespace:         prod
Type:              ClusterIP
IP:                10.96.7.7
Port:              <unset>  80/TCP
TargetPort:        8080/TCP
Endpoints:         10.9.1.4:8080,10.9.1.5:8080 + 2 more...
"""


def test_service() -> None:
    """A described service keeps its ports and endpoints, and says where the list was cut; a second
    description adds nothing.
    """
    case = case_of(
        Output("kubectl describe service shop", SERVICE),
        Output("kubectl -n prod describe service shop", SERVICE),
    )
    (service,) = case.node.services
    assert (service.namespace, service.name, [str(own) for own in service.addresses]) == (
        "prod",
        "shop",
        ["10.96.7.7"],
    )
    (port,) = service.ports
    assert (port.port, [str(own) for own, _ in port.endpoints], port.complete) == (
        80,
        ["10.9.1.4", "10.9.1.5"],
        False,
    )


def test_cilium_options() -> None:
    """Options are facts; two values of one are both options."""

    def make(value: str, line: int) -> Read:
        return by_hand(
            lambda span: (CiliumOptionRecord(span=span, key="enable-bpf-masquerade", value=value),),
            first_line=line,
        )

    case = assemble_case([make("true", 1)])
    assert case.node.cilium is not None
    assert known(case.node.cilium.options["enable-bpf-masquerade"]) == "true"
    both = assemble_case([make("true", 1), make("false", 5)])
    assert both.node.cilium is not None
    assert options_of(both.node.cilium.options["enable-bpf-masquerade"]) == ["true", "false"]


def test_cilium_by_its_device() -> None:
    """A device of Cilium's says that it runs, though no option is shown."""
    case = case_of(Output("ip route", "10.9.0.0/16 via 10.9.1.1 dev cilium_host"))
    assert case.node.cilium is not None
    assert dict(case.node.cilium.options) == {}
    assert case_of(Output("ip route", "10.9.0.0/16 via 10.9.1.1 dev eth0")).node.cilium is None


def test_cni_network() -> None:
    """A network keeps its plugins in the order of the chain."""
    record = by_hand(
        lambda span: (
            CniRecord(
                span=span,
                name="pods",
                version="0.4.0",
                plugins=({"type": "bridge"}, {"type": "portmap"}, {}),
            ),
        )
    )
    (network,) = assemble_case([record]).node.cni
    assert (network.name, network.plugins, network.path) == (
        "pods",
        ("bridge", "portmap"),
        "ticket.md",
    )


def _pods(*pods: tuple[str, str | None, str]) -> Read:
    def make(span: Span) -> tuple[PodRecord, ...]:
        return tuple(
            PodRecord(
                span=span,
                namespace="shop",
                name=name,
                address=address(own) if own else None,
                node=node,
            )
            for name, own, node in pods
        )

    return by_hand(make)


def test_pods_are_merged() -> None:
    """A pod that two outputs list is one, with the address that either shows."""
    case = assemble_case(
        [_pods(("web", None, "n1"), ("web", "10.9.1.4", "n1"), ("db", "10.9.1.5", "n1"))]
    )
    assert [(pod.name, str(pod.address)) for pod in case.node.pods] == [
        ("web", "10.9.1.4"),
        ("db", "10.9.1.5"),
    ]


def test_name_of_the_node() -> None:
    """The prompt of commands that show a node names it, that of a workstation does not; else the
    pods' one node does.
    """
    at_prompt = read_outputs(Output("ip route", "default via 10.1.0.1 dev eth0"))
    assert assemble_case(at_prompt).node.name == "n1"
    assert assemble_case([_pods(("web", "10.9.1.4", "worker-2"))]).node.name == "worker-2"
    assert (
        assemble_case([_pods(("a", None, "worker-2"), ("b", None, "worker-3"))]).node.name == "node"
    )

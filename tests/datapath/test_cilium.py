"""Tests of Cilium's programs, modeled from its configuration."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.cilium.programs import STAND_IN, _is_native, is_endpoint
from podpath.datapath.cilium.services import choose_endpoint, is_service
from podpath.datapath.conversations.conversation import converse
from podpath.datapath.reasons.boundaries import BoundaryMet
from podpath.datapath.reasons.cilium import DeliveredToHost
from podpath.datapath.tracing.trace import Delivered, Trace, Transmitted, Undecided
from podpath.datapath.vocabulary import BoundaryName
from podpath.net.packet import Packet
from podpath.net.provenance import Source, Span
from podpath.node.netfilter import Netfilter
from podpath.node.node import Frontend, Node, Service, ServicePort
from podpath.report.sentences import spell_failure
from podpath.testing.nodes import (
    Fields,
    forwarding,
    given_cilium,
    given_netns,
    given_node,
    ip,
    probe,
)
from tests.datapath.given import given_tables
from tests.datapath.walks import decisions, given_walk, host, last, packet, reasons

WORLD = probe("tcp 10.1.0.2 > 203.0.113.9:80")
INVALID_FIRST = """
*filter
:FORWARD ACCEPT [0:0]
:KUBE-FORWARD - [0:0]
:CILIUM_FORWARD - [0:0]
-A FORWARD -j KUBE-FORWARD
-A FORWARD -j CILIUM_FORWARD
-A KUBE-FORWARD -m conntrack --ctstate INVALID -j DROP
-A CILIUM_FORWARD -i lxc+ -j ACCEPT
COMMIT
"""
CILIUM_FIRST = INVALID_FIRST.replace("-A FORWARD -j KUBE-FORWARD\n", "").replace(
    "COMMIT", "-A FORWARD -j KUBE-FORWARD\nCOMMIT"
)


def given(
    rules: str = "",
    *,
    rp_filter: str = "0",
    routes: str = "",
    addresses: str = "192.0.2.2/24",
    **options: str,
) -> Node:
    """Return a node of two pods, with Cilium's devices; `routes` are those to pods, separated by
    commas.
    """
    devices = (
        f"eth0 {addresses}",
        "cilium_host 10.1.0.1/32 noarp",
        "cilium_vxlan",
        "lxca peer a:eth0",
        "lxcb peer b:eth0",
    )
    to_pods = (routes or "10.1.0.0/24 dev cilium_host, 10.2.0.0/24 dev cilium_host").split(", ")
    fields: Fields = {"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}}
    pods = [
        given_netns(
            name, f"eth0 10.1.0.{number}/32 peer host:lxc{name}", routes=["default dev eth0"]
        )
        for number, name in ((2, "a"), (3, "b"))
    ]
    all_routes = [*to_pods, "default via 192.0.2.254 dev eth0"]
    main = given_netns(
        "host", *devices, routes=all_routes, sysctls=forwarding(rp_filter=rp_filter), netns=fields
    )
    return given_node(main, *pods, cilium=given_cilium(**options))


def arrived_as(trace: Trace) -> Packet:
    """Return the packet as it left the node or reached its namespace."""
    assert isinstance(trace.outcome, Transmitted | Delivered)
    return trace.outcome.packet


BPF: Fields = {"enable_bpf_masquerade": "true"}


def test_bpf_masquerade_hides_the_answer_from_conntrack() -> None:
    """The SYN leaves masqueraded; its answer goes straight to the pod, past the host's
    netfilter.
    """
    traces = converse(given(INVALID_FIRST, **BPF), WORLD).branches[0].traces

    assert "192.0.2.2" == str(arrived_as(traces[0]).src)
    assert [
        "host device receive: receive",
        "host tc ingress: redirect",
        "host tc ingress: redirect",
    ] == decisions(traces[1])[:3]
    assert not any("conntrack" in text for text in decisions(traces[1]))


def test_the_handshakes_ack_is_invalid_and_dropped_before_ciliums_accept() -> None:
    """Conntrack saw only the SYN, so the ACK is INVALID; a rule that drops those first breaks every
    connection out.
    """
    found = converse(given(INVALID_FIRST, **BPF), WORLD)

    assert ("NEVER", "ACK", "dropped") == (found.verdict, last(found).name, found.branches[0].kind)
    assert "KUBE-FORWARD" in spell_failure(found.branches[0].failure)


def test_ciliums_accept_before_it_lets_it_pass() -> None:
    """With Cilium's chain first the same connection works."""
    assert "ALWAYS" == converse(given(CILIUM_FIRST, **BPF), WORLD).verdict


def test_without_bpf_masquerade_conntrack_sees_both_ways() -> None:
    """Where the configuration does not state it, BPF does not masquerade, and nothing is
    INVALID.
    """
    assert "ALWAYS" == converse(given(INVALID_FIRST), WORLD).verdict


def test_traffic_within_the_cluster_is_not_masqueraded() -> None:
    """Destinations of the native routing network keep the pod's address."""
    node = given(INVALID_FIRST, ipv4_native_routing_cidr="203.0.113.0/24", **BPF)

    assert "10.1.0.2" == str(arrived_as(converse(node, WORLD).branches[0].traces[0]).src)


def test_an_answer_to_the_outside_is_not_masqueraded() -> None:
    """A pod's answer to a connection from outside keeps its address."""
    node = given(CILIUM_FIRST, routes="10.1.0.2 dev lxca", **BPF)

    assert "ALWAYS" == converse(node, probe("tcp 203.0.113.9 > 10.1.0.2:80 in eth0")).verdict


def test_a_device_without_known_address() -> None:
    """Where the device's address is not in evidence a stand-in takes its place, and the step says
    so.
    """
    trace = converse(given(CILIUM_FIRST, addresses="", **BPF), WORLD).branches[0].traces[0]

    assert str(STAND_IN) == str(arrived_as(trace).src)
    assert any(
        "stands for the address of eth0, which is not in evidence" in text
        for text in reasons(trace)
    )


def test_local_pods_are_reached_past_the_stack() -> None:
    """A packet to another pod of the node is delivered by the program: rules and rp_filter of the
    host do not see it.
    """
    found = converse(
        given("*filter\n:FORWARD DROP [0:0]\nCOMMIT", rp_filter="1"),
        probe("tcp 10.1.0.2 > 10.1.0.3:80"),
    )

    assert "ALWAYS" == found.verdict
    assert "host device receive: redirect" in decisions(found.branches[0].traces[0])


def test_with_endpoint_routes_the_kernel_delivers() -> None:
    """With a route for each pod what pods send each other passes the host's rules."""
    closed = "*filter\n:FORWARD DROP [0:0]\nCOMMIT"
    node = given(
        closed, routes="10.1.0.2 dev lxca, 10.1.0.3 dev lxcb", enable_endpoint_routes="true"
    )

    assert "NEVER" == converse(node, probe("tcp 10.1.0.2 > 10.1.0.3:80")).verdict


def test_pods_of_other_nodes_are_reached_through_the_tunnel() -> None:
    """A destination that is routed to cilium_host goes through the tunnel, and its answer comes
    back by it.
    """
    found = converse(given(rp_filter="1"), probe("tcp 10.1.0.2 > 10.2.0.7:80"))
    outcome = found.branches[0].traces[0].outcome

    assert ("ALWAYS", "cilium_vxlan") == (
        found.verdict,
        outcome.link if isinstance(outcome, Transmitted) else "",
    )


@pytest.mark.parametrize("sender", ["10.1.0.2", "10.1.0.1"])
def test_an_address_of_the_nodes_range_that_nobody_is_seen_to_have(sender: str) -> None:
    """A pod of this node that no output shows may have it, so nothing is sent to another node and
    nothing is said to be dropped.
    """
    routes = "10.1.0.0/24 dev cilium_host src 10.1.0.1, 10.2.0.0/24 dev cilium_host src 10.1.0.1"
    found = converse(given(routes=routes), probe(f"tcp {sender} > 10.1.0.77:80"))
    elsewhere = converse(given(routes=routes), probe(f"tcp {sender} > 10.2.0.77:80"))
    end = last(found).outcome

    assert ("UNDECIDED", "ALWAYS") == (found.verdict, elsewhere.verdict)
    handed = DeliveredToHost("cilium_host") in [
        step.reason for step in elsewhere.branches[0].traces[1].steps
    ]
    assert handed is (sender == "10.1.0.1")
    assert isinstance(end, Undecided)
    assert BoundaryMet(BoundaryName.CILIUM_ENDPOINT, (ip("10.1.0.77"),)) == end.reason
    assert "endpoint list" in end.ask


def test_strict_rp_filter_breaks_pods_to_the_outside_and_to_the_host_alone() -> None:
    """The way back to a pod leads over cilium_host, so the kernel's strict check drops what the
    stack sees of it.
    """
    node = given(rp_filter="1")
    verdicts = {
        text: converse(node, probe(text)).verdict
        for text in (
            "tcp 10.1.0.2 > 203.0.113.9:80",
            "tcp 192.0.2.2 > 10.1.0.2:80",
            "tcp 10.1.0.2 > 10.1.0.3:80",
            "tcp 10.2.0.7 > 10.1.0.2:80",
        )
    }

    assert ["NEVER", "NEVER", "ALWAYS", "ALWAYS"] == list(verdicts.values())


def test_the_host_reaches_pods_through_cilium_host() -> None:
    """What the host sends to a pod is delivered by the program at cilium_host."""
    found = converse(given(), probe("tcp 192.0.2.2 > 10.1.0.2:80"))

    assert ("ALWAYS", "host tc egress: redirect") == (
        found.verdict,
        decisions(found.branches[0].traces[0])[2],
    )


@pytest.mark.parametrize(
    ("kernel", "likeliest"), [("5.15.0", "ALWAYS"), ("4.19.0", "NEVER"), (None, "NEVER")]
)
def test_bpf_host_routing_is_asked_for_where_the_kernel_decides(
    kernel: str | None, likeliest: str
) -> None:
    """With kube-proxy replaced and BPF masquerade what pods send may skip netfilter: a recent
    kernel makes that the likelier.
    """
    node = replace(given(INVALID_FIRST, kube_proxy_replacement="true", **BPF), kernel=kernel)
    found = converse(node, WORLD)

    assert (likeliest == "ALWAYS", "SOMETIMES") == (found.branches[0].works, found.verdict)


@pytest.mark.parametrize(("stated", "verdict"), [("true", "NEVER"), ("false", "ALWAYS")])
def test_stated_host_routing_is_not_asked_for(stated: str, verdict: str) -> None:
    """`enable-host-legacy-routing` settles it."""
    node = given(
        INVALID_FIRST, kube_proxy_replacement="true", enable_host_legacy_routing=stated, **BPF
    )

    assert verdict == converse(node, WORLD).verdict


SERVICE = Service(
    namespace="prod", name="web", type="ClusterIP", addresses=(ip("10.96.0.10"),),
    ports=(ServicePort(protocol=6, port=80, node_port=30080, endpoints=((ip("10.1.0.3"), 8080),)),),
)  # fmt: skip


@pytest.mark.parametrize(
    "source", ["tcp 10.1.0.2 > 10.96.0.10:80", "tcp 192.0.2.2 > 10.96.0.10:80"]
)
def test_services_are_translated_before_netfilter_sees_them(source: str) -> None:
    """Pods at their device, and every socket where kube-proxy is replaced: the client still sees
    the service.
    """
    node = replace(given(kube_proxy_replacement="true"), services=(SERVICE,))
    found = converse(node, probe(source))

    assert "ALWAYS" == found.verdict
    assert "10.1.0.3" == str(arrived_as(found.branches[0].traces[0]).dst)
    assert "10.96.0.10" == str(arrived_as(found.branches[0].last).src)


def test_services_from_outside_are_not_modelled() -> None:
    """A node port that Cilium translates is a boundary of the model, and the walk says so."""
    node = replace(given(kube_proxy_replacement="true"), services=(SERVICE,))

    assert "UNDECIDED" == converse(node, probe("tcp 203.0.113.9 > 192.0.2.2:30080 in eth0")).verdict


def test_which_packets_are_for_a_service() -> None:
    """Services are known by address and port, or by a node port on an address of the host."""
    node = replace(given(), services=(SERVICE,))
    walk = given_walk(node)

    assert (ip("10.1.0.3"), 8080) == choose_endpoint(walk, packet("10.1.0.2", "10.96.0.10"))
    assert None is choose_endpoint(walk, packet("10.1.0.2", "10.96.0.10", dport=81))
    assert [True, True, False] == [
        is_service(node, packet("203.0.113.9", dst, dport=port), host(walk))
        for dst, port in (("10.96.0.10", 80), ("192.0.2.2", 30080), ("192.0.2.2", 80))
    ]


def test_endpoints_are_known_by_their_device() -> None:
    """Cilium names a pod's host device `lxc` and a random word."""
    walk = given_walk(given())

    assert [True, False] == [is_endpoint(host(walk).link(name)) for name in ("lxca", "eth0")]


def with_maps(*, proxy: bool = True, **frontends: tuple[str, ...]) -> Node:
    """Return the node with a load balancer: `f80` (ClusterIP) or `n30080` (NodePort) with its
    backends.
    """
    held = {}
    for name, backends in frontends.items():
        cluster = name.startswith("f")
        ends = tuple((ip(text.split(":")[0]), int(text.split(":")[1])) for text in backends)
        flags = frozenset({"ClusterIP", "non-routable"} if cluster else {"NodePort"})
        lines = (name, *backends)
        source = Source(name="lb", lines=lines)
        spans = tuple(Span(source, line, line) for line in range(1, len(lines) + 1))
        address = ip("10.96.0.10" if cluster else "192.0.2.2")
        held[address, int(name[1:]), 0] = Frontend(backends=ends, flags=flags, spans=spans)
    node = given(kube_proxy_replacement="true" if proxy else "false")
    assert node.cilium is not None
    return replace(node, cilium=replace(node.cilium, frontends=held))


def test_a_node_port_from_outside_by_the_maps() -> None:
    """The map's backend gets the packet with the client's address, and the answer the service's."""
    node = with_maps(n30080=("10.1.0.2:8080",))
    found = converse(node, probe("tcp 198.51.100.7 > 192.0.2.2:30080 in eth0"))
    first, second = found.branches[0].traces[:2]

    assert "ALWAYS" == found.verdict
    assert isinstance(first.outcome, Delivered)
    assert ("10.1.0.2", 8080) == (str(first.outcome.packet.dst), first.outcome.packet.dport)
    assert ["10.1.0.2:8080", "n30080"] == [
        span.text for step in first.steps if step.decision == "dnat" for span in step.spans
    ]
    assert "from the maps" in " ".join(reasons(first))
    assert isinstance(second.outcome, Transmitted)
    assert ("192.0.2.2", 30080) == (str(second.outcome.packet.src), second.outcome.packet.sport)


def test_a_backend_on_another_node_is_open() -> None:
    """What leads to another node's pod is not modeled."""
    node = with_maps(n30080=("10.2.0.7:8080",))

    assert "UNDECIDED" == (
        converse(node, probe("tcp 198.51.100.7 > 192.0.2.2:30080 in eth0")).verdict
    )


@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("tcp 198.51.100.7 > 192.0.2.2:30080 in eth0", "TC_INGRESS"),
        ("tcp 10.1.0.2 > 10.96.0.10:80 from a", "EHOSTUNREACH"),
    ],
)
def test_a_service_without_backends(what: str, end: str) -> None:
    """Nobody is reached by a service of which the maps hold no backend, and its line says so."""
    found = converse(with_maps(n30080=(), f80=()), probe(what))
    outcome = found.branches[0].last.outcome

    assert "NEVER" == found.verdict
    assert end in {getattr(outcome, "reason", ""), getattr(outcome, "answer", "")}
    assert found.branches[0].last.deciding.spans[0].text in {"n30080", "f80"}


def test_a_node_port_on_loopback_is_open() -> None:
    """A process of the host reaches a node port by 127.0.0.1, which the entry for any address
    serves; with which source is not modeled.
    """
    node = with_maps(n30080=("10.1.0.2:8080",))
    assert node.cilium is not None
    held = {(ip("0.0.0.0"), 30080, 0): next(iter(node.cilium.frontends.values()))}
    node = replace(node, cilium=replace(node.cilium, frontends=held))

    assert "UNDECIDED" == converse(node, probe("tcp 127.0.0.1 > 127.0.0.1:30080")).verdict


def test_the_maps_count_and_not_what_kubernetes_says() -> None:
    """A service that the maps do not hold is not translated; one that they hold goes to the map's
    backend.
    """
    services = (SERVICE,)
    stale = replace(with_maps(f81=("10.1.0.3:80",)), services=services)
    held = replace(with_maps(f80=("10.1.0.3:8080",)), services=services)
    asked = probe("tcp 10.1.0.2 > 10.96.0.10:80 from a")

    assert "dnat" not in decisions(converse(stale, asked).branches[0].traces[0])
    delivered = converse(held, asked).branches[0].traces[0].outcome
    assert isinstance(delivered, Delivered)
    assert 8080 == delivered.packet.dport


def test_the_devices_of_pods_and_of_cilium_itself_are_not_the_nodes_own() -> None:
    """Where nobody names them, Cilium takes those that lead out."""
    node = given()
    walk = given_walk(node)
    namespace = host(walk)
    config = walk.engine.cilium
    assert config is not None
    links = [link for link in namespace.ordered if link.name != "lo"]

    assert {"eth0"} == {link.name for link in links if _is_native(namespace, config, link)}


def test_an_endpoint_is_told_with_its_port() -> None:
    """Among several the kernel draws."""
    (port,) = SERVICE.ports
    ends = ((ip("10.1.0.3"), 8080), (ip("10.1.0.4"), 9090))
    service = replace(SERVICE, ports=(replace(port, endpoints=ends),))
    walk = given_walk(replace(given(), services=(service,)), 1)
    choose_endpoint(walk, packet("10.1.0.2", "10.96.0.10"))

    assert ["endpoint 10.1.0.4:9090"] == [made.meaning for made in walk.choices.made]

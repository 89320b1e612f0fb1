"""Connections that any node should carry: of every kind that the evidence shows ends for, and never
many.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.diagnosis.flows import (
    OTHER_NODES,
    PODS,
    BaselineKind,
    _services_by_rules,
    derive_flows,
    list_flows,
)
from podpath.library.reading import read
from podpath.node.netfilter import Netfilter
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node
from tests.datapath.given import given_rules, given_tables
from tests.diagnosis.scenes import bridged_node, whole

RULES = Path(__file__).parent.parent / "data" / "live" / "kube-proxy-and-flannel.rules"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Node:
    """Return a node with five pods, kube-proxy's rules and a tunnel to another node's pods."""
    folder = tmp_path_factory.mktemp("node") / "bundle"
    host = folder / "netns" / "host"
    host.mkdir(parents=True)
    (host / "iptables-save.txt").write_text(RULES.read_text())
    (host / "ip-addr.txt").write_text(
        "1: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n    inet 192.168.50.11/24 scope global eth0\n"
        "2: flannel.1: <BROADCAST,UP,LOWER_UP> mtu 1450\n"
        "    vxlan id 1 local 192.168.50.11 dstport 8472 nolearning\n"
        "    inet 10.244.1.0/32 scope global flannel.1\n"
    )
    (host / "ip-route.txt").write_text(
        "default via 192.168.50.1 dev eth0\n"
        + "".join(
            f"10.244.{number}.0/24 via 10.244.{number}.0 dev flannel.1 onlink\n"
            for number in range(2, 9)
        )
    )
    for number in range(5):
        pod = folder / "netns" / f"pod{number}"
        pod.mkdir()
        (pod / "ip-addr.txt").write_text(
            "2: eth0@if9: <BROADCAST,UP,LOWER_UP> mtu 1450\n"
            f"    inet 10.244.1.{number + 5}/24 scope global eth0\n"
        )
    return read((str(folder),)).nodes[0].facts.node


def test_every_kind_is_walked(node: Node) -> None:
    """Rules of kube-proxy and portmap, routes and addresses give each kind its ends."""
    assert set(BaselineKind) == {flow.kind for flow in list_flows(node)}


def test_their_number_is_bounded_and_spread(node: Node) -> None:
    """The first, a middle and the last pod speak; of seven other nodes two are spoken to."""
    flows = list_flows(node)
    speakers = {str(flow.probe.netns) for flow in flows if flow.kind is BaselineKind.POD_TO_POD}
    others = [flow for flow in flows if flow.kind is BaselineKind.TO_OTHER_NODE]
    assert (PODS, {"pod0", "pod2", "pod4"}) == (len(speakers), speakers)
    assert OTHER_NODES == len(others)
    assert len(flows) < 40


def test_ports_of_the_node_come_from_outside(node: Node) -> None:
    """The router asks for the NodePort and the hostPort, by the device of the default route."""
    asked = {
        (str(flow.probe.src), flow.probe.dport, flow.probe.in_dev)
        for flow in list_flows(node)
        if flow.kind is BaselineKind.OPEN_PORT
    }
    assert {("192.168.50.1", 30080, "eth0"), ("192.168.50.1", 8088, "eth0")} == asked


def test_a_node_without_kubernetes_has_fewer() -> None:
    """Nothing is made up: without rules and tunnels there are pods, a service and the world."""
    probes = derive_flows(whole(bridged_node("1")))
    assert len(set(probes)) == len(probes) > 0


def test_a_service_is_what_a_rule_sends_on_by_its_whole_address() -> None:
    """A range is none, nor an address that a rule decides about at once."""
    rules = given_rules(
        "PREROUTING -d 10.96.0.0/16 -p tcp -m tcp --dport 81 -j KUBE-SVC-A",
        "PREROUTING -d 10.96.0.2/32 -p tcp -m tcp --dport 82 -j ACCEPT",
        "PREROUTING -d 10.96.0.3/32 -p tcp -m tcp --dport 83 -j KUBE-SVC-A",
        table="nat", chains=("KUBE-SVC-A",),
    )  # fmt: skip
    netfilter = Netfilter(tables=given_tables(rules), complete=True)
    host = given_node(given_netns("host", netns={"netfilter": {4: netfilter}}))

    assert [83] == [service.port for service in _services_by_rules(host)]

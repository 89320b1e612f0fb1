"""Packets that leave for a router which may be another node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.diagnosis.forbids import RestsOnInference
from podpath.flows.flow import Expectation, Flow
from podpath.library.diagnosis import diagnose
from podpath.library.flows import check
from podpath.library.given import Pasted
from podpath.library.trace import trace
from podpath.library.why import WhyResult, why
from tests.clusters import OBJECTS, RECORDED, unpack

WAYS = {"node1": ("10.244.0.0/24", "10.199.0.12"), "node2": ("10.244.1.0/24", "10.199.0.11")}
NODES = """
apiVersion: v1
kind: List
items:
- kind: Node
  metadata: {name: elsewhere}
  status: {addresses: [{type: InternalIP, address: 10.199.0.77}]}
"""


def lay_routes(folder: Path) -> dict[str, str]:
    """Return the folders of a cluster's nodes that route each other's pods by their addresses."""
    nodes = unpack(folder)
    for name, (pods, gateway) in WAYS.items():
        path = Path(nodes[name]) / "netns" / "host" / "ip-route.json"
        routes = [one for one in json.loads(path.read_text()) if one.get("dst") != pods]
        way = {"type": "unicast", "dst": pods, "gateway": gateway, "dev": "eth0", "flags": []}
        path.write_text(json.dumps([*routes, way | {"table": "main", "protocol": "boot"}]))
    return nodes


def ask(
    folder: Path, *given: str, objects: str | Pasted = "", end: str = "10.244.0.3:8080"
) -> WhyResult:
    """Ask such a cluster, of which these nodes are given."""
    nodes = lay_routes(folder)
    chosen = {name: nodes[name] for name in given}
    return why("10.244.1.2", end, nodes=chosen, objects=objects or ())


@pytest.mark.parametrize("given", ["node1", "node2"])
@pytest.mark.parametrize("objects", ["", str(OBJECTS)])
def test_a_node_that_routes_pods_and_is_not_given_is_asked_for(
    given: str, objects: str, tmp_path: Path
) -> None:
    """Nobody but it tells what becomes of the packets that it is sent."""
    answer = ask(tmp_path, given, objects=objects)

    assert (answer.verdict, answer.findings) == ("possible", ())
    if not objects:
        assert [RestsOnInference] == [type(one) for one in answer.diagnosis.forbids]
        assert answer.questions[0].ask.endswith(f"run on the node that has {WAYS[given][1]}")


def test_with_both_nodes_it_works(tmp_path: Path) -> None:
    """Nothing leaves for a node that is not there."""
    assert ask(tmp_path, *WAYS).verdict == "none"


@pytest.mark.parametrize("end", ["8.8.8.8:53", "192.168.77.7:5432"])
def test_what_leaves_by_the_default_route_is_of_the_world(end: str, tmp_path: Path) -> None:
    """Its router is no node."""
    assert ask(tmp_path, "node1", end=end).verdict == "none"


@pytest.mark.parametrize(
    ("end", "verdict"), [("10.250.9.7:80", "possible"), ("10.251.9.7:80", "none")]
)
def test_a_range_of_pods_that_a_node_has_is_its_whatever_router_is_asked(
    end: str, verdict: str, tmp_path: Path
) -> None:
    """A cloud's router has the routes to pods: what it passes on, only the node takes in."""
    ranged = NODES.replace("  status:", "  spec: {podCIDR: 10.250.9.0/24}\n  status:")
    assert ask(tmp_path, "node1", objects=Pasted(ranged, "api"), end=end).verdict == verdict


def test_a_range_of_pods_that_is_none_says_nothing(tmp_path: Path) -> None:
    """Masked ranges are in tickets."""
    masked = NODES.replace("  status:", "  spec: {podCIDR: 10.x.9.0/24}\n  status:")
    told = ask(tmp_path, "node1", objects=Pasted(masked, "api"), end="10.251.9.7:80")

    assert told.verdict == "none"


@pytest.mark.parametrize(
    ("end", "asked"),
    [
        ("10.244.77.5:80", True),
        ("10.96.0.99:80", True),
        ("10.97.0.99:80", False),
        ("10.199.0.77:80", False),
        ("8.8.8.8:53", False),
    ],
)
def test_an_address_among_pods_and_services_that_none_has_is_asked_about(
    end: str, *, asked: bool
) -> None:
    """Nobody but the cluster has such a network; one that its nodes are in may hold anybody."""
    nodes = {name: str(RECORDED / f"{name}.tar.gz") for name in WAYS}
    answer = why("pod/shop/web-node1", end, nodes=nodes, objects=str(OBJECTS))
    asks = [one.ask for one in answer.questions]
    assert ("kubectl get pods,services,endpoints -A -o wide" in asks) is asked
    assert not (asked and answer.verdict == "none")


def test_a_router_that_the_objects_list_as_no_node_is_none(tmp_path: Path) -> None:
    """They show which addresses nodes have."""
    assert ask(tmp_path, "node1", objects=Pasted(NODES, "api")).verdict == "none"


@pytest.mark.parametrize("given", ["node1", "node2"])
def test_the_snapshot_of_one_node_alone_clears_nothing_that_leaves_for_another(
    given: str, tmp_path: Path
) -> None:
    """Whoever asks about it by addresses is asked for the other node's, and so is a flow; that it
    connects is certain again with what it says of itself.
    """
    bundle, end = lay_routes(tmp_path)[given], "10.244.0.3:8080"
    asked = f"tcp 10.244.1.2 > {end}"
    flow = Flow(name="n", source="10.244.1.2", target=end, expect=Expectation.CONNECTS)

    walked, answer = trace(bundle, asked), diagnose(bundle, [asked])
    (checked,) = check(bundle, [flow]).flows

    assert (walked.verdict, answer.verdict) == ("UNDECIDED", "possible")
    assert checked.is_met is None
    said = [one for one in walked.forbids if isinstance(one, RestsOnInference)]
    asks = [guess.ask for one in said for guess in one.guesses]
    assert asks == [f"podpath snapshot -o node.tar.gz, run on the node that has {WAYS[given][1]}"]
    if given == "node1":
        assert trace(bundle, "tcp 10.244.1.2 > 8.8.8.8:53").verdict == "ALWAYS"


PLAIN = """\
$ ip -d addr
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN
    inet 127.0.0.1/8 scope host lo
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    inet 192.168.7.2/24 scope global eth0
{bridge}$ ip route
default via 192.168.7.1 dev eth0
{route} via 192.168.7.9 dev eth0
192.168.7.0/24 dev eth0 proto kernel scope link src 192.168.7.2
"""
BRIDGE = """\
3: br7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff
    bridge forward_delay 1500
    inet 10.20.1.1/24 scope global br7
"""


@pytest.mark.parametrize(
    ("bridge", "route", "asked"),
    [
        (BRIDGE, "10.20.2.0/24", True),
        (BRIDGE, "10.20.0.0/16", False),
        ("", "10.20.2.0/24", False),
        (BRIDGE, "203.0.113.0/24", False),
    ],
)
def test_without_pods_a_range_as_long_as_ones_own_may_be_another_nodes(
    bridge: str, route: str, *, asked: bool
) -> None:
    """Hosts that route each other's bridges have ranges of one length; a router to other private
    networks, or to public ones, is a router.
    """
    end = "10.20.2.5" if route.startswith("10.") else "203.0.113.5"
    text = PLAIN.format(bridge=bridge, route=route)
    forbids = trace(Pasted(text, "host"), f"tcp 192.168.7.2 > {end}:80").forbids
    guesses = [one for one in forbids if isinstance(one, RestsOnInference)]
    said = [guess.why for one in guesses for guess in one.guesses]
    assert (
        any(why.startswith("192.168.7.9, of which there is no evidence") for why in said) is asked
    )

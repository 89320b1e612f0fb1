"""Packets that leave for a router which may be another node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podpath.diagnosis.forbids import RestsOnInference
from podpath.library.given import Pasted
from podpath.library.why import WhyResult, why
from tests.clusters import OBJECTS, unpack

WAYS = {"node1": ("10.244.0.0/24", "10.199.0.12"), "node2": ("10.244.1.0/24", "10.199.0.11")}
NODES = """
apiVersion: v1
kind: List
items:
- kind: Node
  metadata: {name: elsewhere}
  status: {addresses: [{type: InternalIP, address: 10.199.0.77}]}
"""


def ask(
    folder: Path, *given: str, objects: str | Pasted = "", end: str = "10.244.0.3:8080"
) -> WhyResult:
    """Ask a cluster whose nodes route each other's pods by their addresses, of which these nodes
    are given.
    """
    nodes = unpack(folder)
    for name, (pods, gateway) in WAYS.items():
        path = Path(nodes[name]) / "netns" / "host" / "ip-route.json"
        routes = [one for one in json.loads(path.read_text()) if one.get("dst") != pods]
        way = {"type": "unicast", "dst": pods, "gateway": gateway, "dev": "eth0", "flags": []}
        path.write_text(json.dumps([*routes, way | {"table": "main", "protocol": "boot"}]))
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


def test_a_router_that_the_objects_list_as_no_node_is_none(tmp_path: Path) -> None:
    """They show which addresses nodes have."""
    assert ask(tmp_path, "node1", objects=Pasted(NODES, "api")).verdict == "none"

"""Routes of a node against the ranges that the API gives the others."""

from __future__ import annotations

from podpath.checks.between.pod_route import check
from podpath.checks.finding import Finding
from podpath.testing.nodes import given_netns, given_node
from tests.checks.api import case_with, node_object

NODES = (
    node_object("node", "192.0.2.1", "10.244.0.0/24"),
    node_object("b", "192.0.2.2", "10.244.1.0/24"),
    node_object("c", "192.0.2.3", "10.244.2.0/24"),
)
TO_B, TO_C = "10.244.1.0/24 via 192.0.2.2 dev eth0", "10.244.2.0/24 via 192.0.2.3 dev eth0"


def ask(*routes: str) -> list[Finding]:
    """Run the check on a node with these routes."""
    node = given_node(given_netns("host", "eth0 192.0.2.1/24", routes=routes))
    return list(check(case_with(node, *NODES)))


def test_all_routes() -> None:
    """Each range leads to its node, over a tunnel too; without any, nothing is known."""
    assert ask(TO_B, TO_C) == []
    assert ask(TO_B, "10.244.2.0/24 via 10.244.2.0 dev flannel.1") == []
    assert ask(TO_B, "10.244.0.0/16 via 192.0.2.9 dev eth0") == []
    assert ask("default via 192.0.2.254 dev eth0") == []


def test_a_route_to_another_node() -> None:
    """The route is quoted, and the right one is the cure."""
    (found,) = ask(TO_B, "10.244.2.0/24 via 192.0.2.2 dev eth0")

    assert found.certainty == 1.0
    assert found.evidence[0].text == "10.244.2.0/24 via 192.0.2.2 dev eth0"
    assert "to 192.0.2.2, which is b's address" in str(found.claim)
    assert found.repairs[0].commands == ("ip route replace 10.244.2.0/24 via 192.0.2.3 dev eth0",)


def test_a_route_that_is_missing() -> None:
    """The range that the API gives is quoted, with the route to another node as it should be."""
    (found,) = ask(TO_B)

    assert "no route to 10.244.2.0/24, the pod range of c" in str(found.claim)
    assert found.evidence[1].text == TO_B

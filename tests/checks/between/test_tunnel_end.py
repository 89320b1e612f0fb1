"""Forwarding entries of a tunnel against what nodes announce."""

from __future__ import annotations

from podpath.checks.between.tunnel_end import check
from podpath.checks.finding import Finding
from podpath.testing.nodes import given_netns, given_node
from tests.checks.api import case_with, node_object

MAC = "c2:3e:ec:de:6a:6e"
NOTES = (
    ', annotations: {flannel.alpha.coreos.com/backend-data: \'{"VNI":1,"VtepMAC":"%s"}\', '
    "flannel.alpha.coreos.com/public-ip: 192.0.2.2}"
)


def ask(entry: str) -> list[Finding]:
    """Run the check on a node with an entry."""
    node = given_node(given_netns("host", "eth0 192.0.2.1/24", fdb=[entry]))
    return list(check(case_with(node, node_object("b", "10.0.2.15", "10.244.1.0/24", NOTES % MAC))))


def test_an_entry_that_leads_elsewhere() -> None:
    """The entry is quoted, what the node announces beside it."""
    (found,) = ask(f"{MAC} dev flannel.1 dst 192.0.2.77")

    assert found.evidence[0].text == f"{MAC} dev flannel.1 dst 192.0.2.77"
    assert "to 192.0.2.77, but b announces 192.0.2.2" in str(found.claim)
    assert found.repairs[0].commands == (f"bridge fdb replace {MAC} dev flannel.1 dst 192.0.2.2",)


def test_entries_in_order() -> None:
    """What leads to an address of the node, and what is of no node that announces anything."""
    assert ask(f"{MAC} dev flannel.1 dst 192.0.2.2") == []
    assert ask(f"{MAC} dev flannel.1 dst 10.0.2.15") == []
    assert ask("02:00:00:00:00:01 dev flannel.1 dst 192.0.2.77") == []

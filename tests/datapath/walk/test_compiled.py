"""Tests of the engine that walks of one node share."""

from __future__ import annotations

from podpath.datapath.walk.compiled import Engine
from podpath.testing.nodes import given_cilium, given_netns, given_node, ip


def test_namespaces_are_compiled_when_first_met() -> None:
    """An engine indexes a namespace once."""
    engine = Engine(given_node(given_netns("host"), given_netns("pod", "eth0 10.1.0.2/24")))

    assert engine.namespace("pod") is engine.namespace("pod")
    assert engine.namespace("pod").owns(ip("10.1.0.2"))


def test_neighbour_tables_name_the_macs_of_the_nodes_own_devices() -> None:
    """What the host's neighbour table says of a pod's address is the MAC of the pod's device; a
    failed entry says nothing.
    """
    host = given_netns("host", "cni0 bridge 10.1.0.1/24",
                       neighbours=[
                           "10.1.0.2 dev cni0 lladdr 02:00:00:00:00:02 STALE",
                           "10.1.0.3 dev cni0 lladdr 02:00:00:00:00:03 FAILED",
                       ])  # fmt: skip
    engine = Engine(
        given_node(
            host,
            given_netns("a", "eth0 no-mac 10.1.0.2/24"),
            given_netns("b", "eth0 no-mac 10.1.0.3/24"),
        )
    )

    assert ["02:00:00:00:00:02", "(MAC of eth0 in b)"] == [
        engine.namespace(name).mac(engine.namespace(name).link("eth0")) for name in ("a", "b")
    ]


def test_cilium_is_compiled_where_the_evidence_speaks_of_it() -> None:
    """Without a word of Cilium none of its programs run."""
    assert None is Engine(given_node()).cilium
    assert None is not Engine(given_node(cilium=given_cilium(enable_bpf_masquerade="true"))).cilium

"""Modules, sysctls and Cilium's options of two nodes."""

from __future__ import annotations

from dataclasses import replace

from podpath.diagnosis.difference.difference import Difference
from podpath.diagnosis.difference.settings import compare_settings
from podpath.net.provenance import Listing
from podpath.node.node import Node
from podpath.testing.nodes import given_cilium, given_netns, given_node

BRIDGED = "net.bridge.bridge-nf-call-iptables"


def node(*modules: str, listed: bool = True, whole: bool = True, **sysctls: str) -> Node:
    """Return a host with these modules and sysctls; underscores spelled twice stand for dots."""
    keys = {key.replace("__", "."): value for key, value in sysctls.items()}
    host = given_netns("host", sysctls=keys, netns={"sysctls_complete": whole})
    return given_node(host, modules=Listing(modules, listed, "lsmod"))


def bridged(made: Node, value: str) -> Node:
    """Let br_netfilter's sysctl be shown."""
    shown = given_netns("host", sysctls={BRIDGED: value}).sysctls
    host = replace(made.host, sysctls={**made.host.sysctls, **shown})
    return replace(made, namespaces={**made.namespaces, "host": host})


def differing(here: Node, there: Node) -> list[Difference]:
    """Return what differs."""
    return list(compare_settings(here, there))


def test_a_module_that_the_list_lacks_is_loaded() -> None:
    """With the good node's line of its sysctl; a list in part lacks nothing."""
    there = bridged(node("br_netfilter"), "1")
    (module,) = differing(node("veth"), there)

    assert ("module", ("modprobe br_netfilter",)) == (module.kind, module.commands)
    assert [f"{BRIDGED} = 1"] == [span.text for span in module.there]
    assert [] == differing(node("veth", listed=False, whole=False), there)
    assert [] == differing(node("br_netfilter"), there)


def test_a_module_is_told_by_its_sysctls_where_no_list_shows_it() -> None:
    """They are there on the good node, and not among all of the bad one's."""
    there = bridged(node(listed=False), "1")

    assert ["module"] == [each.kind for each in differing(node(listed=False), there)]
    assert [] == differing(node(listed=False, whole=False), there)
    assert [] == differing(bridged(node(listed=False), "1"), there)
    assert [] == differing(node(listed=False), node(listed=False))


def test_sysctls_differ_by_value_where_both_are_shown() -> None:
    """Counters that the kernel keeps are none; a value of several words is quoted."""
    here = node(a__b="1", net__ipv4__ip_local_port_range="32768 60999", only="1")
    there = node(a__b="0", net__ipv4__ip_local_port_range="1024 65000", other="1")
    counted = [node(net__netfilter__nf_conntrack_count=value) for value in "12"]

    assert [
        ("sysctl -w a.b=0",),
        ("sysctl -w net.ipv4.ip_local_port_range='1024 65000'",),
    ] == [each.commands for each in differing(here, there)]
    assert [] == differing(*counted)


def test_a_pods_sysctl_is_set_in_the_pod() -> None:
    """The words and the command name its namespace."""
    here, there = (
        given_node(given_netns("host"), given_netns("pod", sysctls={"a.b": value}))
        for value in "12"
    )
    (difference,) = compare_settings(here, there)

    assert "a.b in netns pod is 1 here, and 2 where it works" == difference.words
    assert ("ip netns exec pod sysctl -w a.b=2",) == difference.commands


def test_options_of_cilium_differ_where_both_nodes_show_them() -> None:
    """One that only one node has says nothing of the other."""
    here, there, bare = (
        replace(node(), cilium=given_cilium(**options))
        for options in ({"tunnel": "vxlan", "x": "1"}, {"tunnel": "disabled", "y": "1"}, {})
    )
    (difference,) = differing(here, there)

    assert "Cilium's tunnel is vxlan here, and disabled where it works" == difference.words
    assert [] == differing(here, bare)
    assert [] == differing(bare, here)
    assert [] == differing(here, node())
    assert [] == differing(node(), here)

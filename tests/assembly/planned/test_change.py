"""A file as a change of the node."""

from __future__ import annotations

from podpath.assembly.planned.change import assemble_change
from podpath.evidence.planned.files import read_change
from podpath.net.provenance import Source
from podpath.node.change import LoadModule, SetSysctl
from podpath.node.node import Node
from podpath.node.planned import PlannedChange
from podpath.testing.nodes import given_netns, given_node

NODE = given_node(
    given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "lxc1",
        sysctls={
            "net.ipv4.conf.all.rp_filter": "1",
            "net.ipv4.conf.default.rp_filter": "1",
            "net.ipv4.conf.eth0.rp_filter": "1",
            "net.ipv4.conf.lxc1.rp_filter": "1",
        },
    )
)


def plan(*lines: str, node: Node = NODE) -> PlannedChange:
    """Read a file as a change of a node."""
    read = read_change(Source(name="x", lines=lines))
    assert read is not None
    return assemble_change(read, node, name="x")


def test_a_pattern_writes_every_key_that_it_names() -> None:
    """And each write knows its line."""
    planned = plan("net.ipv4.conf.all.rp_filter = 0", "net.ipv4.conf.lxc*.rp_filter = 2")

    assert [("net.ipv4.conf.all.rp_filter", "0"), ("net.ipv4.conf.lxc1.rp_filter", "2")] == [
        (one.key, one.value) for one in planned.changes if isinstance(one, SetSysctl)
    ]
    assert [1, 2] == [line.line for line in planned.lines if line is not None]


def test_a_key_that_does_not_exist_is_not_written() -> None:
    """Its module is not loaded: the kernel refuses the write, and nothing changes."""
    assert plan("net.bridge.bridge-nf-call-iptables = 1").changes == ()


def test_commands_load_modules_first() -> None:
    """What a module brings can be set then."""
    planned = plan("modprobe br_netfilter", "sysctl -w net.ipv4.conf.all.rp_filter=2")

    assert [LoadModule, SetSysctl] == [type(one) for one in planned.changes]


def test_an_object_that_is_no_policy_is_refused() -> None:
    """What its controller would do to the node is not modeled."""
    planned = plan(
        "apiVersion: v1",
        "kind: Service",
        "metadata:",
        "  name: api",
        "spec:",
        "  clusterIP: 10.96.0.9",
    )

    assert ["what a Service changes is not modeled"] == [gap.why for gap in planned.refused]

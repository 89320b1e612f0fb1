"""A file as a change of the node."""

from __future__ import annotations

import pytest

from podpath.assembly.planned.change import assemble_change
from podpath.evidence.planned.files import read_change
from podpath.net.provenance import Known, Source, Unknown
from podpath.node.alteration import apply_changes
from podpath.node.change import LoadModule, SetSysctl
from podpath.node.node import Node
from podpath.node.planned import PlannedChange
from podpath.testing.nodes import given_netns, given_node

SYSCTLS = {
    f"net.ipv4.conf.{name}.rp_filter": "1" for name in ("all", "default", "eth0", "lxc1", "v1")
}
NODE = given_node(
    given_netns(
        "host",
        "eth0 192.0.2.2/24",
        "lxc1",
        sysctls=SYSCTLS,
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


@pytest.mark.parametrize(
    "lines",
    [
        ("net.ipv4.conf.eth0.rp_filter = 0", "net.ipv4.conf.*.rp_filter = 2"),
        ("net.ipv4.conf.*.rp_filter = 2", "net.ipv4.conf.eth0.rp_filter = 0"),
        ("-net/ipv4/conf/eth0/rp_filter", "net.ipv4.conf.*.rp_filter = 2"),
        ("net.ipv4.conf.*.rp_filter = 2", "-net.ipv4.conf.eth0.rp_filter"),
    ],
)
def test_a_pattern_leaves_alone_what_the_file_names(lines: tuple[str, ...]) -> None:
    """Before it or behind it, to set it otherwise or to spare it."""
    planned = plan(*lines)
    made = [one for one in planned.changes if isinstance(one, SetSysctl)]
    writes = {one.key: one.value for one in made if one.kept is None}

    assert planned.refused == ()
    assert writes.get("net.ipv4.conf.eth0.rp_filter", "0") == "0"
    assert writes["net.ipv4.conf.all.rp_filter"] == writes["net.ipv4.conf.lxc1.rp_filter"] == "2"


def test_a_new_default_may_reach_devices_that_are_there() -> None:
    """Those whose value nobody wrote before, which the kernel does not show; not one that the file
    wrote, nor one that differs from the old default.
    """
    sysctls = {**SYSCTLS, "net.ipv4.conf.lxc1.rp_filter": "2"}
    node = given_node(given_netns("host", "eth0", "lxc1", "v1", sysctls=sysctls))
    planned = plan(
        "net.ipv4.conf.v1.rp_filter = 1", "net.ipv4.conf.default.rp_filter = 0", node=node
    )
    after = apply_changes(node, planned.changes).host.sysctls

    doubted = after["net.ipv4.conf.eth0.rp_filter"]
    assert isinstance(doubted, Unknown)
    assert [option.value for option in doubted.options] == ["0", "1"]
    others = ("all", "default", "lxc1", "v1")
    found = [after[f"net.ipv4.conf.{name}.rp_filter"] for name in others]
    assert [one.value for one in found if isinstance(one, Known)] == ["1", "0", "2", "1"]


def test_a_pattern_of_what_is_spared_is_refused() -> None:
    """procps takes none, systemd does."""
    planned = plan("net.ipv4.conf.*.rp_filter = 2", "-net.ipv4.conf.lxc*.rp_filter")

    assert [2] == [gap.span.line for gap in planned.refused]


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

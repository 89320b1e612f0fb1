"""Commands that change routes and policy rules, as the kernel takes them."""

from __future__ import annotations

import pytest

from podpath.assembly.planned.routes import assemble_routing
from podpath.evidence.planned.commands import (
    RouteCommandRecord,
    RuleCommandRecord,
    read_commands,
)
from podpath.net.provenance import Source
from podpath.node.alteration import apply_changes
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node

NODE = given_node(
    given_netns(
        "host",
        "eth0 192.0.2.2/24",
        routes=["default via 192.0.2.1 dev eth0", "10.0.0.0/8 via 192.0.2.9 dev eth0 metric 5"],
    )
)


def run(*lines: str) -> tuple[Node, tuple[str, ...]]:
    """Return the node after commands, and why some are refused."""
    read = read_commands(Source(name="s", lines=lines))
    assert read.gaps == ()
    records = [
        one for one in read.records if isinstance(one, RouteCommandRecord | RuleCommandRecord)
    ]
    made, gaps = assemble_routing(records, NODE, "host")
    return apply_changes(NODE, [change for change, _ in made]), tuple(gap.why for gap in gaps)


def routes(node: Node) -> list[str]:
    """Return the destinations of a node's routes, with the devices."""
    return [
        f"{route.prefix} {route.nexthops[0].link}"
        for route in node.host.routes.items
        if route.nexthops
    ]


def test_the_device_behind_a_gateway_is_found() -> None:
    """As the kernel looks up the gateway."""
    node, refused = run("ip route add 10.9.0.0/16 via 192.0.2.7")

    assert () == refused
    assert "10.9.0.0/16 eth0" in routes(node)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ip route add 10.9.0.0/16 via 203.0.113.1", "gateway 203.0.113.1 is on no link"),
        ("ip route add default via 192.0.2.9", "File exists"),
        ("ip route del 10.9.0.0/16", "No such process"),
        ("ip route change 10.9.0.0/16 via 192.0.2.9", "no such route"),
        ("ip route add 10.9.0.0/16 dev nope", "no device nope"),
        ("ip route add 10.9.0.0/16 via 192.0.2.1 table blue", "number of table 'blue'"),
        ("ip rule add lookup main pref 32766", "File exists"),
        ("ip rule del from 10.0.0.1", "no such rule"),
    ],
)
def test_what_the_kernel_refuses_is_said(line: str, why: str) -> None:
    """Nothing changes then."""
    node, refused = run(line)

    assert node == NODE
    assert why in refused[0]


def test_a_deleted_route_is_gone_and_a_replaced_one_is_another() -> None:
    """Of several the words of the command choose."""
    node, _ = run("ip route del 10.0.0.0/8 metric 5", "ip route replace default via 192.0.2.8")
    gateways = [
        str(route.nexthops[0].gateway)
        for route in node.host.routes.items
        if route.prefix.length == 0
    ]

    assert not [route for route in routes(node) if route.startswith("10.0.0.0/8")]
    assert ["192.0.2.8"] == gateways


def test_a_policy_rule_without_a_priority_comes_before_the_second() -> None:
    """The kernel takes one less than the second rule has."""
    node, _ = run("ip rule add from 10.0.0.0/8 lookup 100", "ip rule del pref 32767")

    assert [0, 32765, 32766] == sorted(
        rule.priority for rule in node.host.rules.items if rule.family == 4
    )

"""A node of real network namespaces, as the kernel says it is and as the assembly puts it together
from `ip`'s outputs.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from podpath.assembly.case import assemble_case
from podpath.evidence.recognition import read
from podpath.net.provenance import Source
from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.node import HOST
from tests.assembly.evidence_text import known, link_of

NODE, POD = f"podpath-asm-node-{os.getpid()}", f"podpath-asm-pod-{os.getpid()}"
PATIENCE = 60.0
"""Seconds until every device is up and every address is settled."""
SETUP = f"""
ip netns add {NODE}
ip netns add {POD}
ip -n {NODE} link set lo up
ip -n {NODE} link add br9 type bridge
ip -n {NODE} link set br9 up
ip -n {NODE} address add 10.77.0.1/24 brd + dev br9
ip -n {NODE} address add 10.77.0.2/24 dev br9
ip -n {NODE} link add port1 type veth peer name eth0 netns {POD}
ip -n {NODE} link set port1 master br9 up
ip -n {NODE} link add out0 type veth peer name out1
ip -n {NODE} link set out0 up
ip -n {NODE} link set out1 up
ip -n {NODE} address add 198.51.100.7/31 dev out0
ip -n {NODE} route add default via 198.51.100.6 metric 50
ip -n {NODE} route add unreachable 10.78.0.0/16
ip -n {NODE} route add 10.79.0.0/16 table 900 nexthop via 10.77.0.9 weight 2 nexthop via 10.77.0.10
ip -n {NODE} rule add from 10.77.0.0/24 lookup 900 priority 33
ip -n {NODE} neighbour add 10.77.0.9 lladdr 02:00:00:00:09:09 dev br9 nud permanent
ip -n {POD} link set eth0 up
ip -n {POD} address add 10.77.0.5/24 dev eth0
ip -n {POD} route add default via 10.77.0.1
"""
COMMANDS = ("link", "address", "route show table all", "rule", "neighbour")


def _run(command: str) -> str:
    return subprocess.run(command.split(), check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def namespaces() -> Iterator[None]:
    """Build the two namespaces, and take them down again."""
    try:
        for line in SETUP.strip().split("\n"):
            _run(line)
        _wait_until_settled()
        yield
    finally:
        for name in (NODE, POD):
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def _wait_until_settled() -> None:
    """Wait until nothing changes by itself: until duplicate addresses were looked for."""
    end = time.monotonic() + PATIENCE
    while any(
        "tentative" in told or "state DOWN" in told or "LOWERLAYERDOWN" in told
        for told in (_run(f"ip -n {netns} address show up") for netns in (NODE, POD))
    ):
        assert time.monotonic() < end, "addresses do not settle"
        time.sleep(0.05)


def _collect(netns: str, name: str | None, *, as_json: bool) -> list[Source]:
    options = "-d -j" if as_json else "-d"
    sources = []
    for command in COMMANDS:
        lines = _run(f"ip -n {netns} {options} {command}").rstrip("\n").split("\n")
        sources.append(
            Source(
                name=f"{netns}-{command}",
                lines=tuple(lines),
                command=f"ip {options} {command}",
                netns=name,
            )
        )
    return sources


def _assemble(*, as_json: bool) -> Case:
    sources = [*_collect(NODE, None, as_json=as_json), *_collect(POD, "pod-1", as_json=as_json)]
    return assemble_case(
        [(source, reading) for source in sources if (reading := read(source)) is not None]
    )


def _ask(netns: str, what: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(_run(f"ip -n {netns} -d -j {what}"))
    return [item for item in listed if item]


@pytest.mark.kernel("ip")
@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_node_is_what_the_kernel_says(*, as_json: bool) -> None:
    """Devices, addresses in order, IPv4 routes of all tables, rules and neighbours are those of the
    kernel, each listed whole.
    """
    case = _assemble(as_json=as_json)
    assert case.gaps == ()
    assert set(case.node.namespaces) == {HOST, "pod-1"}
    for netns, real in ((case.node.host, NODE), (case.node.namespaces["pod-1"], POD)):
        assert [(link.name, link.ifindex, link.mtu, link.master) for link in netns.links.items] == [
            (item["ifname"], item["ifindex"], item["mtu"], item.get("master"))
            for item in _ask(real, "link")
        ]
        assert [(
            str(own.address), own.length, own.secondary,
        ) for own in netns.addresses.items if own.address.family == 4] == [
            (own["local"], own["prefixlen"], own.get("secondary", False))
            for item in _ask(real, "-4 address") for own in item["addr_info"]
        ]  # fmt: skip
        assert [
            (str(route.prefix), route.type, route.metric, len(route.nexthops))
            for route in netns.routes.items
            if route.prefix.family == 4
        ] == [
            (
                item["dst"],
                item["type"],
                item.get("metric", 0),
                len(item.get("nexthops", "1")) if "dev" not in item else 1,
            )
            if item["type"] != "unreachable"
            else (item["dst"], "unreachable", 0, 0)
            for item in _ask(real, "-4 route show table all")
        ]
        assert [rule.priority for rule in netns.rules.items if rule.family == 4] == [
            item["priority"] for item in _ask(real, "-4 rule")
        ]
        assert all(listing.complete for listing in (netns.links, netns.addresses, netns.rules))
        assert not any(link.inferred for link in netns.links.items)


@pytest.mark.kernel("ip")
@pytest.mark.usefixtures("namespaces")
def test_text_and_json_give_one_node() -> None:
    """The text forms of the listings say the same of veth pairs, bridge ports and routes as the
    JSON forms.
    """
    text, machine = _assemble(as_json=False).node, _assemble(as_json=True).node
    for node in (text, machine):
        assert known(link_of(node.host, "port1").peer) == Peer(
            netns="pod-1", link=link_of(node.namespaces["pod-1"], "eth0").name
        )
        assert link_of(node.host, "port1").port is not None
        assert node.host.routes.complete is node.namespaces["pod-1"].routes.complete is True
    strip = [
        (route.prefix, route.table, route.nexthops, route.metric, route.prefsrc, route.scope)
        for route in text.host.routes.items
    ]
    assert strip == [
        (route.prefix, route.table, route.nexthops, route.metric, route.prefsrc, route.scope)
        for route in machine.host.routes.items
    ]

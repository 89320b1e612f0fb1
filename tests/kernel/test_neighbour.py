"""The sender address of ARP requests held against the real kernel."""

from __future__ import annotations

import platform
from dataclasses import replace

import pytest

from podpath.datapath.neighbors.arp import announced_source
from podpath.net.probe import Probe
from podpath.node.node import Node
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_walk, host
from tests.kernel.kernel_twin import run_in_child

pytestmark = pytest.mark.kernel("ip", "sysctl")


def given(level: str) -> Node:
    """Return a host with an address of the subnet, a secondary one, and one elsewhere."""
    sysctls = {"net.ipv4.conf.all.arp_announce": level}
    main = given_netns(
        "host",
        "eth0 10.0.0.1/24 10.0.0.5/24 mac 02:00:00:00:00:01 peer world:eth0",
        "lo 203.0.113.7/32",
        sysctls=sysctls,
    )
    routes = ["203.0.113.7 via 10.0.0.1 dev eth0"]
    return given_node(
        main,
        given_netns(
            "world", "eth0 10.0.0.2/24 mac 02:00:00:00:00:02 peer host:eth0", routes=routes
        ),
    )


@pytest.mark.parametrize("level", ["0", "1", "2"])
@pytest.mark.parametrize("source", ["10.0.0.1", "10.0.0.5", "203.0.113.7"])
def test_the_sender_of_a_request_follows_arp_announce(level: str, source: str) -> None:
    """The kernel's first ARP request names the address that the model says."""
    node = replace(given(level), kernel=platform.release())
    run = run_in_child(node, Probe.parse(f"udp {source} > 10.0.0.2:80 from host"))
    requests = [
        frame.arp
        for frame in run.evidence.observation.frames
        if frame.arp is not None and frame.netns == "host" and frame.outgoing
    ]
    walk = given_walk(node)
    predicted = announced_source(host(walk), host(walk).link("eth0"), ip("10.0.0.2"), ip(source))

    assert (predicted, ip("10.0.0.2")) == (requests[0].sender, requests[0].target)


@pytest.mark.parametrize("state", ["REACHABLE", "STALE", "PERMANENT"])
def test_an_entry_with_another_mac_is_used(state: str) -> None:
    """The frame goes to the entry's MAC, and the owner of the address does not take it."""
    entry = f"10.0.0.2 dev eth0 lladdr 02:00:00:00:99:99 {state}"
    main = given_netns(
        "host", "eth0 10.0.0.1/24 mac 02:00:00:00:00:01 peer world:eth0", neighbours=[entry]
    )
    node = given_node(
        main, given_netns("world", "eth0 10.0.0.2/24 mac 02:00:00:00:00:02 peer host:eth0")
    )
    run = run_in_child(
        replace(node, kernel=platform.release()),
        Probe.parse("udp 10.0.0.1 > 10.0.0.2:80 from host"),
    )
    sent = [frame.packet for frame in run.evidence.observation.frames if frame.packet is not None]

    assert {"02:00:00:00:99:99"} == {packet.dmac for packet in sent}
    assert run.differences == ()

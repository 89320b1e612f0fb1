"""Devices that share one wire, and the host of that wire: what the kernel does in each case stands
in tests/kernel/scenarios/devices.txt.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.devices.macvlan import hand_up, list_children
from podpath.datapath.reasons.neighbours import NobodyAnswers
from podpath.net.addresses import IfName, Mac
from podpath.node.links import Link, Macvlan, MacvlanMode, Peer
from podpath.node.netfilter import Netfilter
from podpath.node.node import Netns, Node
from podpath.testing.nodes import forwarding, given_netns, given_node, probe
from tests.datapath.given import given_rules, given_tables
from tests.datapath.walks import given_skb, given_walk, packet

PARENT = Peer(netns="host", link=IfName("eth0"))


def _share(link: Link, mode: str) -> Link:
    shared = Macvlan(parent=PARENT, mode=MacvlanMode(mode))
    return replace(link, macvlan=shared) if link.name == "net1" else link


def pod(name: str, address: str, mode: str) -> Netns:
    """Return a pod on the host's eth0."""
    made = given_netns(name, f"net1 {address}/24 kind macvlan mac 02:00:00:00:77:{address[-2:]}")
    links = tuple(_share(link, mode) for link in made.links.items)
    return replace(made, links=made.links._replace(items=links))


def given(mode: str = "bridge", other: str = "", rules: str = "") -> Node:
    """Return a host that a wire joins with the world, and two pods on that wire."""
    main = given_netns(
        "host", "eth0 192.0.2.1/24 peer world:eth0", sysctls=forwarding(rp_filter="0"),
        netns={"netfilter": {4: Netfilter(tables=given_tables(rules), complete=True)}},
    )  # fmt: skip
    world = given_netns("world", "eth0 192.0.2.2/24 peer host:eth0")
    return given_node(
        main, world, pod("one", "192.0.2.60", mode), pod("two", "192.0.2.61", other or mode)
    )


@pytest.mark.parametrize(
    ("ends", "works"),
    [
        ("192.0.2.60 > 192.0.2.2:80 from one", True),
        ("192.0.2.2 > 192.0.2.60:80 from world", True),
        ("192.0.2.60 > 192.0.2.1:80 from one", False),
        ("192.0.2.1 > 192.0.2.60:80 from host", False),
    ],
)
def test_the_wire_is_shared_but_not_with_its_own_host(ends: str, *, works: bool) -> None:
    """Whoever is at the far end is reached, and reaches; the host is not asked for its address."""
    found = converse(given(), probe(f"tcp {ends}")).branches[0]

    assert works == found.works
    assert works or isinstance(found.traces[0].deciding.reason, NobodyAnswers)


@pytest.mark.parametrize(
    ("mode", "other", "works"),
    [
        ("bridge", "bridge", True),
        ("private", "private", False),
        ("vepa", "vepa", False),
        ("bridge", "private", False),
    ],
)
def test_only_two_in_mode_bridge_reach_each_other(mode: str, other: str, *, works: bool) -> None:
    """Without a switch that sends frames back on the wire that they came by."""
    found = converse(given(mode, other), probe("tcp 192.0.2.60 > 192.0.2.61:80 from one"))

    assert works == found.branches[0].works


def test_the_hosts_rules_see_no_frame_of_such_a_device() -> None:
    """They go up before IP, and out below it."""
    node = given(rules=given_rules("INPUT -j DROP", "FORWARD -j DROP", "OUTPUT -j DROP"))

    assert "ALWAYS" == converse(node, probe("tcp 192.0.2.60 > 192.0.2.2:80 from one")).verdict
    assert "ALWAYS" == converse(node, probe("tcp 192.0.2.60 > 192.0.2.61:80 from one")).verdict


@pytest.mark.parametrize(
    ("ends", "works"),
    [
        ("192.0.2.60 > 192.0.2.1:80 from one", None),
        ("192.0.2.1 > 192.0.2.60:80 from host", None),
        ("192.0.2.60 > 192.0.2.61:80 from one", True),
        ("192.0.2.60 > 192.0.2.2:80 from one", True),
        ("192.0.2.2 > 192.0.2.60:80 in eth0", True),
    ],
)
def test_where_the_wire_leads_is_not_known_who_sends_frames_back(
    ends: str, *, works: bool | None
) -> None:
    """A switch may: so whether a pod and its own host reach each other is left open."""
    node = given_node(given_netns("host", "eth0 192.0.2.1/24"), pod("one", "192.0.2.60", "bridge"),
                      pod("two", "192.0.2.61", "bridge"))  # fmt: skip

    assert works is converse(node, probe(f"tcp {ends}")).branches[0].works


@pytest.mark.parametrize(
    ("mode", "mac", "taken"),
    [
        ("bridge", "02:00:00:00:77:61", "two"),
        ("bridge", "02:00:00:00:77:62", ""),
        ("bridge", "ff:ff:ff:ff:ff:ff", ""),
        ("passthru", "02:00:00:00:77:62", "one"),
    ],
)
def test_a_frame_goes_up_by_its_mac(mode: str, mac: str, taken: str) -> None:
    """One in mode passthru takes them all."""
    walk = given_walk(given(mode))
    skb = given_skb(walk, packet("192.0.2.2", "192.0.2.61")._replace(dmac=Mac(mac)), "eth0")

    assert bool(taken) == hand_up(walk, skb, walk.engine.namespace("host").link("eth0"))
    assert (taken or "host") == skb.netns.name


def test_the_children_of_a_device_are_found_in_every_namespace() -> None:
    """They are looked for once."""
    walk = given_walk(given())

    assert ["one", "two"] == [child.netns for child in list_children(walk.engine, PARENT)]
    assert walk.engine.macvlans is not None

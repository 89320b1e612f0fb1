"""Plain listings to a node: devices, addresses, routes, rules, and whether each listing is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from podpath.net.addresses import Mac, Prefix
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.node import HOST
from podpath.node.routing import LOCAL, MAIN
from tests.assembly.evidence_text import Output, addresses_of, case_of, case_of_document, known, link_of, spell_route

KINDS = ("links", "addresses", "routes", "rules", "neighbours", "fdb")


@pytest.fixture(scope="module")
def recorded(repository: Path) -> Case:
    """Give the case of a node and a pod as Linux 6.18 printed them."""
    path = repository / "tests/data/assembly/two-namespaces/console.txt"
    return case_of_document(path.read_text(), "console.txt")


def test_namespaces_and_name(recorded: Case) -> None:
    """Each namespace that a command was run in is one of the model, and the prompt names the node."""
    assert list(recorded.node.namespaces) == [HOST, "cni-5ad1"]
    assert recorded.node.name == "worker-3"
    assert not any(netns.inferred for netns in recorded.node.namespaces.values())


def test_links(recorded: Case) -> None:
    """Kinds, masters, indexes and options of devices come from their listings."""
    host = recorded.node.host
    assert [link.name for link in host.links.items] == ["lo", "ens4", "cni0", "lxcab12", "vethbb", "vethaa", "vx1"]
    port = link_of(host, "vethaa")
    assert (port.kind, port.master, port.ifindex, port.mac) == ("veth", "cni0", 6, Mac("ea:f9:3e:8d:b4:9a"))
    assert port.port is not None
    assert (port.port.state, port.port.hairpin, port.port.learning) == ("forwarding", False, True)
    bridge = link_of(host, "cni0").bridge
    assert bridge is not None
    assert not bridge.nf_call_iptables
    tunnel = link_of(host, "vx1")
    assert tunnel.vxlan is not None
    assert (tunnel.vxlan.vni, tunnel.vxlan.port, tunnel.vxlan.dev, tunnel.vxlan.learning, tunnel.up) == (
        1,
        8472,
        "ens4",
        False,
        False,
    )


def test_veth_pairs(recorded: Case) -> None:
    """The ends of a pair find each other, within a namespace by name and across namespaces by index."""
    host, pod = recorded.node.host, recorded.node.namespaces["cni-5ad1"]
    assert known(link_of(host, "lxcab12").peer) == Peer(netns="cni-5ad1", link=link_of(pod, "eth0").name)
    assert known(link_of(pod, "eth0").peer) == Peer(netns=HOST, link=link_of(host, "lxcab12").name)
    assert known(link_of(host, "vethbb").peer) == Peer(netns=HOST, link=link_of(host, "vethaa").name)


def test_uplink_has_no_peer(recorded: Case) -> None:
    """A veth that carries the node's own address leads out of the node, also where its other end is not shown."""
    assert link_of(recorded.node.host, "ens4").peer is None


def test_addresses_in_kernel_order(recorded: Case) -> None:
    """Addresses stand in the order of `ip addr`, with the secondary ones marked."""
    host = recorded.node.host
    assert addresses_of(host, "ens4")[:2] == ["192.168.9.5/24", "192.168.9.6/24"]
    assert [own.secondary for own in host.addresses.items if own.link == "ens4"][:2] == [False, True]


def test_routes_of_all_tables(recorded: Case) -> None:
    """`ip route show table all` gives every table by its number, with the routes in their order."""
    routes = recorded.node.host.routes.items
    assert [spell_route(route) for route in routes if route.table == 100] == ["10.88.0.0/16 via 192.168.9.2 dev ens4"]
    main = [spell_route(route) for route in routes if route.table == MAIN and route.prefix.family == 4]
    assert main == [
        "default via 192.168.9.1 dev ens4",
        "10.88.3.0/24 dev cni0",
        "10.88.4.9 dev lxcab12",
        "192.168.9.0/24 dev ens4",
    ]
    local = [route for route in routes if route.table == LOCAL and route.prefix == Prefix.parse("192.168.9.6")]
    assert [(route.type, str(route.prefsrc)) for route in local] == [("local", "192.168.9.5")]
    assert not any(route.inferred for route in routes)


def test_policy_rules(recorded: Case) -> None:
    """Rules stand by priority, with their mark and table."""
    rules = [rule for rule in recorded.node.host.rules.items if rule.family == 4]
    assert [(rule.priority, rule.table, str(rule.mark or "")) for rule in rules] == [
        (0, 255, ""), (10, 100, "0x200/0xf00"), (32766, 254, ""), (32767, 253, ""),
    ]  # fmt: skip


def test_whole_listings(recorded: Case) -> None:
    """What unfiltered commands printed is whole; a command that stands there without output proves nothing."""
    host, pod = recorded.node.host, recorded.node.namespaces["cni-5ad1"]
    assert {kind for kind in KINDS if getattr(host, kind).complete} == set(KINDS)
    assert {kind for kind in KINDS if getattr(pod, kind).complete} == set(KINDS) - {"neighbours"}
    assert host.sysctls_complete
    assert known(host.sysctls["net.ipv4.ip_forward"]) == "0"
    assert recorded.gaps == ()
    assert recorded.alternatives == ()
    assert recorded.contradictions == ()


ROUTES = """
default via 10.1.0.1 dev eth0
10.1.0.0/24 dev eth0 proto kernel scope link src 10.1.0.7
"""


@pytest.mark.parametrize(
    ("command", "text", "whole"),
    [
        ("ip route", ROUTES, True),
        ("ip r", ROUTES, True),
        ("ip -4 route show", ROUTES, True),
        ("ip route | cat", ROUTES, True),
        ("ip route | grep 10", ROUTES, False),
        ("ip route", ROUTES + "...", False),
        ("ip route show dev eth0", ROUTES, False),
        ("ip route show table main", ROUTES, True),
        (None, ROUTES, False),
    ],
)
def test_route_listing_is_whole(command: str | None, text: str, *, whole: bool) -> None:
    """Routes are whole after an unfiltered command without an ellipsis, as the default rules look up no other table."""
    routes = case_of(Output(command, text)).node.host.routes
    assert routes.complete is whole
    assert len(routes.items) == 2


def test_another_table_leaves_routes_incomplete() -> None:
    """With a policy rule to a table that is not listed, the routes are not whole."""
    rules = """
    0:      from all lookup local
    9:      from all fwmark 0x1 lookup 77
    32766:  from all lookup main
    32767:  from all lookup default
    """
    case = case_of(Output("ip route", ROUTES), Output("ip rule", rules))
    assert case.node.host.rules.complete
    assert not case.node.host.routes.complete


def test_own_table_names_meet() -> None:
    """A rule and a route that spell a table by the node's own name mean the same table."""
    rules = "0:\tfrom all lookup local\n9:\tfrom 10.9.0.0/16 lookup storage\n32766:\tfrom all lookup main"
    case = case_of(Output("ip rule | head -3", rules), Output("ip route show table storage", "default via 10.1.0.2 dev eth1"))
    rule = next(rule for rule in case.node.host.rules.items if rule.priority == 9)
    assert [spell_route(route) for route in case.node.host.routes.items if route.table == rule.table] == [
        "default via 10.1.0.2 dev eth1"
    ]


def test_fragment_of_rules_adds_to_the_default_ones() -> None:
    """A grep of `ip rule` does not take the three rules away that every namespace starts with."""
    case = case_of(Output("ip rule | grep fwmark", "9:\tfrom all fwmark 0x1 lookup 77"))
    assert [rule.priority for rule in case.node.host.rules.items if rule.family == 4] == [0, 9, 32766, 32767]
    assert not case.node.host.rules.complete


def test_cut_listing_without_lo_is_a_fragment() -> None:
    """`ip addr` without `lo` was cut by hand, though no ellipsis says so."""
    text = "5: cni0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500\n    inet 10.7.0.1/24 scope global cni0"
    host = case_of(Output("ip addr", text)).node.host
    assert not host.links.complete
    assert not host.addresses.complete
    assert addresses_of(host, "cni0") == ["10.7.0.1/24"]


def test_stacked_devices_name_their_lower_one() -> None:
    """The device behind `@` of a VLAN is what it sits on, not a peer."""
    text = """
    2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
        link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    3: eth0.7@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
        link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
    """
    vlan = link_of(case_of(Output("ip link", text)).node.host, "eth0.7")
    assert (vlan.lower, vlan.peer) == ("eth0", None)


def test_devices_that_only_routes_name() -> None:
    """A route's device exists, and says what names it."""
    host = case_of(
        Output("route -n", "Destination Gateway Genmask Flags Metric Ref Use Iface\n0.0.0.0 10.1.0.1 0.0.0.0 UG 0 0 0 ens9")
    ).node.host
    assert "a route at ticket.md:2" in link_of(host, "ens9").inferred
    assert link_of(host, "lo").inferred
    assert isinstance(link_of(host, "ens9").peer, Known | None)

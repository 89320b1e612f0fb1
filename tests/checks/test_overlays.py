"""Ports that the host's overlays need."""

from __future__ import annotations

import pytest

from podpath.checks.overlays import list_cut_between_nodes, list_overlay_ports
from tests.checks.pasted import case_of, ticket_of

ROUTE = "$ ip route\n10.42.0.0/24 via 10.42.0.0 dev {device} onlink"
LINK = """\
$ ip -d link show
7: overlay0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN mode DEFAULT
    link/ether 1a:ca:a9:2c:dc:3b brd ff:ff:ff:ff:ff:ff promiscuity 0
    vxlan id 7 local 192.0.2.5 dev eth0 srcport 0 0 dstport 4790 nolearning ttl inherit
"""


@pytest.mark.parametrize(
    ("device", "ports"),
    [
        ("flannel.1", [8472]),
        ("vxlan.calico", [4789]),
        ("genev_sys_6081", [6081]),
        ("vxlan_sys_4789", [4789]),
        ("tunl0", []),
        ("eth0", []),
    ],
)
def test_a_device_tells_its_port_by_its_name(device: str, ports: list[int]) -> None:
    """Plugins name their devices alike everywhere; IPIP has no port."""
    case = case_of(ROUTE.format(device=device))

    assert ports == [one.port for one in list_overlay_ports(case)]


def test_a_listing_states_the_port() -> None:
    """`ip -d link` prints the port that somebody chose."""
    (found,) = list_overlay_ports(case_of(LINK))

    assert (4790, "overlay0") == (found.port, found.device)


@pytest.mark.parametrize(
    ("prose", "cut"),
    [
        ("Pods on different nodes cannot reach each other.", True),
        ("Pods cannot ping pods on another node.", True),
        ("Pods on the same node cannot reach each other.", False),
        ("Pods cannot reach the internet.", False),
        ("Pods reach pods on another node.", False),
    ],
)
def test_sentences_say_that_nodes_are_cut_off(prose: str, *, cut: bool) -> None:
    """Both ends are the cluster's own, and on two nodes."""
    assert cut is bool(list_cut_between_nodes(ticket_of(prose)))


def test_only_a_port_that_is_shown_is_stated() -> None:
    """A plugin's usual port may have been changed; Open vSwitch's name has it, and a listing."""
    shown = (ROUTE.format(device="flannel.1"), ROUTE.format(device="genev_sys_6081"), LINK)

    assert [False, True, True] == [list_overlay_ports(case_of(one))[0].stated for one in shown]

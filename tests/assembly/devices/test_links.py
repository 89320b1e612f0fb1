"""Devices: what each output says of them, and which of two MACs."""

from __future__ import annotations

import pytest

from podpath.net.addresses import Mac
from podpath.node.case import Case
from tests.assembly.evidence_text import (
    Output,
    alternative_of,
    case_of,
    link_of,
)


def test_links(recorded: Case) -> None:
    """Kinds, masters, indexes and options of devices come from their listings."""
    host = recorded.node.host
    assert [link.name for link in host.links.items] == [
        "lo",
        "ens4",
        "cni0",
        "lxcab12",
        "vethbb",
        "vethaa",
        "vx1",
    ]
    port = link_of(host, "vethaa")
    assert (port.kind, port.master, port.ifindex, port.mac) == (
        "veth",
        "cni0",
        6,
        Mac("ea:f9:3e:8d:b4:9a"),
    )
    assert port.port is not None
    assert (port.port.state, port.port.hairpin, port.port.learning) == ("forwarding", False, True)
    bridge = link_of(host, "cni0").bridge
    assert bridge is not None
    assert not bridge.nf_call_iptables
    tunnel = link_of(host, "vx1")
    assert tunnel.vxlan is not None
    assert (
        tunnel.vxlan.vni,
        tunnel.vxlan.port,
        tunnel.vxlan.dev,
        tunnel.vxlan.learning,
        tunnel.up,
    ) == (
        1,
        8472,
        "ens4",
        False,
        False,
    )


@pytest.mark.parametrize(
    ("shown", "fact", "values"),
    [
        ("vxlan id {} dev eth0 dstport 8472", "id of vx0", ("1", "7")),
        ("vxlan id 1 dev eth0 dstport {}", "port of vx0", ("8472", "4789")),
        ("geneve id {} remote 192.0.2.2 dstport 6081", "id of vx0", ("1", "7")),
    ],
)
def test_two_networks_or_ports_of_one_tunnel(
    shown: str, fact: str, values: tuple[str, str]
) -> None:
    """Outputs that disagree about them make two nodes, as those about a MAC do."""
    head = "3: vx0: <BROADCAST,UP,LOWER_UP> mtu 1450\n    link/ether 02:00:00:00:00:01\n    "
    outputs = [Output("ip -d link", head + shown.format(value)) for value in values]
    case = case_of(*outputs)
    other = alternative_of(case, fact)

    made = [link_of(each.node.host, "vx0") for each in (case, other)]
    kept = [link.vxlan or link.geneve for link in made]
    assert kept[0] != kept[1]
    assert len(case.contradictions) == 1
    assert case_of(outputs[0], outputs[0]).contradictions == ()


def test_two_macs_of_one_device() -> None:
    """The node has the first MAC, an alternative has the other, and a contradiction names both."""
    shown = (
        "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    link/ether 02:00:00:00:00:{} brd ff:ff:ff:ff:ff:ff"
    )
    case = case_of(
        Output("ip link show eth0", shown.format("0a")),
        Output("ip link show eth0", shown.format("0b")),
    )
    assert link_of(case.node.host, "eth0").mac == "02:00:00:00:00:0a"
    other = alternative_of(case, "mac of eth0")
    assert link_of(other.node.host, "eth0").mac == "02:00:00:00:00:0b"
    assert (other.meaning, other.instead_of, other.good) == (
        "as at ticket.md:5",
        "as at ticket.md:1",
        False,
    )
    assert len(case.contradictions) == 1

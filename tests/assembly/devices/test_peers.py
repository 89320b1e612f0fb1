"""The other ends of veth pairs, and what stacked devices sit on."""

from __future__ import annotations

from podpath.node.case import Case
from podpath.node.links import Peer
from podpath.node.node import HOST
from tests.assembly.evidence_text import (
    Output,
    case_of,
    known,
    link_of,
)


def test_veth_pairs(recorded: Case) -> None:
    """The ends of a pair find each other, within a namespace by name and across namespaces by
    index.
    """
    host, pod = recorded.node.host, recorded.node.namespaces["cni-5ad1"]
    assert known(link_of(host, "lxcab12").peer) == Peer(
        netns="cni-5ad1", link=link_of(pod, "eth0").name
    )
    assert known(link_of(pod, "eth0").peer) == Peer(netns=HOST, link=link_of(host, "lxcab12").name)
    assert known(link_of(host, "vethbb").peer) == Peer(
        netns=HOST, link=link_of(host, "vethaa").name
    )


def test_uplink_has_no_peer(recorded: Case) -> None:
    """A veth that carries the node's own address leads out of the node, also where its other end is
    not shown.
    """
    assert link_of(recorded.node.host, "ens4").peer is None


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

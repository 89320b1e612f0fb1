"""Tests of the hop from one end of a veth pair to the other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.conntrack import Connection
from podpath.datapath.devices.veth import enter, peer_of
from podpath.datapath.vocabulary import CtInfo
from podpath.net.addresses import IfName
from podpath.net.provenance import Known
from podpath.node.links import Peer
from podpath.node.netfilter import ConnTuple
from podpath.testing.nodes import given_netns, given_node, ip, unknown
from tests.datapath.walks import given_skb, given_walk, host, packet

NODE = given_node(
    given_netns("host", "a peer host:b", "b peer host:a", "lxc peer pod:eth0"),
    given_netns("pod", "eth0 peer host:lxc"),
)


@pytest.mark.parametrize(("netns", "link", "mark"), [("pod", "eth0", 0), ("host", "b", 7)])
def test_the_packet_forgets_connection_and_route_and_in_another_namespace_its_mark(
    netns: str, link: str, mark: int
) -> None:
    """`skb_scrub_packet` clears the connection always, the mark only across namespaces."""
    walk = given_walk(NODE)
    skb = given_skb(walk, packet("10.0.0.1", "10.0.0.2"), "lxc")
    skb.mark, skb.ctinfo, skb.prerouted = 7, CtInfo.NEW, True
    skb.connection = Connection(
        ConnTuple(ip("10.0.0.1"), ip("10.0.0.2"), 6), ConnTuple(ip("10.0.0.2"), ip("10.0.0.1"), 6)
    )
    enter(walk, skb, Peer(netns=netns, link=IfName(link)))

    assert (netns, link, mark, "", False) == (
        skb.netns.name, skb.link.name if skb.link else "", skb.mark, skb.ctinfo, skb.prerouted,
    )  # fmt: skip
    assert None is skb.connection


def test_an_unknown_peer_is_asked_for() -> None:
    """Where the other end is not known the walk forks; one in no namespace of the model leads out
    of it.
    """
    walk = given_walk(NODE, 1)
    pod, gone = Peer(netns="pod", link=IfName("eth0")), Peer(netns="elsewhere", link=IfName("eth0"))
    link = replace(host(walk).link("lxc"), peer=unknown("the peer of lxc", pod, gone))

    assert None is peer_of(walk, link)
    assert ["the peer of lxc"] == [made.fact for made in walk.choices.made]
    assert None is peer_of(walk, replace(link, peer=None))
    assert pod == peer_of(walk, replace(link, peer=Known(pod)))

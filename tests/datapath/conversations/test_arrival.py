"""Packets met at one place of the node, and what becomes of them."""

from __future__ import annotations

from podpath.datapath.conversations.arrival import PacketPlace, follow
from podpath.datapath.tracing.trace import Delivered, Dropped, Transmitted
from podpath.datapath.walk.compiled import Engine
from podpath.net import protocols
from podpath.net.packet import Packet
from podpath.testing.nodes import forwarding, given_netns, given_node, ip, listening

NODE = given_node(
    given_netns(
        "host", "eth0 192.0.2.1/24", "cni0 10.244.0.1/24",
        routes=["default via 192.0.2.254 dev eth0", "local 192.0.2.1 dev eth0 table local"],
        sysctls=forwarding(rp_filter="1"), netns={"sockets": listening(22)},
    )
)  # fmt: skip
SYN = Packet(ip("10.244.0.5"), ip("198.51.100.7"), protocols.TCP, 40000, 80, protocols.SYN)


def meet(packet: Packet, link: str | None) -> list[type[object]]:
    """Name the outcomes of a packet that stands in the host."""
    branches = follow(Engine(NODE), PacketPlace(netns="host", link=link), packet)
    return [type(branch.trace.outcome) for branch in branches]


def test_a_packet_goes_on_from_the_device_it_came_in_on() -> None:
    """From the pods' bridge it is forwarded, from outside its source is not believed."""
    assert meet(SYN, "cni0") == [Transmitted]
    assert meet(SYN, "eth0") == [Dropped]


def test_what_the_namespace_sends_begins_at_its_output() -> None:
    """Without a device the packet is the namespace's own, and no source is checked."""
    assert meet(SYN._replace(src=ip("192.0.2.1")), None) == [Transmitted]


def test_nobody_listens_where_no_socket_is_listed() -> None:
    """A port of the listing takes the packet, another has nobody."""
    arriving = SYN._replace(src=ip("198.51.100.7"), dst=ip("192.0.2.1"))
    place = PacketPlace(netns="host", link="eth0")
    taken, unheard = (
        follow(Engine(NODE), place, arriving._replace(dport=port))[0] for port in (22, 23)
    )

    assert isinstance(taken.trace.outcome, Delivered)
    assert taken.unheard is None
    assert unheard.unheard is not None
    assert unheard.unheard.packet.dport == 23

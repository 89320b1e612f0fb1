"""By how much NAT leaves a tunnel's outer checksum wrong, as `__udp_manip_pkt` does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podpath.datapath.walk.offload import compute_checksums, is_left_to_device, note_rewriting
from podpath.datapath.walk.skb import Skb
from podpath.net import protocols
from podpath.net.addresses import Address, IfName, Mac
from podpath.net.packet import Packet
from podpath.node.links import Link, Vxlan
from podpath.testing.nodes import given_netns

HERE, THERE, OTHER = (Address.parse(f"192.0.2.{last}") for last in (1, 2, 9))
INNER = Packet(Address.parse("10.9.0.1"), Address.parse("10.9.0.2"), protocols.TCP, 4000, 80)
OUTER = Packet(HERE, THERE, protocols.UDP, 50000, 8472)
VX = Link(name=IfName("vx"), ifindex=5, kind="vxlan", mac=Mac("02:00:00:00:00:05"),
          vxlan=Vxlan(vni=1, port=8472))  # fmt: skip


def wrapped(link: Link = VX, *, partial: bool = True) -> Skb:
    """Return an outer packet whose inner checksum the device is to compute."""
    return Skb(OUTER, given_netns("host"), inner=INNER, tunnel=link, partial=partial)


def rewritten(skb: Skb, *changes: Packet) -> bool:
    """Rewrite the packet in steps; tell whether its checksum is wrong once it is looked at."""
    for packet in changes:
        before, skb.packet = skb.packet, packet
        note_rewriting(skb, before)
    compute_checksums(skb)
    return skb.packet.bad_checksum


def test_an_address_is_added_where_it_should_be_subtracted() -> None:
    """The other source makes the sum wrong by twice the difference."""
    skb = wrapped()
    skb.packet = OUTER._replace(src=OTHER)
    note_rewriting(skb, OUTER)

    assert skb.outer_error == 2 * (OTHER.value - HERE.value)


def test_a_port_is_left_out() -> None:
    """A new port alone makes the sum wrong, too."""
    assert rewritten(wrapped(), OUTER._replace(sport=7000))


def test_what_two_rewritings_take_and_give_is_right() -> None:
    """Source and destination move by as much, one up and one down: the errors cancel out."""
    up = OUTER._replace(src=OTHER)

    assert not rewritten(wrapped(), up, up._replace(dst=Address(4, THERE.value - 8)))


@pytest.mark.parametrize(
    "skb",
    [
        wrapped(partial=False),
        wrapped(replace(VX, vxlan=Vxlan(vni=1, port=8472, checksum=False))),
        Skb(OUTER, given_netns("host"), partial=True),
    ],
    ids=["inner checksum computed", "no outer checksum", "no tunnel"],
)
def test_all_else_is_rewritten_right(skb: Skb) -> None:
    """Without offload, without an outer checksum, and outside tunnels NAT is right."""
    assert not rewritten(skb, OUTER._replace(src=OTHER))


def test_a_computed_checksum_stays_as_it_is() -> None:
    """What NAT rewrites later is right again, and does not mend what was wrong."""
    skb = wrapped()
    rewritten(skb, OUTER._replace(src=OTHER))

    assert rewritten(skb, skb.packet._replace(src=HERE))
    assert (skb.partial, skb.outer_error) == (False, 0)


def test_sockets_leave_tcp_and_udp_to_the_device() -> None:
    """An ICMP checksum is computed at once."""
    assert is_left_to_device(INNER)
    assert not is_left_to_device(INNER._replace(protocol=protocols.ICMP))

"""Packets that fill the MTU of their ends."""

from __future__ import annotations

import pytest

from podpath.datapath.conversations.conversation import converse
from podpath.datapath.conversations.full_size import fill, largest_packet
from podpath.net.addresses import Address
from podpath.net.packet import Packet
from podpath.testing.nodes import given_netns, given_node, probe
from tests.datapath.walks import given_walk

ADDRESS = Address.parse("192.0.2.1")


def test_a_packet_is_filled_and_never_cut() -> None:
    """What is longer already stays as it is."""
    packet = Packet(ADDRESS, ADDRESS, 6, length=52, payload=0)

    assert (fill(packet, 1500).length, fill(packet, 1500).payload) == (1500, 1448)
    assert fill(packet, 40) == packet


@pytest.mark.parametrize(("advmss", "answer"), [("", 1400), (" advmss 1000", 1040)])
def test_an_end_sends_what_its_device_takes_and_the_other_offers(advmss: str, answer: int) -> None:
    """The client's device takes 1,400 bytes, and its route may offer less for the answers."""
    client = given_netns("host", "v0 10.0.0.1/24 mtu 1400 peer pod:eth0",
                         routes=[f"10.0.0.2/32 dev v0{advmss}"])  # fmt: skip
    node = given_node(client, given_netns("pod", "eth0 10.0.0.2/24 peer host:v0"))
    traces = converse(node, probe("tcp 10.0.0.1 > 10.0.0.2:80 from host")).branches[0].traces
    walk = given_walk(node)

    assert [1400, answer] == [largest_packet(walk, traces, reply=reply) for reply in (False, True)]


def test_nothing_is_known_of_an_end_that_sent_nothing() -> None:
    """Where no packet went, no device and no offer limits one."""
    assert 0 == largest_packet(given_walk(given_node()), (), reply=False)

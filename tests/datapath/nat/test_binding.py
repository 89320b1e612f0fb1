"""Tests for the address and port that a new connection gets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from podpath.net import protocols
from podpath.net.addresses import Address, Family
from podpath.net.packet import Packet
from podpath.node.netfilter import ConntrackEntry, ConnTuple
from podpath.report.sentences import spell_reason
from tests.datapath.given import Sender, echo, given, given_rules, tcp, udp

SERVER, NODE, OTHER = (Address.parse(text) for text in ("198.51.100.7", "192.0.2.1", "10.244.0.6"))


def nat(*rules: str) -> str:
    """Spell a nat table."""
    return given_rules(*rules, table="nat")


def taken(port: int, protocol: int = protocols.TCP, other: Address = OTHER) -> ConntrackEntry:
    """Return an entry that has the node's port towards the server already."""
    return ConntrackEntry(
        original=ConnTuple(other, SERVER, protocol, port, 80),
        reply=ConnTuple(SERVER, NODE, protocol, 80, port), replied=True,
    )  # fmt: skip


def test_masquerade_keeps_a_free_port() -> None:
    """The source port stays where no other connection has it."""
    _, skb = Sender(given(nat("POSTROUTING -o eth0 -j MASQUERADE"))).forward(tcp())

    assert ("192.0.2.1", 40000) == (str(skb.packet.src), skb.packet.sport)


def test_masquerade_takes_another_port_for_a_taken_one() -> None:
    """The kernel draws a port then; a fixed one stands for it, and the step says so."""
    node = given(nat("POSTROUTING -o eth0 -j MASQUERADE"), conntrack=(taken(40000),))
    results = []
    for _ in range(2):
        sender = Sender(node)
        _, skb = sender.forward(tcp())
        results.append(skb.packet.sport)
        assert spell_reason(sender.walk.trace.steps[-1].reason).endswith(
            "(the kernel picks the port)"
        )

    assert results[0] == results[1]
    assert 40000 != results[0] >= 1024


@pytest.mark.parametrize(
    ("port", "low", "high"), [(100, 1, 511), (700, 600, 1023), (5000, 1024, 65535)]
)
def test_a_new_port_is_of_the_same_class(port: int, low: int, high: int) -> None:
    """Privileged ports stay privileged."""
    node = given(nat("POSTROUTING -o eth0 -j MASQUERADE"), conntrack=(taken(port),))
    _, skb = Sender(node).forward(tcp(sport=port))

    assert low <= skb.packet.sport <= high


def test_random_ports_are_drawn_though_the_port_is_free() -> None:
    """With --random-fully the port is any; the walk does not fork over it."""
    sender = Sender(given(nat("POSTROUTING -o eth0 -j MASQUERADE --random-fully")))
    _, skb = sender.forward(tcp())

    assert skb.connection is not None
    assert skb.connection.port_at_random
    assert [] == sender.walk.choices.made


def test_without_a_rule_a_taken_reply_tuple_changes_the_port() -> None:
    """A null binding still needs a tuple of its own, and the step says that no rule wanted it."""
    host = ConntrackEntry(
        original=ConnTuple(OTHER, SERVER, protocols.TCP, 1, 80),
        reply=ConnTuple(SERVER, Address.parse("10.244.0.5"), protocols.TCP, 80, 40000),
    )
    sender = Sender(given(nat("POSTROUTING -s 203.0.113.1/32 -j MASQUERADE"), conntrack=(host,)))
    _, skb = sender.forward(tcp())

    assert 40000 != skb.packet.sport
    assert "no rule says so" in spell_reason(sender.walk.trace.steps[-1].reason)


def test_masquerade_without_an_address_drops() -> None:
    """Where neither the device nor another one has an address to give, the packet ends."""
    sender = Sender(given(nat("POSTROUTING -j MASQUERADE"), addresses={"lo": "127.0.0.1/8"}))
    verdict, _ = sender.forward(tcp())

    assert "Drop" == type(verdict).__name__
    assert "POSTROUTING rule 1 masquerades, but eth0 has no address to take" == spell_reason(
        sender.walk.trace.steps[-1].reason
    )


def test_redirect_on_output_goes_to_loopback() -> None:
    """The host's own packets are redirected to 127.0.0.1."""
    sender = Sender(given(nat("OUTPUT -p tcp -j REDIRECT --to-ports 15001")))
    skb = sender.skb(tcp("192.0.2.1"), iif=None, oif="eth0")
    sender.send(skb, "OUTPUT")

    assert ("127.0.0.1", 15001) == (str(skb.packet.dst), skb.packet.dport)


def test_redirect_without_an_address_drops() -> None:
    """A device without an address cannot be redirected to."""
    sender = Sender(given(nat("PREROUTING -p tcp -j REDIRECT --to-ports 15001")))

    assert "Drop" == type(sender.send(sender.skb(tcp(), iif="lxc1"), "PREROUTING")).__name__
    assert "PREROUTING rule 1 redirects, but lxc1 has no address" == spell_reason(
        sender.walk.trace.steps[-1].reason
    )


def test_masquerade_is_forgotten_when_the_way_out_changes() -> None:
    """A masqueraded connection that leaves by another device is dropped and its entry deleted."""
    sender = Sender(given(nat("POSTROUTING -j MASQUERADE")))
    sender.forward(udp(), oif="eth0")
    verdict, _ = sender.forward(udp(), oif="cni0")

    assert "Drop" == type(verdict).__name__
    assert "masqueraded for eth0 and now leaves on cni0" in spell_reason(
        sender.walk.trace.steps[-1].reason
    )


def test_an_echo_identifier_is_the_port() -> None:
    """Two pods that ping with one identifier get different ones outside."""
    sender = Sender(given(nat("POSTROUTING -o eth0 -j MASQUERADE")))
    first = sender.forward(echo("10.244.0.5"))[1].packet.sport
    second = sender.forward(echo("10.244.0.6"))[1].packet.sport

    assert 7 == first != second


@hypothesis_given(st.sampled_from((4, 6)), st.integers(0, 2**20), st.integers(1, 40), st.booleans())
def test_addresses_stay_in_their_range(
    family: Family,
    offset: int,
    size: int,
    persistent: bool,  # noqa: FBT001
) -> None:  # drawn
    """Whatever the source, the picked address is one of the range."""
    base = Address.parse("198.51.100.0" if family == 4 else "fd00:1::").value
    low, high = Address(family, base), Address(family, base + size)
    start = Address.parse("10.0.0.0" if family == 4 else "fd00:2::").value
    packet = Packet(
        Address(family, start + offset), Address(family, start + 1), protocols.UDP, 5, 6
    )
    text = f"{low}-{high}" if family == 4 else f"[{low}]-[{high}]"
    rule = nat(f"PREROUTING -j DNAT --to-destination {text}{' --persistent' if persistent else ''}")
    sender = Sender(given(rule, family=family))
    skb = sender.skb(packet)
    sender.send(skb, "PREROUTING")

    assert low.value <= skb.packet.dst.value <= high.value


def translated(rule: str, *packets: Packet, family: Family = 4) -> list[tuple[str, int]]:
    """Return the sources of packets that are forwarded one after another."""
    sender = Sender(given(nat(f"POSTROUTING {rule}"), family=family))
    found = [sender.forward(packet)[1].packet for packet in packets]
    return [(str(packet.src), packet.sport) for packet in found]


def test_a_source_in_the_range_is_kept() -> None:
    """At either end of it; one above or below is translated."""
    rule = "-j SNAT --to-source 10.244.0.5-10.244.0.7"

    for last in (5, 6, 7):
        assert [(f"10.244.0.{last}", 40000)] == translated(rule, tcp(f"10.244.0.{last}"))
    for last in (4, 8):
        ((source, _),) = translated(rule, tcp(f"10.244.0.{last}"))
        assert f"10.244.0.{last}" != source


def test_a_range_of_ports_is_kept_to() -> None:
    """A port within it stays, at either end too; one outside becomes one of it."""
    rule = "-p tcp -j SNAT --to-source 192.0.2.9:5000-5002"

    for port in (5000, 5001, 5002):
        assert [("192.0.2.9", port)] == translated(rule, tcp(sport=port))
    for port in (4999, 5003):
        ((_, new),) = translated(rule, tcp(sport=port))
        assert 5000 <= new <= 5002


def test_one_source_has_one_address_for_all_destinations() -> None:
    """Within a range of addresses, for the same port and protocol."""
    rule = "-j SNAT --to-source 192.0.2.10-192.0.2.250"
    first, second = translated(rule, tcp(dst="198.51.100.7"), tcp(dst="198.51.100.8"))

    assert first == second


def test_a_full_range_of_ports_gives_the_last_one_tried() -> None:
    """Where every port of the range is taken towards the same server."""
    rule = "-p tcp -j SNAT --to-source 192.0.2.9:5000-5001"
    packets = [tcp(f"10.244.0.{last}") for last in (5, 6, 7)]
    (one, two, _) = (port for _, port in translated(rule, *packets))

    assert {5000, 5001} == {one, two}


def test_a_destinations_port_is_chosen_from_a_range() -> None:
    """The port of the packet is kept where it is of the range."""
    sender = Sender(given(nat("PREROUTING -p tcp -j DNAT --to-destination 10.9.9.9:80-82")))
    ports = []
    for port in (80, 82, 90):
        skb = sender.skb(tcp(dport=port, sport=port))
        sender.send(skb, "PREROUTING")
        ports.append(skb.packet.dport)

    assert [80, 82] == ports[:2]
    assert 80 <= ports[2] <= 82


@pytest.mark.parametrize(
    ("kernel", "drawn"),
    [("4.19.0", False), ("5.0.1", True), ("6.1.0-49-amd64", True), ("6.8.0", False), (None, False)],
)
def test_some_kernels_draw_a_destinations_port_from_its_range(
    kernel: str | None,
    drawn: bool,  # noqa: FBT001  # a case
) -> None:
    """Though the rule does not ask for it (seen on 6.1 and 6.18)."""
    rules = nat("PREROUTING -p tcp --dport 80 -j DNAT --to-destination 10.244.0.9:8080-8085")
    given_node = given(rules)
    sender = Sender(replace(given_node, node=replace(given_node.node, kernel=kernel)))
    _, skb = sender.forward(tcp())

    assert skb.connection is not None
    assert drawn is skb.connection.port_at_random
    assert skb.packet.dport in ({*range(8080, 8086)} if drawn else {8080})

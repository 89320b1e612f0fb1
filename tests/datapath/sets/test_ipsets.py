"""Tests for set lookups: dimensions, exceptions, lists, and what the evidence does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from podpath.datapath.netfilter.state import HookState
from podpath.datapath.sets.ipsets import Sets
from podpath.datapath.tracing.drawn_port import DrawnPort, PortQuestions
from podpath.datapath.vocabulary import Hook
from podpath.net import protocols
from podpath.net.addresses import IfName, Mac
from podpath.net.packet import Packet
from podpath.node.links import Link
from podpath.node.netfilter import IpSet
from tests.datapath.given import (
    Sender,
    echo,
    every_branch,
    given,
    given_rules,
    given_sets,
    tcp,
    udp,
)


def lookup(
    sets: Iterable[IpSet], name: str, flags: str, packet: Packet, **options: bool
) -> bool | None:
    """Look a packet up that comes in on cni0 and leaves by eth0, with mark 7."""
    sender = Sender(given())
    skb = sender.skb(packet, iif="cni0", oif="eth0", mark=7)
    state = HookState(sender.walk, skb, Hook.FORWARD)
    return Sets({entry.name: entry for entry in sets}).lookup(
        name, tuple(flags.split(",")), state, **options
    )


@pytest.mark.parametrize(
    ("kind", "elements", "flags", "packet", "found"),
    [
        ("hash:ip", ["10.244.0.5"], "src", tcp(), True),
        ("hash:ip", ["10.244.0.5"], "dst", tcp(), False),
        ("hash:ip", ["10.244.0.1-10.244.0.9"], "src", tcp(), True),
        ("hash:net", ["198.51.100.0/24"], "dst", tcp(), True),
        ("hash:net", ["198.51.100.0/24", "198.51.100.7 nomatch"], "dst", tcp(), False),
        ("hash:net", ["198.51.100.0/24 nomatch", "198.51.100.7"], "dst", tcp(), True),
        ("hash:net", ["10.0.0.0-10.244.0.7"], "src", tcp(), True),
        ("hash:net,net", ["10.244.0.0/24,198.51.100.0/24"], "src,dst", tcp(), True),
        ("hash:net,net", ["10.244.0.0/24,198.51.100.0/24", (
            "10.244.0.5,198.51.100.0/24 "
            "nomatch"
        )], "src,dst", tcp(), False),
        ("hash:net,net", ["10.244.0.0/24,198.51.100.0/24"], "dst,src", tcp(), False),
        ("hash:net,port,net", ["10.244.0.0/24,tcp:80,198.51.100.0/24"], "src,dst,dst", tcp(), True),
        ("hash:net,port,net", [(
            "10.244.0.0/24,tcp:80,198.51.100.0/"
            "24"
        )], "src,dst,dst", tcp(dport=81), False),
        ("hash:ip,port", ["198.51.100.7,tcp:80"], "dst,dst", tcp(), True),
        ("hash:ip,port", ["198.51.100.7,80"], "dst,dst", tcp(), True),
        ("hash:ip,port", ["198.51.100.7,tcp:79-81"], "dst,dst", tcp(), True),
        ("hash:ip,port", ["198.51.100.7,udp:80"], "dst,dst", tcp(), False),
        ("hash:ip,port", ["10.244.0.5,tcp:40000"], "src,src", tcp(), True),
        ("hash:ip,port", ["198.51.100.7,icmp:echo-request"], "dst,dst", echo(), True),
        ("hash:ip,port", ["198.51.100.7,icmp:8/0"], "dst,src", echo(), True),
        ("hash:ip,port", ["198.51.100.7,gre:0"], "dst,dst", tcp()._replace(protocol=protocols.GRE), True),  # noqa: E501
        ("hash:ip,port", ["198.51.100.7,tcp:80"], "dst,dst", tcp()._replace(fragment=True), False),
        ("hash:ip,port,ip", ["198.51.100.7,tcp:80,10.244.0.5"], "dst,dst,src", tcp(), True),
        ("hash:ip,mark", ["10.244.0.5,0x00000007"], "src,src", tcp(), True),
        ("hash:ip,mark", ["10.244.0.5,0x00000008"], "src,src", tcp(), False),
        ("hash:ip,mac", ["10.244.0.5,02:00:00:00:00:0A"], "src,src", tcp()._replace(smac=Mac("02:00:00:00:00:0a")), True),  # noqa: E501
        ("hash:mac", ["02:00:00:00:00:0a"], "src", tcp()._replace(smac=Mac("02:00:00:00:00:0a")), True),  # noqa: E501
        ("hash:mac", ["02:00:00:00:00:0a"], "src", tcp(), False),
        ("hash:net,iface", ["10.244.0.0/16,cni0"], "src,src", tcp(), True),
        ("hash:net,iface", ["10.244.0.0/16,cni0"], "src,dst", tcp(), False),
        ("hash:net,iface", ["10.244.0.0/16,cn wildcard"], "src,src", tcp(), True),
        ("hash:net,iface", ["10.244.0.0/16,et wildcard"], "src,src", tcp(), False),
        ("hash:net,iface", ["10.244.0.0/16,physdev:cni0"], "src,src", tcp(), False),
        ("bitmap:port", ["80"], "dst", tcp(), True),
        ("bitmap:port", ["80"], "dst", udp(dport=80), True),
        ("bitmap:port", ["80"], "dst", echo(), False),
        ("bitmap:ip", ["10.244.0.5"], "src", tcp(), True),
    ],
)  # fmt: skip
def test_elements_hold_packets(
    kind: str,
    elements: list[str],
    flags: str,
    packet: Packet,
    found: bool,  # noqa: FBT001
) -> None:  # a case
    """Each dimension is compared with the packet's source or destination, the most specific network
    first.
    """
    text = "\n".join(
        (f"create s {kind} family inet", *(f"add s {element}" for element in elements))
    )

    assert found is lookup(given_sets(text), "s", flags, packet)


def test_a_netmask_cuts_elements_and_packets() -> None:
    """A set of masked addresses holds the whole network of each."""
    sets = given_sets("create s hash:ip family inet netmask 24\nadd s 10.244.0.0")

    assert lookup(sets, "s", "src", tcp("10.244.0.99"))
    assert not lookup(sets, "s", "src", tcp("10.244.1.99"))


def test_a_bridge_port_is_found_by_its_own_name() -> None:
    """`physdev:` elements name the port behind the bridge."""
    sets = given_sets("create s hash:net,iface family inet\nadd s 10.244.0.0/16,physdev:veth1")
    sender = Sender(given())
    skb = sender.skb(tcp(), iif="cni0")
    skb.physin = Link(name=IfName("veth1"))
    state = HookState(sender.walk, skb, Hook.PREROUTING)

    assert Sets({entry.name: entry for entry in sets}).lookup("s", ("src", "src"), state)


def test_return_nomatch_turns_plain_elements_and_exceptions_around() -> None:
    """With it only exceptions match."""
    sets = given_sets(
        "create s hash:net family inet\nadd s 198.51.100.0/24\nadd s 198.51.100.8/29 nomatch"
    )

    assert lookup(sets, "s", "dst", tcp(dst="198.51.100.9"), return_nomatch=True)
    assert not lookup(sets, "s", "dst", tcp(dst="198.51.100.1"), return_nomatch=True)


def test_a_list_is_asked_set_by_set() -> None:
    """A packet is in a list of sets when it is in one of them."""
    sets = given_sets(
        "create a hash:ip family inet\nadd a 10.244.0.6\ncreate b hash:net family inet\n"
        "add b 198.51.100.0/24\ncreate l list:set size 8\nadd l a\nadd l b"
    )

    assert lookup(sets, "l", "dst", tcp())
    assert not lookup(sets, "l", "src", tcp())


def test_too_few_directions_match_nothing() -> None:
    """A rule that names one direction for a set of two dimensions never matches."""
    assert (
        lookup(
            given_sets("create s hash:ip,port family inet\nadd s 198.51.100.7,tcp:80"),
            "s",
            "dst",
            tcp(),
        )
        is False
    )


@pytest.mark.parametrize(
    "text",
    [
        "create other hash:ip family inet",
        "create s frob:ip family inet\nadd s 10.0.0.1",
        "create s hash:ip,port family inet\nadd s 10.0.0.1",
        "create s hash:ip family inet\nadd s ...",
        "create s list:set size 8\nadd s hidden",
    ],
)
def test_what_is_not_known_is_not_answered(text: str) -> None:
    """A missing set, an unknown type, an element that is not understood: nobody knows whether the
    packet is in.
    """
    assert lookup(given_sets(text), "s", "src,src", tcp()) is None


def test_a_partial_set_holds_what_it_shows() -> None:
    """What is shown is in; what is not may be."""
    (shown,) = given_sets("create s hash:ip family inet\nadd s 10.244.0.5")
    partial = replace(shown, complete=False)

    assert lookup([partial], "s", "src", tcp())
    assert lookup([partial], "s", "src", tcp("10.244.0.6")) is None


def test_sets_of_the_other_family_hold_nothing() -> None:
    """An IPv6 set matches no IPv4 packet."""
    assert (
        lookup(given_sets("create s hash:ip family inet6\nadd s fd00::1"), "s", "src", tcp())
        is False
    )


def test_an_unknown_set_forks_the_walk() -> None:
    """A rule on a set that the evidence leaves out may match."""
    node = given(given_rules("FORWARD -m set --match-set hidden src -j DROP"))

    assert {"Drop", "Accept"} == every_branch(node, tcp(), "FORWARD")


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize(
    ("kind", "elements", "flags", "possible"),
    [
        ("bitmap:port range 0-65535", ["50000-50001"], "src", True),
        ("bitmap:port range 0-65535", ["80"], "src", False),
        ("hash:ip,port", ["10.244.0.5,tcp:50000"], "src,src", True),
        ("hash:ip,port", ["10.244.0.5,udp:50000"], "src,src", False),
        ("hash:ip,port", ["10.244.0.6,tcp:50000"], "src,src", False),
    ],
)
def test_a_port_that_the_kernel_draws_is_in_a_set_or_not(
    kind: str,
    elements: list[str],
    flags: str,
    possible: bool,  # noqa: FBT001  # a row
    chosen: bool,  # noqa: FBT001  # a row
) -> None:
    """The kernel chooses where an element has a port of the range, and nowhere else."""
    name, _, more = kind.partition(" ")
    text = "\n".join((f"create s {name} {more}", *(f"add s {element}" for element in elements)))
    questions = PortQuestions(lambda _, __: chosen, lambda _: None)
    packet = tcp()._replace(sport=DrawnPort.draw(40000, (32768, 60999), "port", questions))

    assert (possible and chosen) is bool(lookup(given_sets(text), "s", flags, packet))

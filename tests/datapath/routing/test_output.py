"""Tests of output routing and of the source address that it chooses."""

from __future__ import annotations

from typing import Any

import pytest

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.routing.output import OutputRoute, route_output
from podpath.net import protocols
from podpath.testing.nodes import given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

DEFAULT = "default via 192.0.2.254 dev eth0"


def send(dst: str, src: str | None = None, *routes: str, **flow: Any) -> OutputRoute:  # noqa: ANN401  # fields of Flow
    """Route what the host sends."""
    netns = given_netns(
        "host", "eth0 192.0.2.2/24", "eth1 198.51.100.2/24", "lxc1", routes=routes or (DEFAULT,)
    )
    walk = given_walk(given_node(netns))
    return route_output(
        walk.choices, host(walk), FlowKey(ip(dst), ip(src) if src else None, **flow)
    )


def way(decided: OutputRoute) -> str:
    """Spell a decision: `device source`, or the error."""
    if decided.destination is None or decided.destination.link is None:
        return decided.error
    return f"{decided.destination.link.name} {decided.source}"


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        ((DEFAULT,), "eth0 192.0.2.2"),
        (("default via 192.0.2.254 dev eth0 src 198.51.100.2",), "eth0 198.51.100.2"),
        (("10.1.0.0/16 dev lxc1",), "lxc1 192.0.2.2"),
        (("10.9.0.0/16 dev eth0",), "ENETUNREACH"),
        (("blackhole 10.1.0.0/16",), "EINVAL"),
        (("unreachable 10.1.0.0/16",), "EHOSTUNREACH"),
        (("prohibit 10.1.0.0/16",), "EACCES"),
    ],
)
def test_the_route_gives_device_and_source(routes: tuple[str, ...], expected: str) -> None:
    """The source is the route's `src`, else an address of the device, else one of another; errors
    are the sender's.
    """
    assert expected == way(send("10.1.0.5", None, *routes))


def test_what_is_for_the_host_itself_goes_over_lo() -> None:
    """An own address is reached over `lo`, with that address as the source."""
    assert "lo 198.51.100.2" == way(send("198.51.100.2"))


@pytest.mark.parametrize("src", ["203.0.113.77", "224.0.0.5", "0.0.0.9"])
def test_a_foreign_source_is_refused(src: str) -> None:
    """A process cannot send from an address that the host does not have."""
    assert "EINVAL" == way(send("10.1.0.5", src))


def test_a_loopback_source_stays_on_the_host() -> None:
    """127.0.0.1 does not leave on a wire."""
    assert ("EINVAL", "lo 127.0.0.1") == (
        way(send("10.1.0.5", "127.0.0.1")),
        way(send("127.0.0.5", "127.0.0.1")),
    )


def test_ipv6_sends_from_loopback() -> None:
    """Nothing keeps ::1 from leaving on a wire; whoever gets it drops it."""
    route = "default via fd00::1 dev eth0"

    assert "eth0 ::1" == way(send("2001:db8::5", "::1", route))


@pytest.mark.parametrize(
    ("protocol", "src", "error"),
    [
        (protocols.UDP, "fd00::77", True),
        (protocols.UDP, "fd00::2", False),
        (protocols.TCP, "fd00::77", False),
    ],
)
def test_datagrams_of_ipv6_leave_from_own_addresses(
    protocol: int, src: str, *, error: bool
) -> None:
    """A segment's source is not looked at."""
    walk = given_walk(
        given_node(given_netns("host", "eth0 fd00::2/64", routes=("default via fd00::1 dev eth0",)))
    )
    flow = FlowKey(ip("2001:db8::5"), ip(src), protocol=protocol)

    assert error == (route_output(walk.choices, host(walk), flow).error == "EINVAL")


def test_an_asked_device_without_route_is_taken_as_on_link() -> None:
    """With SO_BINDTODEVICE and no route the destination counts as on-link, as the kernel
    assumes.
    """
    assert "eth1 198.51.100.2" == way(send("10.1.0.5", None, "10.9.0.0/16 dev eth0", oif="eth1"))


@pytest.mark.parametrize(
    ("dst", "kind"), [("224.0.0.5", "multicast"), ("255.255.255.255", "broadcast")]
)
def test_groups_leave_on_the_device_of_the_source(dst: str, kind: str) -> None:
    """A group or broadcast goes out where the source address is, or where asked."""
    decided = send(dst, "198.51.100.2")
    assert (kind, "eth1 198.51.100.2") == (
        decided.destination.type if decided.destination else "",
        way(decided),
    )
    assert "eth0 192.0.2.2" == way(send(dst, None, oif="eth0"))


def test_a_broadcast_needs_a_device() -> None:
    """Without a source, a device or a route a broadcast does not leave."""
    assert "ENETUNREACH" == way(send("255.255.255.255", None, "10.9.0.0/16 dev eth0"))


def test_no_destination_is_the_host_itself() -> None:
    """0.0.0.0 as a destination means the host."""
    assert "lo 127.0.0.1" == way(send("0.0.0.0"))


def test_multipath_is_the_kernels_choice() -> None:
    """Among several nexthops the kernel chooses at random, the heavier one first."""
    route = "10.1.0.0/16 nexthop via 192.0.2.9 dev eth0 nexthop via 198.51.100.9 dev eth1 weight 3"
    netns = given_netns("host", "eth0 192.0.2.2/24", "eth1 198.51.100.2/24", routes=[route])
    found = []
    for answer in (0, 1):
        walk = given_walk(given_node(netns), answer)
        found.append(way(route_output(walk.choices, host(walk), FlowKey(ip("10.1.0.5")))))
        assert [True] == [made.random for made in walk.choices.made]

    assert ["eth1 198.51.100.2", "eth0 192.0.2.2"] == found

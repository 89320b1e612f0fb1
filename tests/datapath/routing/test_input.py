"""Tests of input routing."""

from __future__ import annotations

import pytest

from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.reasons.routes import LoopbackFromWire
from podpath.datapath.routing.input import InputRoute, route_input
from podpath.report.sentences import spell_reason
from podpath.testing.nodes import Fields, forwarding, given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

DEFAULT = "default via 192.0.2.254 dev eth0"


def arrive(
    dst: str,
    src: str = "203.0.113.5",
    *routes: str,
    sysctls: dict[str, str] | None = None,
    **parts: object,
) -> InputRoute:
    """Route a packet that comes in on eth0."""
    fields: Fields = {
        "routes": routes or (DEFAULT,),
        "sysctls": forwarding() if sysctls is None else sysctls,
        **parts,
    }
    walk = given_walk(given_node(given_netns("host", "eth0 192.0.2.2/24", "lxc1", **fields)))
    namespace = host(walk)
    return route_input(
        walk.choices, namespace, FlowKey(ip(dst), ip(src), "eth0"), namespace.link("eth0")
    )


def why(decided: InputRoute) -> str:
    """Return the reason as a sentence."""
    return spell_reason(decided.reason) if decided.reason is not None else ""


@pytest.mark.parametrize(
    ("dst", "path"),
    [
        ("192.0.2.2", "local"),
        ("192.0.2.255", "local"),
        ("255.255.255.255", "local"),
        ("10.1.0.5", "forward"),
    ],
)
def test_own_and_broadcast_addresses_are_delivered_and_others_forwarded(
    dst: str, path: str
) -> None:
    """The type of the route decides between delivery and forwarding."""
    assert path == arrive(dst, "203.0.113.5", DEFAULT, "10.1.0.0/24 dev lxc1").path


@pytest.mark.parametrize(
    ("src", "dst", "cause"),
    [
        ("224.0.0.1", "192.0.2.2", "invalid source"),
        ("255.255.255.255", "192.0.2.2", "invalid source"),
        ("0.1.2.3", "192.0.2.2", "invalid source"),
        ("203.0.113.5", "0.1.2.3", "invalid destination"),
        ("127.0.0.9", "192.0.2.2", "localnet"),
        ("203.0.113.5", "127.0.0.1", "localnet"),
    ],
)
def test_martians(src: str, dst: str, cause: str) -> None:
    """Addresses that no wire may carry are refused."""
    assert cause == arrive(dst, src).cause


def test_route_localnet_lets_loopback_addresses_in() -> None:
    """With route_localnet on the ingress device 127.0.0.0/8 is delivered (nodePort by DNAT to
    127.0.0.1).
    """
    sysctls = {**forwarding(), "net.ipv4.conf.eth0.route_localnet": "1"}

    assert "local" == arrive("127.0.0.1", sysctls=sysctls).path


def test_loopback_of_ipv6_is_no_target_of_a_translation() -> None:
    """::1 is reached over `lo` alone: no setting lets it in from another device, and the sender
    is told that there is no route.
    """
    decided = arrive("::1", "2001:db8::5", "local ::1 dev lo table local")

    assert ("no route", "icmp-net-unreachable") == (decided.cause, decided.answer)
    assert isinstance(decided.reason, LoopbackFromWire)


def test_forwarding_off_is_silent() -> None:
    """Without forwarding the packet is dropped, and no ICMP error tells its sender."""
    for routes in ((DEFAULT,), ("10.9.0.0/16 dev lxc1",)):
        decided = arrive("10.1.0.5", "203.0.113.5", *routes, sysctls={"net.ipv4.ip_forward": "0"})
        assert ("forwarding off", "") == (decided.cause, decided.answer)


def test_forwarding_of_the_ingress_device_counts() -> None:
    """The value of the device that the packet came in on decides, whatever ip_forward says."""
    sysctls = {"net.ipv4.ip_forward": "1", "net.ipv4.conf.eth0.forwarding": "0"}

    assert "forwarding off" == arrive("10.1.0.5", sysctls=sysctls).cause


@pytest.mark.parametrize(
    ("route", "answer"),
    [
        ("10.9.0.0/16 dev lxc1", "icmp-net-unreachable"),
        ("unreachable 10.1.0.0/16", "icmp-host-unreachable"),
        ("prohibit 10.1.0.0/16", "icmp-pkt-filtered"),
        ("blackhole 10.1.0.0/16", ""),
    ],
)
def test_errors_of_routes_reach_the_sender(route: str, answer: str) -> None:
    """No route, unreachable and prohibit send different ICMP errors; a blackhole sends none."""
    assert answer == arrive("10.1.0.5", "203.0.113.5", route).answer


@pytest.mark.parametrize(("value", "path"), [("0", "local"), ("1", "forward")])
def test_directed_broadcasts(value: str, path: str) -> None:
    """A subnet's broadcast address is delivered, or forwarded with bc_forwarding."""
    sysctls = {**forwarding(), "net.ipv4.conf.eth0.bc_forwarding": value}

    assert path == arrive("192.0.2.255", sysctls=sysctls).path


def test_unknown_forwarding_is_asked_for() -> None:
    """Where the evidence does not say whether the host forwards the walk forks, and takes it to."""
    walk = given_walk(
        given_node(given_netns("host", "eth0 192.0.2.2/24", routes=[DEFAULT], complete=False))
    )
    namespace = host(walk)
    decided = route_input(
        walk.choices,
        namespace,
        FlowKey(ip("10.1.0.5"), ip("203.0.113.5"), "eth0"),
        namespace.link("eth0"),
    )

    assert ("forward", ["net.ipv4.ip_forward in netns host"]) == (
        decided.path,
        [made.fact for made in walk.choices.made],
    )


def test_reasons_are_sentences() -> None:
    """Every decision says why."""
    assert [
        "192.0.2.2 is an address of host",
        "192.0.2.255 is a broadcast address of host",
        "no route leads to 10.1.0.5",
    ] == [
        why(arrive("192.0.2.2")),
        why(arrive("192.0.2.255")),
        why(arrive("10.1.0.5", "203.0.113.5", "10.9.0.0/16 dev lxc1")),
    ]


def test_ipv6_is_routed_without_source_checks() -> None:
    """IPv6 has no rp_filter, and asks the forwarding of `all`."""
    netns = given_netns("host", "eth0 2001:db8::2/64", routes=["2001:db8:1::/64 dev eth0"],
                        sysctls={"net.ipv6.conf.all.forwarding": "1"})  # fmt: skip
    walk = given_walk(given_node(netns))
    namespace = host(walk)
    flow = FlowKey(ip("2001:db8:1::5"), ip("2001:db8::9"), "eth0")

    assert "forward" == route_input(walk.choices, namespace, flow, namespace.link("eth0")).path


@pytest.mark.parametrize(
    ("route", "forwarding", "cause", "answer"),
    [
        ("2001:db8:1::/64 dev eth0", "1", None, ""),
        ("2001:db8:1::/64 dev eth0", "0", "forwarding off", ""),
        ("2001:db8:9::/64 dev eth0", "0", "no route", "icmp-net-unreachable"),
        ("unreachable 2001:db8:1::/64", "1", "no route", "icmp-net-unreachable"),
        ("prohibit 2001:db8:1::/64", "1", "no route", "icmp-pkt-filtered"),
        ("blackhole 2001:db8:1::/64", "1", "blackhole", ""),
    ],
)
def test_ipv6_answers_its_own_way(
    route: str, forwarding: str, cause: str | None, answer: str
) -> None:
    """In IPv6 a missing route is answered even without forwarding, and an unreachable one as if
    there were none.
    """
    sysctls = {"net.ipv6.conf.all.forwarding": forwarding}
    walk = given_walk(
        given_node(given_netns("host", "eth0 2001:db8::2/64", routes=[route], sysctls=sysctls))
    )
    namespace = host(walk)
    found = route_input(
        walk.choices,
        namespace,
        FlowKey(ip("2001:db8:1::5"), ip("2001:db8::9"), "eth0"),
        namespace.link("eth0"),
    )

    assert (cause, answer) == (found.cause, found.answer)

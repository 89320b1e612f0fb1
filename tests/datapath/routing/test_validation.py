"""Tests of source validation: rp_filter, own addresses, sources that nothing leads to."""

from __future__ import annotations

from typing import Any

import pytest

from podpath.datapath.conversations.places import UNSEEN
from podpath.datapath.netns.fib import FlowKey
from podpath.datapath.reasons.routes import ReversePathFailed, ReversePathHolds
from podpath.datapath.routing.validation import SourceCheck, check_source
from podpath.datapath.tracing.exploration import Choices, explore
from podpath.node.node import Node
from podpath.testing.nodes import Fields, given_netns, given_node, ip
from tests.datapath.walks import given_walk, host

ROUTES = ("10.1.0.0/24 dev cilium_host", "default via 192.0.2.254 dev eth0")
DEVICES = ("eth0 192.0.2.2/24", "cilium_host 10.1.0.1/32", "lxc1", "numbered 10.7.0.1/24",
           "lxc2 fe80::1/64")  # fmt: skip


def given(sysctls: dict[str, str], **parts: object) -> Node:
    """Return a host whose pods are reached over `cilium_host`, not over the device that they send
    on.
    """
    fields: Fields = {"routes": ROUTES, "sysctls": sysctls, **parts}
    return given_node(given_netns("host", *DEVICES, **fields))


def check(
    node: Node,
    src: str,
    link: str,
    *answers: int,
    oif: str | None = "eth0",
    **flow: Any,  # noqa: ANN401
) -> SourceCheck:  # fields of Flow
    """Check a packet from `src` on a device."""
    walk = given_walk(node, *answers)
    namespace = host(walk)
    out = namespace.link(oif) if oif is not None else None
    return check_source(
        walk.choices,
        namespace,
        FlowKey(ip("8.8.8.8"), ip(src), link, **flow),
        namespace.link(link),
        out,
    )


def rp(everywhere: str, own: str, link: str = "lxc1") -> dict[str, str]:
    """Return rp_filter of `all` and of a device."""
    return {"net.ipv4.conf.all.rp_filter": everywhere, f"net.ipv4.conf.{link}.rp_filter": own}


@pytest.mark.parametrize(
    ("everywhere", "own", "cause"),
    [
        ("0", "0", None),
        ("1", "0", "reverse path"),
        ("0", "1", "reverse path"),
        ("2", "1", "reverse path"),
        ("2", "0", "reverse path"),
    ],
)
def test_the_larger_of_all_and_device_counts(everywhere: str, own: str, cause: str | None) -> None:
    """rp_filter is max(all, device); a source that is reached over another device fails on an
    unnumbered one in every mode.
    """
    assert cause == check(given(rp(everywhere, own)), "10.1.0.9", "lxc1").cause


@pytest.mark.parametrize(("everywhere", "cause"), [("1", "reverse path"), ("2", None)])
def test_loose_mode_needs_an_address_on_the_device(everywhere: str, cause: str | None) -> None:
    """Loose mode lets an asymmetric source in, on a device that has an address."""
    assert cause == check(given(rp(everywhere, "0", "numbered")), "10.1.0.9", "numbered").cause


def test_an_ipv6_address_numbers_no_device() -> None:
    """The refusal says that the loose mode is strict there, where only a link-local one stands."""
    found = check(given(rp("2", "0", "lxc2")), "10.1.0.9", "lxc2")

    assert found.reason == ReversePathFailed(ip("10.1.0.9"), ("cilium_host",), 2, "lxc2", True)


def test_loose_mode_needs_some_route() -> None:
    """Loose mode refuses a source that no route leads to."""
    node = given(rp("2", "0", "numbered"), routes=ROUTES[:1])

    assert "reverse path" == check(node, "203.0.113.5", "numbered").cause


def test_the_way_back_over_the_device_passes() -> None:
    """A source that is reached over the device it comes from passes the strict check."""
    found = check(given(rp("1", "1", "eth0")), "203.0.113.5", "eth0", oif=None)

    assert (None, ReversePathHolds(ip("203.0.113.5"), "eth0", 1)) == (found.cause, found.reason)


def test_any_nexthop_of_a_multipath_route_counts() -> None:
    """A source behind a multipath route may come from each of its devices."""
    routes = ("default nexthop via 192.0.2.254 dev eth0 nexthop dev numbered",)

    numbered = check(given(rp("1", "1", "numbered"), routes=routes), "203.0.113.5", "numbered")
    assert numbered.cause is None


def test_the_larger_sysctl_is_quoted_first() -> None:
    """The evidence of a refusal is the sysctl that decides, the other one, and the route back."""
    found = check(given(rp("0", "1")), "10.1.0.9", "lxc1")

    assert [
        "net.ipv4.conf.lxc1.rp_filter = 1",
        "net.ipv4.conf.all.rp_filter = 0",
        "10.1.0.0/24 dev cilium_host",
    ] == [span.text for span in found.spans]


@pytest.mark.parametrize(("accept_local", "cause"), [("0", "local source"), ("1", None)])
def test_own_addresses_are_no_source(accept_local: str, cause: str | None) -> None:
    """With rp_filter off an own address as a source is still refused, unless accept_local is on."""
    sysctls = {**rp("0", "0"), "net.ipv4.conf.lxc1.accept_local": accept_local}

    assert cause == check(given(sysctls), "192.0.2.2", "lxc1").cause


@pytest.mark.parametrize(
    ("protocol", "cause"),
    [(" proto static", "local source"), ("", "local source"), (" proto kernel", None)],
)
def test_custom_local_routes_refuse_their_sources(protocol: str, cause: str | None) -> None:
    """`ip route add local X`, which is shown without a protocol, makes X a source that is refused,
    although it is no address.
    """
    local = f"local 203.0.113.0/24 dev lo table local{protocol}"
    own = (
        "local 192.0.2.2 dev eth0 table local proto kernel",
        "local 10.7.0.1 dev numbered table local proto kernel",
    )

    assert (
        cause
        == check(given(rp("0", "0"), routes=(*ROUTES, local, *own)), "203.0.113.5", "lxc1").cause
    )


def test_policy_rules_make_the_lookup_full() -> None:
    """With policy rules a source that a blackhole route holds is looked up, and let in with
    rp_filter off.
    """
    node = given(
        rp("0", "0"),
        rules=["100: from 10.0.0.1 lookup 100"],
        routes=(*ROUTES, "blackhole 203.0.113.0/24"),
    )

    assert check(node, "203.0.113.5", "lxc1").cause is None


def test_a_broadcast_address_is_no_source() -> None:
    """The subnet's broadcast address is refused where the lookup is full."""
    assert "invalid source" == check(given(rp("1", "0")), "10.7.0.255", "numbered").cause


@pytest.mark.parametrize(("value", "cause"), [("0", "reverse path"), ("1", None)])
def test_the_mark_counts_with_src_valid_mark(value: str, cause: str | None) -> None:
    """The way back is looked up with mark 0, unless src_valid_mark is on."""
    sysctls = {**rp("1", "0"), "net.ipv4.conf.lxc1.src_valid_mark": value}
    node = given(
        sysctls,
        rules=["100: fwmark 0x1 lookup 100"],
        routes=(*ROUTES, "10.1.0.0/24 dev lxc1 table 100"),
    )

    assert cause == check(node, "10.1.0.9", "lxc1", mark=1).cause


def test_the_way_back_is_looked_up_from_the_outgoing_device() -> None:
    """Rules on `iif` see the outgoing device (`lo` for local delivery), and ports are swapped."""
    rules = ["100: iif eth0 sport 80 lookup 100"]
    node = given(rp("1", "0"), rules=rules, routes=(*ROUTES, "10.1.0.0/24 dev lxc1 table 100"))

    assert check(node, "10.1.0.9", "lxc1", protocol=6, sport=40000, dport=80).cause is None
    assert (
        "reverse path"
        == check(node, "10.1.0.9", "lxc1", oif=None, protocol=6, sport=40000, dport=80).cause
    )


def test_an_unknown_rp_filter_is_asked_only_where_it_matters() -> None:
    """A source that passes every mode asks nothing; one that does not forks over both sysctls."""
    node = given_node(given_netns("host", *DEVICES, routes=ROUTES, complete=False))
    walk = given_walk(node)
    namespace = host(walk)
    check_source(
        walk.choices,
        namespace,
        FlowKey(ip("8.8.8.8"), ip("203.0.113.5")),
        namespace.link("eth0"),
        None,
    )
    assert [] == walk.choices.made

    check_source(
        walk.choices,
        namespace,
        FlowKey(ip("8.8.8.8"), ip("10.1.0.9")),
        namespace.link("lxc1"),
        namespace.link("eth0"),
    )
    assert [
        "net.ipv4.conf.all.rp_filter in netns host",
        "net.ipv4.conf.lxc1.rp_filter in netns host",
    ] == [assumption.fact for assumption in walk.choices.made]


def test_whether_an_unlisted_address_exists_is_asked_for_loose_mode() -> None:
    """With loose mode and addresses not all listed it matters whether the device has one."""
    node = given_node(
        given_netns("host", *DEVICES, routes=ROUTES, sysctls=rp("2", "0"), complete=False)
    )

    assert ("reverse path", None) == (
        check(node, "10.1.0.9", "lxc1").cause,
        check(node, "10.1.0.9", "lxc1", 1).cause,
    )


def test_a_made_up_device_is_what_the_answer_rests_on() -> None:
    """Where a sender comes in on a device that no output shows, its filter is a guess, too."""
    walk = given_walk(given(rp("1", "1")))
    namespace = host(walk)
    flow = FlowKey(ip("8.8.8.8"), ip("10.1.0.9"))
    shown = check_source(walk.choices, namespace, flow, namespace.link("lxc1"), None)
    unseen = check_source(walk.choices, namespace, flow, UNSEEN, None)

    assert ("reverse path", "reverse path") == (shown.cause, unseen.cause)
    assert (None, UNSEEN.inferred) == (shown.rests_on, unseen.rests_on)


def test_an_rp_filter_that_turns_out_off_checks_no_more_than_own_addresses() -> None:
    """As where it is known to be off: a broadcast address is let in, and refused by any mode."""
    node = given_node(given_netns("host", *DEVICES, routes=ROUTES, complete=False))
    namespace = host(given_walk(node))
    flow = FlowKey(ip("8.8.8.8"), ip("10.7.0.255"), "numbered")

    def judge(choices: Choices) -> tuple[bool, str | None]:
        found = check_source(
            choices, namespace, flow, namespace.link("numbered"), namespace.link("eth0")
        )
        filters = [made.value for made in choices.made if ".rp_filter" in made.fact]
        return set(filters) == {"0"}, found.cause

    assert {(True, None), (False, "invalid source")} == set(explore(judge).results)

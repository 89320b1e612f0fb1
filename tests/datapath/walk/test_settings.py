"""Tests of per-device settings and how they combine."""

from __future__ import annotations

import pytest

from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.walk import settings
from podpath.net.provenance import Known
from podpath.node.node import Netns
from podpath.testing.nodes import given_netns, given_node, span
from tests.datapath.walks import given_walk, host

ALL, ETH0 = "net.ipv4.conf.all.{}", "net.ipv4.conf.eth0.{}"


def given(complete: bool = True, **values: str) -> Netns:  # noqa: FBT001, FBT002
    """Return a host with sysctls: `all_rp_filter="1"`."""
    sysctls = {}
    for name, value in values.items():
        device, _, key = name.partition("_")
        sysctls[f"net.ipv4.conf.{device}.{key}"] = value
    return given_netns("host", "eth0 10.0.0.1/24", "lxc1", sysctls=sysctls, complete=complete)


@pytest.mark.parametrize(
    ("everywhere", "own", "larger"), [("0", "0", 0), ("1", "0", 1), ("1", "2", 2), ("2", "1", 2)]
)
def test_the_larger_value_counts(everywhere: str, own: str, larger: int) -> None:
    """`maximum` combines as IN_DEV_MAXCONF does."""
    walk = given_walk(given_node(given(all_rp_filter=everywhere, eth0_rp_filter=own)))

    assert (larger, larger) == (
        settings.maximum(walk.choices, host(walk), settings.RP_FILTER, "eth0"),
        settings.known_maximum(host(walk), settings.RP_FILTER, "eth0"),
    )


@pytest.mark.parametrize(("everywhere", "own"), [("0", "0"), ("1", "0"), ("0", "1"), ("1", "1")])
def test_one_of_the_two_is_enough(everywhere: str, own: str) -> None:
    """`either` combines as IN_DEV_ORCONF does."""
    walk = given_walk(given_node(given(all_accept_local=everywhere, eth0_accept_local=own)))

    assert ("1" in (everywhere, own)) == settings.either(
        walk.choices, host(walk), settings.ACCEPT_LOCAL, "eth0"
    )


def test_an_unknown_value_forks_and_a_known_one_does_not() -> None:
    """What the evidence lacks is asked for by name, with what each value means; what it holds is
    not.
    """
    walk = given_walk(given_node(given(complete=False, all_rp_filter="1")))
    settings.maximum(walk.choices, host(walk), settings.RP_FILTER, "eth0")

    assert [
        ("net.ipv4.conf.eth0.rp_filter in netns host", "sysctl net.ipv4.conf.eth0.rp_filter")
    ] == [(made.fact, made.ask) for made in walk.choices.made]
    assert None is settings.known_maximum(host(walk), settings.RP_FILTER, "eth0")
    assert 1 == settings.assumed_maximum(host(walk), settings.RP_FILTER, "eth0")


def test_a_new_device_takes_the_value_of_default() -> None:
    """Where a device's own value is not in evidence that of `default` is its likeliest."""
    netns = given(complete=False, default_rp_filter="2")
    fact = settings.device_fact(Namespace(netns, {}), settings.RP_FILTER, "eth0")

    assert (
        ("2", {"0", "1"}) == (fact.options[0].value, {option.value for option in fact.options[1:]})
        if not isinstance(fact, Known)
        else False
    )


def test_in_a_whole_listing_default_counts_for_devices_without_address() -> None:
    """Writing `default` reaches the devices that were not set by an IPv4 address of their own."""
    sysctls = {"net.ipv4.conf.default.rp_filter": "2"}
    devices = ("eth0 10.0.0.1/24", "lxc1", "lxc2 fe80::1/64")
    namespace = Namespace(given_netns("host", *devices, sysctls=sysctls), {})

    assert ["0", "2", "2", "0"] == [
        fact.value
        for fact in (
            settings.device_fact(namespace, settings.RP_FILTER, name)
            for name in ("eth0", "lxc1", "lxc2", "all")
        )
        if isinstance(fact, Known)
    ]


@pytest.mark.parametrize(
    ("sysctls", "forwards"),
    [
        ({"net.ipv4.ip_forward": "1"}, True),
        ({"net.ipv4.ip_forward": "0"}, False),
        ({"net.ipv4.ip_forward": "1", ETH0.format("forwarding"): "0"}, False),
        ({"net.ipv4.ip_forward": "0", ETH0.format("forwarding"): "1"}, True),
        ({ALL.format("forwarding"): "1"}, True),
        ({}, False),
    ],
)
def test_the_ingress_devices_forwarding_counts(sysctls: dict[str, str], forwards: bool) -> None:  # noqa: FBT001
    """The device's own value decides; ip_forward stands for one that is not listed."""
    walk = given_walk(given_node(given_netns("host", "eth0", sysctls=sysctls)))

    assert [forwards, forwards] == [
        settings.forwarding(walk.choices, host(walk), "eth0") for _ in range(2)
    ]


def test_numbers_are_read_with_care() -> None:
    """A value that is no number counts as the default."""
    assert [2, 0, -1, 7] == [
        settings.integer("2"),
        settings.integer("two"),
        settings.integer("-1"),
        settings.integer("", 7),
    ]


def test_the_line_of_a_value_is_evidence() -> None:
    """A known value's line is given, and none where there is none."""
    line = span("x = 1")

    assert ((line,), (), ()) == (
        settings.span_of(Known("1", line)),
        settings.span_of(Known("1")),
        settings.span_of(None),
    )


def test_ipv6_forwarding_is_that_of_all() -> None:
    """IPv6 has one switch for forwarding that counts."""
    netns = given_netns("host", sysctls={"net.ipv6.conf.all.forwarding": "0"})

    assert "0" == given_walk(given_node(netns)).choices.resolve(
        settings.forwarding6(Namespace(netns, {}))
    )


def test_the_line_that_says_whether_a_device_forwards_is_of_its_family() -> None:
    """Each family has its own switch."""
    keys = ("net.ipv4.conf.eth0.forwarding", "net.ipv6.conf.all.forwarding")
    sysctls = dict.fromkeys(keys, "0")
    namespace = host(given_walk(given_node(given_netns("host", "eth0", sysctls=sysctls))))

    assert [f"{key} = 0" for key in keys] == [
        settings.forwarding_spans(namespace, "eth0", family)[0].text for family in (4, 6)
    ]

"""A value and a sentence convict together: a switch of the kernel, and what people say it cuts off,
in several wordings; either of them alone says nothing.
"""

from __future__ import annotations

import pytest

from podpath.checks.host.switches import SWITCHES
from podpath.checks.switch_check import SwitchCheck
from podpath.node.case import Case
from tests.checks.switches import case_of

ROWS = {row.name: row for row in SWITCHES}
BRIDGED = "net.bridge.bridge-nf-call-iptables"
EMPTY = "\n# iptables -S FORWARD\n-P FORWARD DROP\n"


def certainty(row: SwitchCheck, case: Case) -> float | None:
    """Return how certain a row's finding is, the value quoted first; None where there is none."""
    found = list(row.find(case))
    assert all(" = " in one.evidence[0].text and len(one.evidence) > 1 for one in found)
    assert all(bool(one.asks) == (one.certainty < 1) for one in found)
    return found[0].certainty if found else None


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        ("Port 80 is redirected to 127.0.0.1:8080, and clients time out.", ("all 0", "eth0 0"), 1),
        ("A DNAT rule sends it to localhost; from outside nothing answers.", ("all 0",), 1),
        ("We map 53 to the loopback stub with iptables, and pods get no answer.", ("eth0 0",), 1),
        (
            "Port 80 is redirected to 127.0.0.1:8080, and clients time out.",
            ("all 0", "eth0 1"),
            None,
        ),
        ("Port 80 is redirected to 10.0.0.8:8080, and clients time out.", ("all 0",), None),
        ("Port 80 is redirected to 127.0.0.1:8080 and works.", ("all 0",), None),
    ],
)
def test_translation_to_loopback_needs_its_switch(
    said: str, values: tuple[str, ...], expected: float | None
) -> None:
    """The switch of all devices or that of one is enough."""
    lines = [
        f"net.ipv4.conf.{device}.route_localnet = {value}"
        for device, value in map(str.split, values)
    ]
    assert expected == certainty(ROWS["loopback-not-routed"], case_of(said, *lines))


@pytest.mark.parametrize(
    ("said", "value", "expected"),
    [
        ("The host has two uplinks. Clients time out; dmesg is full of martians.", "1", 1),
        ("Clients of the VPN get no answer, and martian sources are logged.", "1", 1),
        ("The host has two uplinks. Clients time out.", "1", 0.6),
        ("The host has two uplinks. Clients time out; dmesg is full of martians.", "2", None),
        ("Clients time out; dmesg is full of martians.", "1", None),
        ("The host has two uplinks. Clients are refused.", "1", None),
    ],
)
def test_strict_filter_breaks_what_comes_and_goes_by_different_ways(
    said: str, value: str, expected: float | None
) -> None:
    """Certain with the kernel's own word for it, possible without."""
    line = f"net.ipv4.conf.all.rp_filter = {value}"
    assert expected == certainty(ROWS["strict-filter-two-ways"], case_of(said, line))


@pytest.mark.parametrize(
    ("said", "rules", "expected"),
    [
        ("Two guests on the same bridge cannot ping each other; FORWARD drops.", "", 1),
        ("Two guests on the same bridge cannot ping each other.", EMPTY, 1),
        ("Two guests on the same bridge cannot ping each other.", "", 0.5),
        (
            "Two guests on the same bridge cannot ping each other; FORWARD drops.",
            f"{EMPTY}-A FORWARD -i br0 -o br0 -j ACCEPT\n",
            0.5,
        ),
        ("Two guests cannot ping each other; FORWARD drops.", "", None),
        ("The guest cannot reach the internet; both are on the same bridge.", "", None),
    ],
)
def test_bridged_packets_are_dropped_where_forwarding_is(
    said: str, rules: str, expected: float | None
) -> None:
    """A chain whose rules are shown may accept them."""
    case = case_of(said, f"{BRIDGED} = 1", rules=rules)
    assert expected == certainty(ROWS["bridged-packets-filtered"], case)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("From outside the server cannot be pinged, it times out.", 1),
        ("The node cannot ping a pod.", 0.5),
        ("The server cannot be opened from outside, it times out.", None),
    ],
)
def test_pings_alone_are_ignored(said: str, expected: float | None) -> None:
    """What is no ping is not touched by that switch."""
    case = case_of(said, "net.ipv4.icmp_echo_ignore_all = 1")
    assert expected == certainty(ROWS["pings-ignored"], case)


def test_recycled_ports_are_only_possible() -> None:
    """No sentence tells whose clock it is."""
    line = "net.ipv4.tcp_tw_recycle = 1"
    row = ROWS["time-wait-recycled"]

    assert certainty(row, case_of("Clients behind NAT time out.", line)) == 0.7
    assert certainty(row, case_of("Everything works.", line)) is None


@pytest.mark.parametrize(
    ("said", "values", "expected"),
    [
        ("The pods get no IPv6 address.", ("all 1",), 1),
        ("IPv6 does not work on the node.", ("all 1", "default 1"), 1),
        ("ping to an IPv6 address says: network is unreachable.", ("all 1",), 1),
        ("IPv6 does not work on the node.", ("docker0 1",), 0.6),
        ("IPv6 works on the node.", ("all 1",), None),
        ("IPv4 does not work on the node.", ("all 1",), None),
        ("IPv6 does not work on the node.", ("all 0",), None),
    ],
)
def test_ipv6_is_missed_where_it_is_switched_off(
    said: str, values: tuple[str, ...], expected: float | None
) -> None:
    """The switch of all devices is certain where their addresses are listed; one device's is
    possible, and so is that of all where a device may have its own.
    """
    lines = [f"net.ipv6.conf.{one.replace(' ', '.disable_ipv6 = ')}" for one in values]
    listed = "\n# ip {}addr\n2: eth0: <UP,LOWER_UP> mtu 1500\n    inet 192.0.2.5/24 scope global\n"
    assert expected == certainty(
        ROWS["ipv6-switched-off"], case_of(said, *lines, listed.format(""))
    )

    possible = None if expected is None else 0.6
    for other in ("", listed.format("-4 ")):
        case = case_of(said, *lines, other)
        assert possible == certainty(ROWS["ipv6-switched-off"], case)


def test_an_address_of_ipv6_shows_that_it_is_on() -> None:
    """Devices that were switched on again after the switch of all."""
    address = (
        "\n# ip -6 addr\n2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500\n"
        "    inet6 2001:db8::5/64 scope global\n"
    )
    said = "IPv6 does not work on the node."
    case = case_of(said, "net.ipv6.conf.all.disable_ipv6 = 1", address)
    assert certainty(ROWS["ipv6-switched-off"], case) is None

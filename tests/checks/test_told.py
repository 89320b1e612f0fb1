"""A switch that is stated off, and a sentence that says whom it cuts off: together they convict, on
that road alone.
"""

from __future__ import annotations

import pytest

from podpath.checks.finding import Finding
from podpath.checks.links import macvlan_parent
from podpath.checks.netfilter import bridge_calls_disabled
from podpath.checks.routing import forwarding_switched_off, martian_source
from podpath.library.given import Pasted
from podpath.library.reading import read_together
from podpath.node.case import Case
from tests.checks.switches import case_of as case_with

FORWARDING_OFF = "\n\n$ cat /proc/sys/net/ipv4/ip_forward\n0\n"
CALLS_OFF = (
    "\n\n# sysctl net.bridge.bridge-nf-call-iptables\nnet.bridge.bridge-nf-call-iptables = 0\n"
)


def case_of(text: str) -> Case:
    """Read a ticket with its prose."""
    return read_together([Pasted(text, "ticket.md")]).facts


def certainty(found: list[Finding]) -> float | None:
    """Return how certain the first finding is; None where there is none."""
    return found[0].certainty if found else None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("My docker containers cannot reach the internet, everything times out.", 1.0),
        ("Since the reboot pods can't ping pods on another node.", 1.0),
        (
            (
                "The box shares its connection over two network cards; the clients have been "
                "offline since it was restarted."
            ),
            0.6,
        ),
        ("The computers of the lab use this box as their gateway. They open no website.", 1.0),
        ("It is a WireGuard server. Peers can ping it, but nothing beyond it.", 1.0),
        ("Peers of the WireGuard server reach it, but no machine of the LAN behind it.", 1.0),
        ("Peers of the WireGuard server do not reach it; it stands behind a router.", 0.6),
        ("The guests on our KVM host lost the internet.", 1.0),
        ("Pods can only reach pods on the same node.", 1.0),
        ("My laptop is on a WireGuard server's network and opens no website.", 0.6),
        ("My laptop cannot open any site on the internet.", None),
        ("Containers open no site by name. Pings of 8.8.8.8 from containers work.", None),
        ("Containers on a macvlan cannot reach the internet.", None),
        ("Containers get connection refused from the internet.", None),
        ("The site is slow.", None),
        ("Containers reach the internet without any problem.", None),
    ],
)
def test_forwarding_that_is_off_convicts_where_what_it_has_to_forward_fails(
    said: str, expected: float | None
) -> None:
    """Its own traffic, or a host that forwards for nobody, says nothing."""
    found = list(forwarding_switched_off.check(case_of(said + FORWARDING_OFF)))

    assert expected == certainty(found)
    assert all(one.evidence[0].text.strip().endswith("0") for one in found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            (
                "Flannel. A pod cannot reach the service when its pod is on the same node, it "
                "times out."
            ),
            1.0,
        ),
        ("Flannel. A pod cannot reach any service by its cluster IP.", 0.5),
        ("Calico. A pod cannot reach the service when its pod is on the same node.", None),
        ("Flannel. Pods cannot reach the internet.", None),
    ],
)
def test_bridged_packets_that_pass_no_rules_convict_on_one_bridge(
    said: str, expected: float | None
) -> None:
    """What is routed is not touched by the switch."""
    assert expected == certainty(list(bridge_calls_disabled.check(case_of(said + CALLS_OFF))))


@pytest.mark.parametrize(("client", "proves"), [("10.1.2.3", True), ("10.9.9.9", False)])
def test_martian_is_the_failing_clients_own_address(client: str, proves: bool) -> None:  # noqa: FBT001 # a row
    """A stray packet of another host proves nothing of the client that people name."""
    line = "kernel: IPv4: martian source 10.5.0.7 from 10.1.2.3, on dev eth1"
    text = (
        f"The client {client} cannot connect to 10.5.0.{8 - proves}, it times out.\n\n```\n{line}\n"
        "```\n"
    )

    assert proves is bool(next(martian_source.check(case_of(text))).proves)


@pytest.mark.parametrize(
    ("said", "proves"),
    [
        ("The host cannot ping the container.", True),
        ("The container cannot reach the internet.", False),
    ],
)
def test_child_of_a_card_is_not_reached_by_its_own_host(said: str, proves: bool) -> None:  # noqa: FBT001 # a row
    """Others of the LAN are; so what fails elsewhere is not this."""
    line = (
        "7: mv0@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n"
        "    macvlan mode bridge"
    )
    text = f"{said}\n\n```\n# ip -d link\n{line}\n```\n"
    found = list(macvlan_parent.check(case_of(text)))

    assert found
    assert proves is bool(found[0].proves)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The published sites of our docker host cannot be opened from outside.", 1),
        ("The lab machines behind this box cannot reach the internet.", 1),
        ("This host is the gateway of the LAN. Clients cannot reach the internet.", 1),
        ("The VM acts as a NAT instance for machines that cannot reach the internet.", 1),
        ("This host is the gateway of the LAN. It cannot reach the internet itself.", None),
        ("The box cannot reach the internet.", None),
        ("The site on the host cannot be opened from outside.", None),
    ],
)
def test_forwarding_is_needed_in_many_words(said: str, expected: float | None) -> None:
    """Whoever stands behind the host, and whatever it publishes, is forwarded; itself is not."""
    found = list(forwarding_switched_off.check(case_with(said, "net.ipv4.ip_forward = 0")))

    assert expected == (found[0].certainty if found else None)


def test_published_port_of_a_neighbour_on_the_bridge_needs_its_switch() -> None:
    """Its reply is bridged, and translated back only where bridged packets meet the rules."""
    said = (
        "Containers on the same docker network cannot reach each other by the host's address "
        "and published port."
    )
    found = next(
        bridge_calls_disabled.check(case_with(said, "net.bridge.bridge-nf-call-iptables = 0"))
    )

    assert found.certainty == 1

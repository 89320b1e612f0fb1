"""Which settings a repair writes: those that are in the way, and no other."""

from __future__ import annotations

from podpath.diagnosis.repairs_settings import answer_arp, answer_pings, forget_connection
from podpath.testing.nodes import given_netns, given_node
from tests.diagnosis.test_causes import translated
from tests.diagnosis.test_repairs import cause_of, node


def test_only_the_settings_that_keep_it_from_answering_are_written() -> None:
    """Those that are 0 already stay as they are."""
    keys = ("all", "eth0", "eth1")
    sysctls = {
        f"net.ipv4.conf.{key}.arp_ignore": value
        for key, value in zip(keys, ("1", "0", "2"), strict=True)
    }
    host = given_node(given_netns("host", sysctls=sysctls))
    (repair,) = answer_arp(host, cause_of(node("FORWARD -j DROP")))

    assert (
        "sysctl -w net.ipv4.conf.all.arp_ignore=0",
        "sysctl -w net.ipv4.conf.eth1.arp_ignore=0",
    ) == repair.commands


def test_the_entry_that_translated_the_packet_is_forgotten() -> None:
    """No other entry is, though it leads to an endpoint that is gone, too."""
    asked = "udp 10.1.0.2:4000 > 10.96.0.10:53 from pod"
    made = translated()
    cause = cause_of(made, asked)
    (repair,) = forget_connection(made, cause)

    assert cause.check == "stale-conntrack"
    assert ("conntrack -D -p udp --orig-dst 10.96.0.10",) == repair.commands


def test_pings_that_are_ignored_are_answered_again() -> None:
    """By the sysctl that the walk met."""
    key = "net.ipv4.icmp_echo_ignore_all"
    host = given_node(given_netns("host", "eth0 192.0.2.1/24", sysctls={key: "1"}))
    cause = cause_of(host, "icmp 192.0.2.9 > 192.0.2.1 in eth0")
    (repair,) = answer_pings(host, cause)

    assert cause.check == "pings-ignored"
    assert (f"sysctl -w {key}=0",) == repair.commands

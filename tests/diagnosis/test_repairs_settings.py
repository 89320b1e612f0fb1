"""Which settings a repair writes: those that are in the way, and no other."""

from __future__ import annotations

from podpath.diagnosis.repairs_settings import answer_arp
from podpath.testing.nodes import given_netns, given_node
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

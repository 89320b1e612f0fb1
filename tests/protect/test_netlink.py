"""Netlink is read as the kernel writes it, and broken messages are left out."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podpath.collect.netns import inside
from podpath_protect import netlink
from podpath_protect.netlink import (
    LinkChange,
    MessagesLost,
    Monitor,
    NetconfChange,
    NetlinkMessage,
    RuleChange,
    parse_event,
    parse_messages,
)

NAME = f"psy-netlink-{os.getpid()}"


@pytest.fixture
def namespace() -> Iterator[str]:
    """Make a namespace with a pair of devices."""
    subprocess.run(["ip", "netns", "add", NAME], check=True)
    subprocess.run(
        ["ip", "-n", NAME, "link", "add", "one", "type", "veth", "peer", "name", "two"], check=True
    )
    yield f"/run/netns/{NAME}"
    subprocess.run(["ip", "netns", "delete", NAME], check=True)


def gather(monitor: Monitor, count: int) -> list[netlink.Event]:
    """Wait for so many events, at most half a minute."""
    found: list[netlink.Event] = []
    end = time.monotonic() + 30
    while len(found) < count and time.monotonic() < end:
        found += monitor.events()
        time.sleep(0.005)
    return found


@given(st.binary(max_size=200))
def test_whatever_is_received_is_read_without_an_error(data: bytes) -> None:
    """No bytes make the reader raise or loop."""
    for message in parse_messages(data):
        parse_event(message)
    parse_event(NetlinkMessage(netlink.NEW_NETCONF, 0, data))
    parse_event(NetlinkMessage(netlink.NEW_LINK, 0, data))
    parse_event(NetlinkMessage(10 << 8 | 6, 0, data))


def test_a_cut_message_ends_the_reading() -> None:
    """What stands before it is kept."""
    whole = struct.pack("=IHHII", 20, netlink.NEW_NETCONF, 0, 0, 0) + b"\2\0\0\0"
    cut = struct.pack("=IHHII", 900, netlink.NEW_NETCONF, 0, 0, 0)

    assert [message.kind for message in parse_messages(whole + cut)] == [netlink.NEW_NETCONF]
    assert list(parse_messages(struct.pack("=IHHII", 3, 1, 0, 0, 0))) == []


@pytest.mark.kernel
def test_changes_of_settings_are_told(namespace: str) -> None:
    """rp_filter of `all` and of a device, and forwarding of IPv6, are told as they are written."""
    with inside(namespace):
        with Monitor(
            netlink.LINK_GROUP, netlink.IPV4_NETCONF_GROUP, netlink.IPV6_NETCONF_GROUP
        ) as monitor:
            conf = Path("/proc/sys/net/ipv4/conf")
            (conf / "all/rp_filter").write_text("1", encoding="utf-8")
            (conf / "one/rp_filter").write_text("2", encoding="utf-8")
            Path("/proc/sys/net/ipv6/conf/two/forwarding").write_text("1", encoding="utf-8")
            events = [event for event in gather(monitor, 3) if isinstance(event, NetconfChange)]
        names = [netlink.device_name(event.ifindex) for event in events]

    assert [(event.family, dict(event.values)) for event in events] == [
        (socket.AF_INET, {"rp_filter": 1}),
        (socket.AF_INET, {"rp_filter": 2}),
        (socket.AF_INET6, {"forwarding": 1}),
    ]
    assert names == ["all", "one", "two"]


@pytest.mark.kernel
def test_devices_that_come_and_go_are_told(namespace: str) -> None:
    """A new veth is told by its name, also one with a dot."""
    with inside(namespace), Monitor(netlink.LINK_GROUP) as monitor:
        subprocess.run(
            ["ip", "link", "add", "lxc.1", "type", "veth", "peer", "name", "lxc2"], check=True
        )
        subprocess.run(["ip", "link", "delete", "lxc.1"], check=True)
        events = [event for event in gather(monitor, 4) if isinstance(event, LinkChange)]

    assert {(event.name, event.gone) for event in events} >= {
        ("lxc.1", False),
        ("lxc2", False),
        ("lxc.1", True),
    }


@pytest.mark.kernel
def test_lost_messages_are_an_event(namespace: str) -> None:
    """When nobody listened for too long, the reader says that it must look at everything."""
    with inside(namespace), Monitor(netlink.IPV4_NETCONF_GROUP) as monitor:
        monitor._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        path = Path("/proc/sys/net/ipv4/conf/one/rp_filter")
        for number in range(200):
            path.write_text(str(number % 2), encoding="utf-8")
        events = gather(monitor, 2)

    assert MessagesLost() in events


@pytest.mark.kernel("nft")
def test_changes_of_rules_are_told(namespace: str) -> None:
    """A change of an nftables ruleset, which iptables-nft makes too, is an event."""
    with inside(namespace), Monitor(netlink.NFTABLES_GROUP, protocol=netlink.NETFILTER) as monitor:
        subprocess.run(
            ["nft", "add table ip x; add chain ip x c; add rule ip x c counter"], check=True
        )

        assert RuleChange("x", "c") in gather(monitor, 3)

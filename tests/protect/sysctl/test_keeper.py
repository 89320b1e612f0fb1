"""Events that cannot concern a declared key are passed over; the others lead to a look."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from podpath_protect.netlink import ALL, Event, LinkChange, MessagesLost, NetconfChange, OtherChange
from podpath_protect.sysctl.dropins import DIRECTORIES
from podpath_protect.sysctl.keeper import concerns, watched_directories
from podpath_protect.sysctl.keys import parse_key

KEYS = tuple(
    map(parse_key, ("net.ipv4.conf.lxc*.rp_filter", "net.core.somaxconn", "net.ipv4.ip_forward"))
)


@pytest.mark.parametrize(
    ("event", "concerned"),
    [
        (LinkChange(7, "lxc9"), True),
        (LinkChange(7, "eth0"), False),
        (LinkChange(7, "lxc9", gone=True), False),
        (NetconfChange(socket.AF_INET, ALL, (("rp_filter", 1),)), True),
        (NetconfChange(socket.AF_INET, ALL, (("forwarding", 1),)), True),
        (NetconfChange(socket.AF_INET, ALL, (("proxy_neigh", 1),)), False),
        (NetconfChange(socket.AF_INET, 1, (("rp_filter", 1),)), False),
        (NetconfChange(socket.AF_INET, 1 << 20, (("rp_filter", 1),)), False),
        (MessagesLost(), True),
        (OtherChange(99), True),
    ],
)
def test_events_are_sorted(event: Event, *, concerned: bool) -> None:
    """A pod's device, `all`, lost messages; not another device (1 is lo), another setting, or a
    device that is gone.
    """
    assert concerns([event], KEYS) is concerned


def test_directories_of_plain_keys_are_watched() -> None:
    """Patterns are left to netconf, so that a thousand devices are no thousand watches."""
    found = watched_directories(KEYS, Path("/proc/sys"), Path("/host"))

    assert found[:2] == (Path("/proc/sys/net/core"), Path("/proc/sys/net/ipv4"))
    assert found[2:] == tuple(Path("/host") / directory for directory in DIRECTORIES)

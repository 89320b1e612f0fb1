"""By which device a datagram came is the kernel's word, and default routes' devices are known in
both families.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from podpath_protect.netlink import device_name
from podpath_protect.reflect.arrival import ask_for_device, list_uplinks, read_device
from tests.protect.repair.netns import inside, ip, pod_namespace


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_device_is_told(address: str) -> None:
    """What comes over the loopback came by `lo`; without being asked the kernel says nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with (
        socket.socket(family, socket.SOCK_DGRAM) as listener,
        socket.socket(family, socket.SOCK_DGRAM) as sender,
    ):
        listener.bind((address, 0))
        listener.settimeout(60)
        sender.sendto(b"x", listener.getsockname())
        assert 0 == read_device(listener.recvmsg(10, 256)[1])
        ask_for_device(listener)
        sender.sendto(b"x", listener.getsockname())
        assert "lo" == device_name(read_device(listener.recvmsg(10, 256)[1]))


@pytest.mark.kernel("ip")
def test_the_devices_of_default_routes() -> None:
    """Those of either family, once; other routes and unreachable defaults do not count."""
    ask = "from podpath_protect.reflect.arrival import list_uplinks; print(sorted(list_uplinks()))"
    with pod_namespace("10.244.90.5/24", "fd00:90::5/64") as name:
        both = inside(name, sys.executable, "-c", ask)
        ip("-n", name, "route", "del", "default")
        ip("-n", name, "route", "add", "unreachable", "default", "metric", "4278198272")
        six = inside(name, sys.executable, "-c", ask)
        ip("-n", name, "-6", "route", "del", "default")
        ip("-n", name, "-6", "route", "add", "unreachable", "default")
        none = inside(name, sys.executable, "-c", ask)

    assert ["['eth0']\n", "['eth0']\n", "[]\n"] == [both, six, none]


def test_without_the_files_there_are_none(tmp_path: Path) -> None:
    """A kernel without IPv6 has no such file; half a line is passed over."""
    (tmp_path / "route").write_text("Iface\tDestination\neth0\t00000000\n")

    assert frozenset() == list_uplinks(tmp_path)

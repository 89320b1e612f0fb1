"""Addresses and routes that the kernel refuses since a device's IPv6 is switched off."""

from __future__ import annotations

import os
import re

import pytest

from podpath.checks.links.ipv6_refused import UNSTATED, check
from tests.checks.pasted import found
from tests.kernel.router import run

DENIED = "RTNETLINK answers: Permission denied"
OFF = "# sysctl net.ipv6.conf.eth1.disable_ipv6\nnet.ipv6.conf.eth1.disable_ipv6 = {}"


@pytest.mark.parametrize(
    "command",
    [
        "# ip -6 addr add 2001:db8:1::10/64 dev eth1",
        "# ip a a 2001:db8:1::10/64 dev eth1",
        "# ip -6 route add default via fe80::1 dev eth1",
        "[#] ip -6 address add fd00::2/64 dev eth1",
    ],
)
def test_the_devices_own_switch_decides(command: str) -> None:
    """Its line is quoted first; the value 1 makes it certain, 0 takes it away."""
    text = f"{command}\n{DENIED}\n"

    assert [(1.0, "net.ipv6.conf.eth1.disable_ipv6 = 1")] == found(check, text + OFF.format(1))
    assert [] == found(check, text + OFF.format(0))
    assert [(UNSTATED, DENIED)] == found(check, text)


def test_the_switch_of_all_devices_writes_each() -> None:
    """A line of it is enough beside the kernel's answer."""
    text = f"# ip -6 addr add 2001:db8:1::10/64 dev eth1.20\n{DENIED}\n"
    every = "# sysctl net.ipv6.conf.all.disable_ipv6\nnet.ipv6.conf.all.disable_ipv6 = 1"

    assert [(1.0, "net.ipv6.conf.all.disable_ipv6 = 1")] == found(check, text + every)


@pytest.mark.parametrize(
    "text",
    [
        f"# ip addr add 10.0.0.2/24 dev eth1\n{DENIED}",
        "# ip -6 addr add 2001:db8:1::10/64 dev eth1\nRTNETLINK answers: Operation not permitted",
        f"# ip -6 neigh add fe80::1 lladdr 02:00:00:00:00:01 dev eth1\n{DENIED}",
    ],
)
def test_other_answers_have_other_reasons(text: str) -> None:
    """The other family, a missing right, and neighbors are no matter of this switch."""
    assert [] == found(check, f"{text}\n{OFF.format(1)}")


@pytest.mark.kernel("ip")
def test_the_kernel_refuses_both_and_the_switch_decides() -> None:
    """What all devices are set to is written to each; with a device's own at 0 both are taken."""
    host = f"off6-{os.getpid()}"

    def answer(words: str) -> str:
        return run("sh", "-c", f"ip -n {host} {words} 2>&1; true")

    def switch(key: str) -> str:
        return run("ip", "netns", "exec", host, "sysctl", f"net.ipv6.conf.{key}").strip()

    address, route = "addr add 2001:db8:1::10/64 dev d0", "-6 route add 2001:db8:2::/64 dev d0"
    try:
        run("ip", "netns", "add", host)
        run("ip", "-n", host, "link", "add", "d0", "type", "bridge")
        run("ip", "-n", host, "link", "set", "d0", "up")
        switch("all.disable_ipv6=1")
        assert switch("d0.disable_ipv6") == "net.ipv6.conf.d0.disable_ipv6 = 1"
        assert switch("default.disable_ipv6") == "net.ipv6.conf.default.disable_ipv6 = 1"
        refused = re.compile("IPv6 is disabled on|Permission denied")
        assert refused.search(answer(address))
        assert refused.search(answer(route))
        switch("d0.disable_ipv6=0")
        assert answer(address) + answer(route) == ""
    finally:
        run("ip", "netns", "del", host)

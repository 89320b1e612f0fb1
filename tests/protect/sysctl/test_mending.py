"""Writes spell themselves as commands."""

from __future__ import annotations

import shlex

from podpath_protect.sysctl.keys import Key
from podpath_protect.sysctl.mending import SysctlWrite


def test_a_write_is_a_command() -> None:
    """A person can type it, dots in a device's name and all."""
    write = SysctlWrite(
        key=Key(("net", "ipv4", "conf", "eth0.100", "rp_filter")), value="0", reason="declared"
    )

    assert write.command == "sysctl -w net.ipv4.conf.eth0/100.rp_filter=0"


def test_a_device_cannot_give_a_person_a_command() -> None:
    """The kernel allows quotes and semicolons in a device's name."""
    write = SysctlWrite(
        key=Key(("net", "ipv4", "conf", "x';reboot;'", "rp_filter")), value="0", reason="declared"
    )

    assert shlex.split(write.command) == ["sysctl", "-w", "net.ipv4.conf.x';reboot;'.rp_filter=0"]

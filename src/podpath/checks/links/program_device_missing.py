"""program-device-missing: a program is configured to use a device that the host does not have.

What it is
    dnsmasq, a DHCP server, keepalived, radvd, hostapd, flannel, k3s or another program is
    configured to use a device, and a complete listing of the host's devices has none of that name.

Why it breaks
    The program does not start, or it starts and serves nobody: no leases, no virtual IP, a tunnel
    from the wrong address. A new kernel, another slot or another image renames devices, and names
    differ between nodes.

How to confirm
    ip -br link; the program's log

How to fix
    Use the device name that the host has. If nodes differ, select the device by its network or
    address (flannel --iface-regex, --iface-can-reach).

References
    dnsmasq(8), dhcpd(8), keepalived.conf(5); systemd.net-naming-scheme(7)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.files import listed_devices, named_devices
from podpath.checks.finding import Finding, Severity
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

CATEGORIES = (Category.LINK_DOWN, Category.NETWORK_MANAGER, Category.TUNNEL_ENDPOINT)
NAME = "program-device-missing"
SETTINGS: Mapping[str, frozenset[str]] = {
    "dnsmasq": frozenset({"interface", "bridge-interface"}),
    "dhcpd-default": frozenset({"interfaces", "interfacesv4", "interfacesv6", "dhcpdargs"}),
    "keepalived": frozenset({"interface", "lvs_sync_daemon_interface", "track_interface"}),
    "radvd": frozenset({"interface"}),
}
"""By kind of file: the settings that name devices, in small letters."""
_FLAG = re.compile(r"--(?:flannel-)?iface[= ](?P<device>[a-z][\w.-]*\d)(?![\w.-])")
PROGRAMS = {"": "a program", "dhcpd-default": "the DHCP server", "unit": "a unit"}


def check(case: Case) -> Iterator[Finding]:
    """Report each device that a program's file names and a whole listing lacks."""
    present = listed_devices(case)
    if not present:
        return
    for file in case.files:
        for setting, device in _devices(file):
            if device in present or device.partition(".")[0].partition(":")[0] in present:
                continue
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The configuration of {PROGRAMS.get(file.kind, file.kind)} names {device}, "
                    "which the host does not have."
                ),
                evidence=(setting.span,),
                reasoning=(f"The host's devices are {', '.join(sorted(present - {'lo'}))}.",),
                breaks=("what the program does on that device",),
                prevention="Select devices by network or MAC where their names may change.",
                certainty=0.9,
                marks=(device,),
            )


def _devices(file: SettingsFile) -> Iterator[tuple[Setting, str]]:
    names = SETTINGS.get(file.kind, frozenset())
    for setting in file.settings:
        if setting.name.lower() in names:
            for device in named_devices(setting):
                yield setting, device
        found = _FLAG.search(f"{setting.name} {setting.value}")
        if found is not None:
            yield setting, found["device"]

"""configured-device-missing: a configuration file names a device that the host does not have.

What it is
    interfaces(5), netplan, ifcfg or a .network file names a card, a bridge port or a VLAN device
    that is not among the host's devices, in a complete listing of them.

Why it breaks
    Card names follow the card's position on the PCI bus: an added or moved disk or card, a new
    kernel or a changed virtual machine renames them. The settings then apply to nothing: no
    address, or a bridge (vmbr0) without its port.

How to confirm
    ip -br link; dmesg | grep renamed
    networkctl list; grep -rn DEVICE /etc/network /etc/netplan /etc/systemd/network

How to fix
    Put the current name into the file, or match the card by its MAC (netplan match: macaddress, a
    .link file); then run ifreload -a or netplan apply.

References
    interfaces(5), netplan(5), systemd.net-naming-scheme(7)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import ConfiguredDevice
from podpath.node.case import Case

CATEGORIES = (
    Category.LINK_DOWN,
    Category.BRIDGE_CONFIGURATION,
    Category.NETWORK_MANAGER,
)
NAME = "configured-device-missing"


MADE = (
    "br",
    "bond",
    "vmbr",
    "vlan",
    "lo",
    "wg",
    "tun",
    "tap",
    "dummy",
    "docker",
    "virbr",
    "ppp",
    "wlan",
    "*",
)
"""How names of devices begin that a file makes itself, or that come and go."""


def check(case: Case) -> Iterator[Finding]:
    """Report each card that a file names and a whole listing of the host's devices lacks."""
    host = case.node.host
    if not host.links.complete:
        return
    present = {str(link.name) for link in host.links.items if not link.inferred}
    for wanted, stated in statements_of(case, ConfiguredDevice):
        names = wanted.ports or (() if wanted.matched else (wanted.link,))
        for name in names:
            if name in present or name.startswith(MADE) or not set(name).isdisjoint("*.@:$"):
                continue
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The configuration of {wanted.link} names {name}, which the host does not "
                    "have."
                ),
                evidence=(
                    stated.span,
                    *((host.links.span,) if host.links.span is not None else ()),
                ),
                reasoning=(f"The host's devices are {', '.join(sorted(present - {'lo'}))}.",),
                breaks=(f"everything that the file sets up on {name}",),
                prevention="Match cards by their MAC.",
                certainty=0.9,
                marks=(name,),
            )

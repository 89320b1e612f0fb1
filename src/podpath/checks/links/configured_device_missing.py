"""configured-device-missing: a configuration file names a device that the host does not have.

What it is
    interfaces(5), netplan, ifcfg or a .network file names a card, a bridge port or a VLAN device
    that is not among the host's devices, in a complete listing of them; or a CNI configuration
    names such a parent (`master`) of a macvlan, ipvlan or VLAN. The finding is certain if something
    fails and no file configures the only card that the host has.

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

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import may_be_of_one_host, statements_of
from podpath.checks.told import list_failing
from podpath.net.provenance import Span
from podpath.net.statements import ConfiguredDevice, ManagedDevice
from podpath.node.case import Case

CATEGORIES = (
    Category.LINK_DOWN,
    Category.BRIDGE_CONFIGURATION,
    Category.NETWORK_MANAGER,
)
NAME = "configured-device-missing"


_IDLE = frozenset({"unmanaged", "disconnected"})
_CARD = re.compile(r"(?:eth|en[opsx]\w*|em|p\d+p)\d\w*|en[opsx]\w+")
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


class _DeviceList(NamedTuple):
    """A whole listing of the host's devices."""

    names: frozenset[str]
    span: Span | None
    idle: Mapping[str, Span]
    """Cards that their manager configures by nothing, each with its line."""


def check(case: Case) -> Iterator[Finding]:
    """Report each card that a file names and a whole listing of the host's devices lacks."""
    listed = _list_devices(case)
    if listed is None:
        return
    stated = list(statements_of(case, ConfiguredDevice))
    used = {str(wanted.link) for wanted, _ in stated}
    idle = {name: span for name, span in listed.idle.items() if name not in used}
    failing = any(True for _ in list_failing(case))
    alone = len(idle) == 1 and {one for one in listed.names if _CARD.fullmatch(one)} == idle.keys()
    for wanted, shown in stated:
        names = wanted.ports or (() if wanted.matched else (wanted.link,))
        for name in names:
            if name in listed.names or name.startswith(MADE) or not set(name).isdisjoint("*.@:$"):
                continue
            together = may_be_of_one_host((shown.span, listed.span, *idle.values()))
            sure = failing and alone and together and name == wanted.link
            yield _report(wanted, name, shown.span, listed, tuple(idle.values()) if sure else ())


def _list_devices(case: Case) -> _DeviceList | None:
    """Return the devices of a whole listing, of `ip link` or of a manager; None where none is
    whole.
    """
    managed = list(statements_of(case, ManagedDevice))
    idle = {
        str(device.link): stated.span
        for device, stated in managed
        if device.state in _IDLE and _CARD.fullmatch(str(device.link)) is not None
    }
    links = case.node.host.links
    if links.complete:
        names = frozenset(str(link.name) for link in links.items if not link.inferred)
        return _DeviceList(names, links.span, idle)
    whole = {
        stated.span.source
        for device, stated in managed
        if device.link == "lo" and "|" not in (stated.span.source.command or "")
    }
    rows = [(str(device.link), stated.span) for device, stated in managed]
    names = frozenset(name for name, span in rows if span.source in whole)
    return _DeviceList(names, None, idle) if names else None


def _report(
    wanted: ConfiguredDevice, name: str, span: Span, listed: _DeviceList, idle: tuple[Span, ...]
) -> Finding:
    """Report a missing card; it is certain where the one card that is there has nothing."""
    same = name == wanted.link
    whose = f"{wanted.manager}'s configuration" if same else f"The configuration of {wanted.link}"
    others = ", ".join(sorted(listed.names - {"lo"}))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{whose} names {name}, which the host does not have.",
        evidence=(span, *((listed.span,) if listed.span is not None else ()), *idle),
        reasoning=(f"The host's devices are {others}.",),
        breaks=(f"everything that the file sets up on {name}",),
        prevention="Match cards by their MAC.",
        certainty=1.0 if idle else 0.9,
        marks=(name,),
    )

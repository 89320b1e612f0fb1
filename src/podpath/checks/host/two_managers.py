"""two-managers: two programs configure one of the host's devices.

What it is
    NetworkManager says that it connected a device, and systemd-networkd that it configured the same
    one; or NetworkManager connected, with its own profile, a device to which
    /etc/network/interfaces, netplan or networkd gives an address.

Why it breaks
    Each program sets its own addresses, routes, rules and DNS, and removes whatever it does not
    know: leases for both, two default routes, addresses that change or disappear minutes after
    boot, a resolv.conf that keeps being overwritten.

How to confirm
    networkctl list; nmcli device; grep -rn DEVICE /etc/network /etc/netplan /etc/systemd/network

How to fix
    Leave the device to one of them: `unmanaged-devices=interface-name:DEVICE` in NetworkManager's
    keyfile section, or `Unmanaged=yes` in a .network file; disable the one that you do not need.

References
    NetworkManager.conf(5), systemd.network(5)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.stated import statements_of
from podpath.checks.wanted import wanted_devices
from podpath.net.provenance import Span
from podpath.net.statements import DeviceManager, ManagedDevice
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_MANAGER,)
NAME = "two-managers"


def check(case: Case) -> Iterator[Finding]:
    """Report each device that two managers say they have set up, or that one has and another's file
    wants.
    """
    connected: dict[str, Span] = {}
    configured: dict[str, Span] = {}
    for device, stated in statements_of(case, ManagedDevice):
        match device.manager:
            case DeviceManager.NETWORK_MANAGER:
                if device.state == "connected" and device.profile:
                    connected[str(device.link)] = stated.span
            case DeviceManager.NETWORKD:
                if device.state in {"configured", "configuring"}:
                    configured[str(device.link)] = stated.span
    for name in connected.keys() & configured.keys() - {"lo"}:
        yield _report(name, "systemd-networkd", (connected[name], configured[name]), 1.0)
    for wanted in wanted_devices(case):
        name = wanted.device
        if (
            name in connected
            and name not in configured
            and wanted.addresses
            and _is_other(case, wanted.span)
        ):
            yield _report(
                name, "another manager's file", (connected[name], wanted.addresses[0].span), 0.6
            )


def _is_other(case: Case, span: Span) -> bool:
    """Tell whether the file that wants a device is not NetworkManager's own."""
    kinds = [file.kind for file in case.files if file.span.source is span.source]
    return bool(kinds) and kinds[0] in {"ifupdown", "networkd"}


def _report(name: str, other: str, evidence: tuple[Span, ...], certainty: float) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"NetworkManager and {other} both configure {name}.",
        evidence=evidence,
        reasoning=("Each removes addresses, routes and rules that it does not know.",),
        breaks=(f"the addresses and routes of {name}",),
        prevention="Leave each device to one manager.",
        certainty=certainty,
        asks=()
        if certainty == 1
        else (FollowUp("who set the address", "nmcli -f all device show", "GENERAL.NM-MANAGED"),),
        marks=(name,),
    )

"""bridge-port-addressed: a configuration gives an IP address to a device that is a bridge port.

What it is
    A file makes a card (eth0) a port of a bridge (br0) and also gives the card its own address,
    static or by DHCP, in addition to the bridge's. Or somebody typed the command that makes the
    host's card a port, and the host is out of reach since.

Why it breaks
    Packets that arrive at a port belong to the bridge. The host's address must be on the bridge:
    with an address on the port, the host has two routes to the same network, or one through a
    device that takes nothing in, and no answers arrive.

How to confirm
    ip -br addr; bridge link; ip route

How to fix
    Set the port to `manual` (netplan: `dhcp4: false`, ifcfg: no IPADDR and no BOOTPROTO=dhcp), and
    give the bridge the address, netmask and gateway that the host had, or DHCP.

References
    bridge-utils-interfaces(5); systemd.network(5), Bridge=
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.checks.told import WORKLOADS, list_failing, list_lost
from podpath.checks.wanted import WantedDevice, wanted_devices
from podpath.net.provenance import Span
from podpath.net.settings import Setting
from podpath.net.statements import TypedDevice
from podpath.node.case import Case

CATEGORIES = (Category.BRIDGE_CONFIGURATION, Category.NETWORK_MANAGER)
NAME = "bridge-port-addressed"
LIKELY = 0.8
"""The card may have had no address of the host's."""
_CARD = re.compile(r"(?:eth|en[opsx]|em|p\d+p|bond|wlan)\w*(?:\.\d+)?$")


def check(case: Case) -> Iterator[Finding]:
    """Report each port of a bridge that the files give an address of its own; else the card that
    somebody made a port by hand.
    """
    yield from _find_typed(case)
    yield from _find_configured(case)


def _find_configured(case: Case) -> Iterator[Finding]:
    """Report each port of a bridge that the files give an address of its own."""
    devices = wanted_devices(case)
    ports = {port: (wanted.device, span) for wanted in devices for port, span in wanted.ports}
    ports |= {wanted.device: (wanted.bridge, wanted.span) for wanted in devices if wanted.bridge}
    addressed = {wanted.device: bool(_static(wanted)) for wanted in devices}
    failing = tuple(list_failing(case))
    hit = bool(failing) and not any({one.source, one.target} & WORKLOADS for one in failing)
    for wanted in devices:
        bridge, joined = ports.get(wanted.device, ("", None))
        static = _static(wanted)
        if joined is None or bridge == wanted.device or (wanted.dhcp is None and not static):
            continue  # none is a port of itself: two files that were read as one
        how = "an address by DHCP" if wanted.dhcp is not None else f"the address {static[0].value}"
        competing = wanted.dhcp is not None and any(
            one.gateways for one in devices if one.device == bridge
        )
        own = wanted.dhcp if wanted.dhcp is not None else static[0].span
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"The configuration makes {wanted.device} a port of {bridge} and also gives it "
                f"{how}."
            ),
            evidence=tuple(dict.fromkeys((own, joined))),
            reasoning=(
                (
                    f"Packets that arrive at {wanted.device} belong to {bridge}: an address on the "
                    "port gets no answers."
                ),
            ),
            breaks=(f"packets that the host sends from {wanted.device}'s own address",),
            repairs=(
                Repair(
                    title=f"move the host's address from {wanted.device} to {bridge}",
                    commands=(),
                ),
            ),
            prevention="Configure addresses on bridges, never on their ports.",
            certainty=1.0 if hit and (static or competing or not addressed.get(bridge)) else 0.6,
            marks=(wanted.device, bridge),
            asks=(
                FollowUp(
                    fact=(f"whether {wanted.device} has an address and the host's routes use it"),
                    command=f"ip addr show {wanted.device}; ip addr show {bridge}; ip route",
                    decides=(
                        f"an address or a route on {wanted.device}: it is the cause; "
                        f"both on {bridge}: it is not"
                    ),
                ),
            ),
        )


def _find_typed(case: Case) -> Iterator[Finding]:
    """Report the first card that a command makes a port of a bridge which no command gives an
    address, where people say that the host itself, or all of it, is out of reach.
    """
    typed = [(one, stated.span) for one, stated in statements_of(case, TypedDevice)]
    addressed = {str(one.link) for one, _ in typed if not one.bridge}
    shown = {str(one.link) for one in case.node.host.addresses.items if one.span is not None}
    lost = [one for one in list_lost(case) if not {one.source, one.target} & WORKLOADS]
    for one, span in typed if lost else ():
        if one.bridge and one.bridge not in addressed | shown and _CARD.match(one.link):
            yield _report_typed(one, (span, lost[0].span))
            return


def _report_typed(typed: TypedDevice, spans: tuple[Span, ...]) -> Finding:
    port, bridge = typed.link, typed.bridge
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{port} was made a port of {bridge}: since then the host's addresses and routes on "
            f"{port} get no answers, and nothing shown gives {bridge} any."
        ),
        evidence=spans,
        reasoning=(f"Packets that arrive at {port} belong to {bridge} from then on.",),
        breaks=(f"everything that the host sends and receives through {port}",),
        repairs=(
            Repair(
                title=f"take {port} out of the bridge, or move its address and routes to it",
                commands=(f"ip link set {port} nomaster",),
            ),
        ),
        prevention="Configure addresses on bridges, never on their ports.",
        certainty=LIKELY,
        asks=(
            FollowUp(
                fact=f"which of {port} and {bridge} has the host's address",
                command=f"ip addr show {port}; ip addr show {bridge}; ip route",
                decides=f"{port}: it is the cause; {bridge}: it is not",
            ),
        ),
        marks=(str(port), bridge),
    )


def _static(wanted: WantedDevice) -> list[Setting]:
    """Return the addresses that a file gives a device; an ifcfg file may say none as 0.0.0.0."""
    return [one for one in wanted.addresses if one.words[:1] not in {("0.0.0.0",), ("0.0.0.0/0",)}]  # noqa: S104

"""gateway-outside-network: a configuration gives a device a gateway that is in none of its
networks.

What it is
    interfaces(5), ifcfg, netplan, a .network file or a NetworkManager connection gives a device
    addresses with their networks, and a gateway outside all of them: the netmask is too narrow, or
    one of the two is mistyped.

Why it breaks
    The kernel accepts a route only if its gateway is on a network of the device: `Network is
    unreachable`, `No such process` or `Nexthop has invalid gateway`. Then there is no default
    route, and only the local network is reachable.

How to confirm
    ip route show default; ip route get GATEWAY

How to fix
    Set the provider's netmask (prefix length), or the gateway of that network. If it is outside on
    purpose, as on rented servers with a /32, say so: netplan `on-link: true`, networkd
    `GatewayOnLink=yes`, ifupdown `pointopoint GATEWAY`.

References
    fib_check_nh (net/ipv4/fib_semantics.c v6.12); interfaces(5), netplan(5), systemd.network(5)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.said import find_said
from podpath.checks.wanted import WantedDevice, prefixes, unnamed_devices, wanted_devices
from podpath.net.addresses import WIDTH, Address, Prefix, read_address
from podpath.net.messages import MessageKind
from podpath.net.settings import Setting
from podpath.node.case import Case

CATEGORIES = (Category.NO_ROUTE, Category.NETWORK_MANAGER)
NAME = "gateway-outside-network"
INNER = tuple(Prefix.parse(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""Addresses that nobody masks by writing others: public ones in a ticket may be made up."""


def check(case: Case) -> Iterator[Finding]:
    """Report each gateway that no address of the same device reaches."""
    refused = bool(find_said(case, MessageKind.ROUTE_REFUSED))
    for wanted in (*wanted_devices(case), *unnamed_devices(case)):
        partial = len(list(prefixes(wanted))) < len(wanted.addresses)
        if wanted.on_link or wanted.dhcp is not None or partial:
            continue
        for setting in wanted.gateways:
            gateway = read_address(setting.value.split()[0] if setting.value else "")
            if gateway is None or gateway.is_link_local:
                continue
            if any(prefix.covers(gateway) for prefix in wanted.reached):
                continue
            networks = _list_networks(wanted, gateway)
            if networks and not any(prefix.covers(gateway) for prefix, _ in networks):
                yield _report(wanted, (setting, gateway), networks, refused=refused)


def _list_networks(wanted: WantedDevice, gateway: Address) -> list[tuple[Prefix, Setting]]:
    """Return the networks of a device's addresses of a gateway's family, each with its line."""
    return [
        (Prefix.of(address, length), place)
        for place, address, length in prefixes(wanted)
        if address.family == gateway.family
    ]


def _report(
    wanted: WantedDevice,
    told: tuple[Setting, Address],
    networks: Sequence[tuple[Prefix, Setting]],
    *,
    refused: bool,
) -> Finding:
    setting, gateway = told
    near = ", ".join(str(prefix) for prefix, _ in networks)
    single = all(prefix.length == WIDTH[prefix.family] for prefix, _ in networks)
    masks = [mask.span for mask in wanted.masks[:1]]
    spans = (setting.span, *masks, *(place.span for _, place in networks))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The configuration gives {wanted.device} the gateway {gateway}, which is not in its "
            f"network {near}."
        ),
        evidence=tuple(dict.fromkeys(spans)),
        reasoning=(
            "The kernel refuses a route via a gateway that is on no network of the device.",
        ),
        breaks=("all traffic beyond the local network: there is no default route",),
        repairs=(
            Repair(
                title="set the netmask that covers the gateway, or the gateway of this network",
                commands=(),
            ),
        ),
        prevention="Copy address, netmask and gateway together from the provider's data.",
        certainty=1.0 if refused or single or any(one.covers(gateway) for one in INNER) else 0.8,
        marks=(str(gateway),),
    )

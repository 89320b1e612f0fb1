"""lease-range-outside: a DHCP server is configured for a network that its device is not in.

What it is
    dhcpd.conf declares subnets, but the device that the server should listen on has no address in
    any of them; or a range, or the router that it hands out, lies outside its subnet. The same goes
    for dnsmasq's dhcp-range.

Why it breaks
    A DHCP server chooses the subnet by the address of the device on which a request comes in.
    Without a matching address it does not listen there ("No subnet declaration", "no address range
    available"). A client cannot reach a router that is outside the network it was given.

How to confirm
    ip -br addr; dhcpd -t; journalctl -u isc-dhcp-server -u dnsmasq

How to fix
    Give the device an address in the subnet that it should serve, or declare the subnet of the
    address that it has.

References
    dhcpd.conf(5), dnsmasq(8)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import device_networks, files_of, named_devices
from podpath.checks.finding import Finding, Severity
from podpath.checks.wanted import read_length
from podpath.net.addresses import Prefix, read_address
from podpath.net.provenance import Span
from podpath.net.settings import Setting, SettingsFile
from podpath.node.case import Case

CATEGORIES = (Category.NO_LISTENER, Category.NETWORK_MANAGER, Category.IPAM)
NAME = "lease-range-outside"


def check(case: Case) -> Iterator[Finding]:
    """Report subnets that no device of the server is in, and what lies outside of its own
    subnet.
    """
    devices = [
        (one, name)
        for file in files_of(case, "dhcpd-default")
        for one in file.settings
        for name in named_devices(one)
    ]
    for file in files_of(case, "dhcpd"):
        subnets = _subnets(file)
        for path, (subnet, _) in subnets.items():
            yield from _check_inside(file, path, subnet)
        for setting, device in devices:
            networks = device_networks(case, device)
            served = [prefix for prefix, _ in subnets.values()]
            if (
                networks
                and served
                and not any(_overlap(prefix, network) for prefix in served for network in networks)
            ):
                first = next(iter(subnets.values()))[1]
                claim = (
                    f"The DHCP server is configured for {device}, but declares no subnet for "
                    f"{device}'s network {networks[0]}."
                )
                yield _report(claim, (first.span, setting.span), device)
    for file in files_of(case, "dnsmasq"):
        yield from _check_dnsmasq(case, file)


def _subnets(file: SettingsFile) -> dict[tuple[str, ...], tuple[Prefix, Setting]]:
    """Return the declared subnets, by their block, with a setting that shows it."""
    found: dict[tuple[str, ...], tuple[Prefix, Setting]] = {}
    for path, settings in file.blocks().items():
        words = path[-1].split() if path else []
        if len(words) >= 4 and words[0] == "subnet" and words[2] == "netmask":
            address, length = read_address(words[1]), read_length(words[3])
            if address is not None and length is not None:
                found[path] = (Prefix.of(address, length), settings[0])
    return found


def _check_inside(file: SettingsFile, path: tuple[str, ...], subnet: Prefix) -> Iterator[Finding]:
    """Report ranges and routers outside of the subnet of their block."""
    for setting in file.settings:
        if setting.path[: len(path)] != path:
            continue
        is_router = setting.name == "option" and setting.words[:1] == ("routers",)
        if setting.name != "range" and not is_router:
            continue
        for address in filter(None, map(read_address, setting.words)):
            if address.family == subnet.family and not subnet.covers(address):
                what = "hands out the router" if is_router else "has a range with"
                yield _report(
                    f"The DHCP server's subnet {subnet} {what} {address}, which is outside it.",
                    (setting.span,),
                    str(address),
                )
                break


def _check_dnsmasq(case: Case, file: SettingsFile) -> Iterator[Finding]:
    """Report a range of dnsmasq that is in no network of the devices that it is to listen on."""
    devices = [name for one in file.all("interface") for name in named_devices(one)]
    networks = [network for device in devices for network in device_networks(case, device)]
    for setting in file.all("dhcp-range"):
        start = next(filter(None, map(read_address, setting.words)), None)
        if (
            start is None
            or start.family != 4
            or not networks
            or any(network.covers(start) for network in networks)
        ):
            continue
        claim = (
            f"dnsmasq is configured to lease addresses from {start} on {devices[0]}, whose network "
            f"is {networks[0]}."
        )
        yield _report(claim, (setting.span,), str(start))


def _overlap(one: Prefix, other: Prefix) -> bool:
    return one.covers(other) or other.covers(one)


def _report(claim: str, evidence: tuple[Span, ...], mark: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=evidence,
        reasoning=("A DHCP server serves only subnets in which its own device has an address.",),
        breaks=("leases for the clients on that device",),
        prevention="Configure the server's address and its subnets in one place.",
        certainty=1.0,
        marks=(mark,),
    )

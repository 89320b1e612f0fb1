"""configured-address-wrong: a configuration gives a device an invalid address or netmask.

What it is
    A number above 255 in an address (192.168.1.300), a non-contiguous netmask (255.255.0.255), or
    an address that is its own network's number or broadcast address, or the gateway's address.

Why it breaks
    The program that brings the device up rejects the line, and the device is left without address
    and routes. The kernel accepts a network's number or broadcast address, but other hosts treat it
    as a broadcast address (Linux treats the network's number as an ordinary address since 5.14).
    With the gateway's address, the host answers itself instead of reaching its router.

How to confirm
    ip addr show DEVICE; journalctl -b -u networking -u systemd-networkd -u NetworkManager

How to fix
    Configure a free address of the network.

References
    interfaces(5), netplan(5); RFC 1122, section 3.2.1.3
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.wanted import WantedDevice, prefixes, read_length, wanted_devices
from podpath.net.addresses import WIDTH, Prefix, read_address
from podpath.net.settings import Setting
from podpath.node.case import Case

CATEGORIES = (Category.NETWORK_MANAGER, Category.NO_ROUTE, Category.DUPLICATE_ADDRESS)
NAME = "configured-address-wrong"


def check(case: Case) -> Iterator[Finding]:
    """Report each address and each netmask that cannot be."""
    for wanted in wanted_devices(case):
        for setting in (*wanted.addresses, *wanted.gateways):
            if _has_large_number(setting.words[0] if setting.words else ""):
                yield _report(
                    wanted,
                    setting,
                    f"{setting.value}, which is not an address: no number may be above 255",
                    0.5,
                )
        for mask in wanted.masks:
            if read_address(mask.value) is not None and read_length(mask.value) is None:
                yield _report(wanted, mask, f"the netmask {mask.value}, which is not contiguous")
        gateways = {read_address(one.value): one for one in wanted.gateways}
        for setting, address, length in prefixes(wanted):
            prefix = Prefix.of(address, length)
            if address in gateways:
                yield _report(
                    wanted, setting, f"{address}, which is also the address of its gateway"
                )
            elif address.family == 4 and length < WIDTH[4] - 1 and address == prefix.address:
                yield _report(
                    wanted, setting, f"{address}, which is the number of its network {prefix}"
                )
            elif address.family == 4 and length < WIDTH[4] - 1 and address == prefix.broadcast:
                yield _report(
                    wanted,
                    setting,
                    f"{address}, which is the broadcast address of its network {prefix}",
                )


def _has_large_number(word: str) -> bool:
    parts = word.partition("/")[0].split(".")
    return (
        len(parts) == 4
        and all(part.isdecimal() and len(part) <= 3 for part in parts)
        and any(int(part) > 255 for part in parts)
    )


def _report(wanted: WantedDevice, setting: Setting, what: str, certainty: float = 0.9) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"The configuration gives {wanted.device} {what}.",
        evidence=tuple(dict.fromkeys((setting.span, wanted.span))),
        breaks=(f"traffic through {wanted.device}",),
        prevention="Check a file before you apply it: ifup --no-act, netplan try.",
        certainty=certainty,
        marks=(setting.value,),
    )

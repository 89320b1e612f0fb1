"""route-localnet: a rule rewrites packets to 127.0.0.0/8, but the device they come in on refuses
that.

What it is
    A DNAT rule in PREROUTING sends packets to a loopback address, while
    net.ipv4.conf.DEVICE.route_localnet is 0.

Why it breaks
    An address of 127.0.0.0/8 on a packet that came in from a device is a martian: the packet is
    dropped when it is routed. The host's own connections are not affected, so the port seems open
    only from the host. Node-local DNS caches and sidecars that listen on 127.0.0.1 depend on it.

How to confirm
    sysctl net.ipv4.conf.all.route_localnet net.ipv4.conf.DEVICE.route_localnet
    sysctl -w net.ipv4.conf.all.log_martians=1; dmesg | grep martian

How to fix
    sysctl -w net.ipv4.conf.DEVICE.route_localnet=1 (only with a rule that drops packets to
    127.0.0.0/8 that were not rewritten), or rewrite to an address of the host that is not loopback.

References
    ip_route_input_slow (net/ipv4/route.c); CVE-2020-8558, for why the guard rule is needed
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import device_key, dnat_destinations, find_tables, known_sysctl
from podpath.net.addresses import Address, IfName
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.change import SetSysctl
from podpath.node.netfilter import Rule
from podpath.node.node import HOST, Netns

CATEGORIES = (Category.ROUTE_LOCALNET,)
NAME = "route-localnet"


def check(case: Case) -> Iterator[Finding]:
    """Report each DNAT rule of PREROUTING to a loopback address that no device lets through."""
    host = case.node.host
    switch = _find_switch(host)
    if switch is None:
        return
    for table in find_tables(host, "nat"):
        for rule, address, _ in dnat_destinations(table):
            if rule.chain == "PREROUTING" and address.is_loopback:
                yield _report(rule, address, switch)


def _find_switch(host: Netns) -> Known[str] | None:
    """Return the setting for all devices, where it is off and no device has it on."""
    switch = known_sysctl(host, device_key(4, IfName("all"), "route_localnet"))
    single = (known_sysctl(host, key) for key in host.sysctls if key.endswith(".route_localnet"))
    if switch is None or any(fact is not None and fact.value == "1" for fact in single):
        return None
    return switch


def _report(rule: Rule, address: Address, switch: Known[str]) -> Finding:
    key = device_key(4, IfName("all"), "route_localnet")
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A rule sends packets from outside to {address}, but no device accepts loopback "
            "addresses (route_localnet)."
        ),
        evidence=(rule.span, *((switch.span,) if switch.span is not None else ())),
        reasoning=(
            (
                "A packet from a device with a destination in 127.0.0.0/8 is a martian while "
                "route_localnet is 0: it is dropped."
            ),
        ),
        breaks=(f"connections that the rule rewrites to {address}, except from the host itself",),
        repairs=(
            Repair(
                title="accept loopback addresses, with a rule that guards them",
                commands=(f"sysctl -w {key}=1",),
                changes=(SetSysctl(netns=HOST, key=key, value="1"),),
            ),
        ),
        prevention=(
            f"Put `{key} = 1` in a file in /etc/sysctl.d, or rewrite to an address of the host "
            "that is not loopback."
        ),
        marks=(str(address), "route_localnet"),
    )

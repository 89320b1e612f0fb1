"""gateway-silent: the host's gateway, or another neighbor that a failure names, does not answer ARP
or neighbor discovery.

What it is
    `ip neigh` or `arp -n` lists the default gateway as FAILED or INCOMPLETE, or an arping got no
    answer.

Why it breaks
    Without the gateway's MAC, nothing can be sent to it. The gateway is down or in another VLAN, or
    the frames do not reach it: a wrong VLAN tag, a hypervisor or switch that drops the MAC, a port
    that is shut down.

How to confirm
    arping -I DEVICE GATEWAY; ip neigh show GATEWAY
    tcpdump -eni DEVICE arp

How to fix
    Find where the request is lost: run tcpdump for arp on the device, the bridge and the uplink.
    Compare the prefix length and VLAN with those of a working host.

References
    neigh_timer_handler, arp_solicit (net/core/neighbour.c, net/ipv4/arp.c v6.12); arping(8)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.checks.topology import known_sysctl
from podpath.net.addresses import Address
from podpath.net.provenance import Known
from podpath.net.statements import ArpAnswer
from podpath.node.case import Case
from podpath.node.links import Neighbour
from podpath.node.node import HOST, Netns

CATEGORIES = (
    Category.NEIGHBOUR_UNRESOLVED,
    Category.VLAN,
    Category.MAC_NOT_ALLOWED,
)
NAME = "gateway-silent"


_PREFIX, _SUFFIX = "net.ipv4.conf.", ".proxy_arp"
UNHELD = frozenset({Address.parse("169.254.1.1")})
"""Gateways of pods that no device has (Calico's)."""
ASK = FollowUp(
    "whether the host answers for others on that pod's device, by its own switch or by that of all "
    "devices",
    "ip route | grep cali; sysctl -a -r 'conf.(all|cali.*).proxy_arp$'",
    "0 for all devices and for the one to which the pod's route leads: it is the cause",
)
SILENT = ("FAILED", "INCOMPLETE")


def check(case: Case) -> Iterator[Finding]:
    """Report gateways of default routes that are listed as silent, and targets of arping that
    nobody answered for.
    """
    for namespace in case.node.namespaces.values():
        defaults = [
            route
            for route in namespace.routes.items
            if route.prefix.length == 0 and not route.inferred
        ]
        gateways = {
            (hop.gateway, hop.link)
            for route in defaults
            for hop in route.nexthops
            if hop.gateway is not None
        }
        for entry in namespace.neighbours.items:
            if (
                entry.state not in SILENT
                or entry.span is None
                or (entry.address, entry.link) not in gateways
            ):
                continue
            switched = tuple(_list_unproxied(case, namespace, entry.address))
            found = _report(entry)
            yield _blame_switch(found, entry.address, switched[0]) if switched else found
    yield from _list_unanswered(case)


def _report(entry: Neighbour) -> Finding:
    spans = () if entry.span is None else (entry.span,)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"The gateway {entry.address} does not answer on {entry.link}: its neighbor entry is "
            f"{entry.state}."
        ),
        evidence=spans,
        reasoning=("Nothing can be sent to a gateway whose MAC is not known.",),
        breaks=("everything that uses the default route",),
        prevention="Monitor the gateway's neighbor entry.",
        certainty=0.9,
        marks=(entry.state, str(entry.address)),
    )


def _list_unproxied(
    case: Case, namespace: Netns, gateway: Address
) -> Iterator[tuple[str, Known[str]]]:
    """Yield the host's devices for pods that are stated to answer for nobody, where a pod's gateway
    is an address that the host has nowhere, unless the switch of all devices is stated to be on.
    """
    host = case.node.host
    general = known_sysctl(host, f"{_PREFIX}all{_SUFFIX}")
    if namespace.name == HOST or gateway not in UNHELD or host.holds(gateway):
        return
    if general is not None and general.value != "0":
        return
    for key, fact in host.sysctls.items():
        device = key.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        own = key == f"{_PREFIX}{device}{_SUFFIX}" and device.startswith("cali")
        if own and isinstance(fact, Known) and fact.value == "0" and fact.span is not None:
            yield device, fact


def _blame_switch(found: Finding, gateway: Address, switch: tuple[str, Known[str]]) -> Finding:
    device, fact = switch
    spans = () if fact.span is None else (fact.span,)
    return replace(
        found,
        claim=(
            f"The host does not answer ARP for the pods' gateway {gateway}: proxy_arp of {device} "
            "is 0."
        ),
        evidence=(*spans, *found.evidence),
        reasoning=(
            "No device has that address: Calico has the host answer for it on each pod's device.",
        ),
        repairs=(
            Repair(
                title="switch proxy_arp on again, and take it out of what switches it off",
                commands=(f"sysctl -w {_PREFIX}{device}{_SUFFIX}=1",),
            ),
        ),
        asks=(ASK,),
        marks=("0",),
    )


def _list_unanswered(case: Case) -> Iterator[Finding]:
    """Yield the targets of arping that nobody answered for."""
    for answer, stated in statements_of(case, ArpAnswer):
        if not answer.macs:
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=f"Nobody answers ARP for {answer.target}"
                + (f" on {answer.link}." if answer.link else "."),
                evidence=(stated.span,),
                breaks=(f"connections to {answer.target} from the same link",),
                certainty=0.6,
                marks=(str(answer.target),),
            )

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

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.stated import statements_of
from podpath.net.statements import ArpAnswer
from podpath.node.case import Case

CATEGORIES = (
    Category.NEIGHBOUR_UNRESOLVED,
    Category.VLAN,
    Category.MAC_NOT_ALLOWED,
)
NAME = "gateway-silent"


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
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"The gateway {entry.address} does not answer on {entry.link}: its neighbor "
                    f"entry is {entry.state}."
                ),
                evidence=(entry.span,),
                reasoning=("Nothing can be sent to a gateway whose MAC is not known.",),
                breaks=("everything that uses the default route",),
                prevention="Monitor the gateway's neighbor entry.",
                certainty=0.9,
                marks=(entry.state, str(entry.address)),
            )
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

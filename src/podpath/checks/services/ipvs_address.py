"""ipvs-address: a virtual service's address is on no device of the host.

What it is
    `ipvsadm -Ln` has a virtual service, but neither kube-ipvs0 nor another device carries its
    address.

Why it breaks
    IPVS sees packets at INPUT, that is, only those that the host takes for its own. Without the
    address they follow the default route, and time out. Kube-proxy binds each service's address to
    kube-ipvs0; NetworkManager, an agent or `ip addr flush` may have removed it.

How to confirm
    ip -br addr show kube-ipvs0 | grep ADDRESS; ip route get ADDRESS      # has to say: local

How to fix
    Restart kube-proxy; keep NetworkManager off the device
    (unmanaged-devices=interface-name:kube-ipvs0).

References
    ip_vs_in_hook (net/netfilter/ipvs/ip_vs_core.c); kubernetes pkg/proxy/ipvs/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.net.addresses import IfName, read_address
from podpath.net.firewall import VirtualServer
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.IPVS, Category.SERVICE_RULES_MISSING)
NAME = "ipvs-address"
DEVICE = IfName("kube-ipvs0")


def check(case: Case) -> Iterator[Finding]:
    """Report each virtual service whose address a whole listing of the host's addresses does not
    show, or a listing of kube-ipvs0, where it is the inner address of a service that is shown.
    """
    host = case.node.host
    own = {item.address for item in host.addresses.items}
    bound = [one.span for one in host.addresses.items if one.link == DEVICE and one.span]
    if not host.shows_addresses(DEVICE) or not own:
        return
    inner = {read_address(one.text_at("spec", "clusterIP")) for one in see(case, "Service")}
    told = set()
    for one, stated in statements_of(case, VirtualServer):
        meant = host.addresses.complete or one.address in inner
        if meant and one.address not in own and one.address not in told:
            told.add(one.address)
            yield _report(one, (stated.span, *bound[:1]))


def _report(one: VirtualServer, spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"No device of the host has {one.address}, the address of an IPVS virtual service.",
        evidence=spans,
        reasoning=(
            "IPVS takes packets at INPUT, that is, only those to the host's own addresses.",
        ),
        breaks=(f"connections through this host to {one.address}",),
        repairs=(
            Repair(
                title="bind the address to kube-ipvs0",
                commands=(
                    f"ip addr add {one.address} dev kube-ipvs0",
                    "systemctl restart kube-proxy",
                ),
            ),
        ),
        prevention="Keep NetworkManager and similar programs off kube-ipvs0.",
        marks=(str(one.address),),
    )

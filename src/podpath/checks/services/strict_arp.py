"""strict-arp: kube-proxy in IPVS mode answers ARP for MetalLB's addresses on every node.

What it is
    In IPVS mode, kube-proxy binds every service address to kube-ipvs0. With strictARP false, the
    kernel answers ARP for them on every interface of every node, and MetalLB's layer 2 mode
    announces the same address from one node.

Why it breaks
    Several nodes answer for one address, so clients and switches follow whichever answered last:
    connections break when that changes, or reach a node that has no endpoint.

How to confirm
    kubectl -n kube-system get configmap kube-proxy -o yaml | grep -E 'mode|strictARP'
    arping -I DEVICE ADDRESS                 # answers of more than one MAC

How to fix
    Set ipvs.strictARP: true in kube-proxy's ConfigMap and restart kube-proxy.

References
    MetalLB's installation page, section on preparation; kube-proxy's KubeProxyConfiguration
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.checks.stated import statements_of
from podpath.checks.told import list_failing
from podpath.net.complaints import EndKind
from podpath.net.provenance import Span
from podpath.net.statements import ArpAnswer
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case, Stated

CATEGORIES = (
    Category.LOAD_BALANCER,
    Category.KUBE_PROXY,
    Category.IPVS,
)
NAME = "strict-arp"
METALLB = ("MetalLBConfig", "IPAddressPool", "L2Advertisement", "AddressPool")


def check(case: Case) -> Iterator[Finding]:
    """Report IPVS without strict ARP where MetalLB shows anywhere in the evidence, or people speak
    of it.
    """
    present = bool(see(case, *METALLB)) or any(
        "metallb" in f"{one.namespace} {one.name}" for one in case.objects
    )
    present = present or Technology.METALLB in case.mentions
    for seen in see(case, "KubeProxyConfiguration"):
        mode, strict = seen.at("mode"), seen.at("ipvs", "strictARP")
        by_ipvs = Technology.IPVS in case.mentions if mode is None else mode.text == "ipvs"
        if present and by_ipvs and strict is not None and strict.text == "false":
            twice = [stated.span for one, stated in _list_answers(case) if len(one.macs) > 1]
            yield _report(mode, strict, twice[:1])


def _list_answers(case: Case) -> Iterator[tuple[ArpAnswer, Stated]]:
    """Yield what arping got for an address of which people say that a load balancer has it."""
    balanced = {
        address
        for one in list_failing(case)
        if EndKind.LOAD_BALANCER in {one.source, one.target}
        for address in one.addresses
    }
    for answer, stated in statements_of(case, ArpAnswer):
        if answer.target in balanced:
            yield answer, stated


def _report(mode: Tree | None, strict: Tree, twice: Sequence[Span]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT if twice else Severity.CAUSE,
        claim=(
            "kube-proxy runs in IPVS mode with strictARP false beside MetalLB: every node answers "
            "ARP for its addresses."
        ),
        evidence=(strict.line, *((mode.line,) if mode is not None else ()), *twice),
        reasoning=(
            (
                "MetalLB's layer 2 mode needs one node to answer; kube-ipvs0 has the address on "
                "all of them."
            ),
        ),
        breaks=("addresses of LoadBalancer services that MetalLB announces by ARP",),
        prevention="Set strictARP: true wherever MetalLB and IPVS meet.",
        certainty=1.0 if twice else 0.8,
        marks=("strictARP",),
    )

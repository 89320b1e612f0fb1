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

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (
    Category.LOAD_BALANCER,
    Category.KUBE_PROXY,
    Category.IPVS,
)
NAME = "strict-arp"
METALLB = ("MetalLBConfig", "IPAddressPool", "L2Advertisement", "AddressPool")


def check(case: Case) -> Iterator[Finding]:
    """Report IPVS without strict ARP where MetalLB shows anywhere in the evidence."""
    present = bool(see(case, *METALLB)) or any(
        "metallb" in f"{one.namespace} {one.name}" for one in case.objects
    )
    for seen in see(case, "KubeProxyConfiguration"):
        mode, strict = seen.at("mode"), seen.at("ipvs", "strictARP")
        if (
            present
            and mode is not None
            and mode.text == "ipvs"
            and strict is not None
            and strict.text == "false"
        ):
            yield _report(mode, strict)


def _report(mode: Tree, strict: Tree) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.CAUSE,
        claim=(
            "kube-proxy runs in IPVS mode with strictARP false beside MetalLB: every node answers "
            "ARP for its addresses."
        ),
        evidence=(strict.line, mode.line),
        reasoning=(
            (
                "MetalLB's layer 2 mode needs one node to answer; kube-ipvs0 has the address on "
                "all of them."
            ),
        ),
        breaks=("addresses of LoadBalancer services that MetalLB announces by ARP",),
        prevention="Set strictARP: true wherever MetalLB and IPVS meet.",
        certainty=0.8,
        marks=("strictARP",),
    )

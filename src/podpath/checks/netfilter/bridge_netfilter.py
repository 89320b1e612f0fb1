"""br-netfilter: frames that stay on a bridge skip netfilter, so replies from a service's endpoint
are not translated back.

What it is
    The module br_netfilter is not loaded, or net.bridge.bridge-nf-call-iptables is 0. Then iptables
    sees a packet between two ports of one bridge only if it is routed.

Why it breaks
    A pod sends to a service's address, which is outside the bridge's subnet, so the packet goes to
    the host and is routed; netfilter rewrites the destination to an endpoint (DNAT) and conntrack
    remembers it. If the endpoint is on the same bridge, its reply is addressed to the pod's own
    address, in the same subnet, and is switched across the bridge. Netfilter does not see it and
    does not put the service's address back as the source. The pod gets a SYN-ACK from a stranger
    and answers with a reset. Endpoints on other nodes work, since their replies are routed; so it
    fails intermittently, depending on which endpoint is chosen.

How to confirm
    lsmod | grep br_netfilter
    sysctl net.bridge.bridge-nf-call-iptables      # an error means that the module is not loaded
    tcpdump -ni BRIDGE host POD  # a SYN-ACK from the endpoint's address, then a reset
    conntrack -L -d SERVICE                        # SYN_SENT [UNREPLIED]

How to fix
    modprobe br_netfilter; sysctl -w net.bridge.bridge-nf-call-iptables=1. Make it permanent:
    `br_netfilter` in /etc/modules-load.d/k8s.conf and the sysctl in /etc/sysctl.d/k8s.conf. A
    sysctl file alone is not enough: the key does not exist before the module is loaded.

References
    br_nf_pre_routing, ip_sabotage_in (net/bridge/br_netfilter_hooks.c); the kubeadm installation
    guide, container runtimes
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.topology import (
    BRIDGE_CALLS,
    bridge_subnets,
    dnat_destinations,
    find_tables,
    known_sysctl,
)
from podpath.net.addresses import Address
from podpath.net.provenance import Known, Span
from podpath.node.case import Case
from podpath.node.change import LoadModule, SetSysctl
from podpath.node.links import Link
from podpath.node.netfilter import Rule
from podpath.node.node import HOST, Node

CATEGORIES = (Category.BRIDGE_NETFILTER,)
NAME = "br-netfilter"
MODULE = "br_netfilter"
PREVENTION = (
    "Load the module at boot: `br_netfilter` in /etc/modules-load.d/k8s.conf and "
    "`net.bridge.bridge-nf-call-iptables = 1` in /etc/sysctl.d/k8s.conf."
)


def check(case: Case) -> Iterator[Finding]:
    """Report a bridge with a service's endpoint behind it, where bridged frames are known to skip
    netfilter.
    """
    node = case.node
    off = find_switch(node)
    if off is None:
        return
    for link in node.host.links.items:
        if link.kind == "bridge" and not (link.bridge is not None and link.bridge.nf_call_iptables):
            found = _find_endpoint(node, link)
            if found is not None:
                yield _report(link, found, off)


def find_switch(node: Node) -> tuple[str, tuple[Span, ...]] | None:
    """Say why bridged frames skip netfilter, with the lines that say so; None where they do not, or
    nobody knows.
    """
    switch = known_sysctl(node.host, BRIDGE_CALLS)
    if switch is not None:
        return (f"{BRIDGE_CALLS} is 0", _spans(switch)) if switch.value == "0" else None
    if node.modules.complete and MODULE not in node.modules.items:
        return f"the module {MODULE} is not loaded", (
            node.modules.span,
        ) if node.modules.span is not None else ()
    if node.host.sysctls_complete and not any(
        key.startswith("net.bridge.") for key in node.host.sysctls
    ):
        return f"there is no {BRIDGE_CALLS}: the module {MODULE} is not loaded", ()
    return None


def switch_on(*, module: bool) -> Repair:
    """Return the repair: the module where it may be missing, and the sysctl."""
    return Repair(
        title="let netfilter see bridged packets",
        commands=(*((f"modprobe {MODULE}",) if module else ()), f"sysctl -w {BRIDGE_CALLS}=1"),
        changes=(
            *((LoadModule(name=MODULE),) if module else ()),
            SetSysctl(netns=HOST, key=BRIDGE_CALLS, value="1"),
        ),
    )


def _find_endpoint(node: Node, bridge: Link) -> tuple[Rule, Address] | None:
    """Return a DNAT rule whose new destination is in the bridge's own subnet, of a service (not a
    port published to outside).
    """
    subnets = bridge_subnets(node.host, bridge.name)
    for table in find_tables(node.host, "nat"):
        for rule, address, _ in dnat_destinations(table):
            local = any(subnet.covers(address) for subnet in subnets)
            published = rule.in_link is not None and rule.in_link.negated
            if local and not published:
                return rule, address
    return None


def _report(
    bridge: Link, found: tuple[Rule, Address], off: tuple[str, tuple[Span, ...]]
) -> Finding:
    rule, address = found
    why, spans = off
    evidence = (*spans, rule.span, *((bridge.span,) if bridge.span is not None else ()))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Replies from {address} to pods on {bridge.name} skip netfilter and are not "
            f"translated back because {why}."
        ),
        evidence=evidence,
        reasoning=(
            (
                f"The rule sends the service's connections to {address}, which is behind the "
                f"bridge {bridge.name}."
            ),
            (
                "For a client behind the same bridge the reply is switched, not routed; "
                f"{why}, so conntrack does not see it."
            ),
        ),
        breaks=(f"connections from pods on {bridge.name} to services that choose {address}",),
        repairs=(switch_on(module="not loaded" in why),),
        prevention=PREVENTION,
        marks=(BRIDGE_CALLS, "0", str(address)),
    )


def _spans(fact: Known[str]) -> tuple[Span, ...]:
    return (fact.span,) if fact.span is not None else ()

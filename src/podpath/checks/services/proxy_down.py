"""proxy-down: kube-proxy does not run on a node, whose services are as they were before.

What it is
    The pod of kube-proxy on this node ends again and again (CrashLoopBackOff), and the node's IPVS
    servers or rules send a service to addresses that its Endpoints do not list.

Why it breaks
    Rules and virtual servers stay when their program ends. Pods that are replaced later get other
    addresses, and this node alone keeps sending to the old ones.

How to confirm
    kubectl -n kube-system get pods -o wide | grep kube-proxy; kubectl get endpoints SERVICE
    ipvsadm -Ln; iptables-save -t nat | grep SERVICE       # on the node

How to fix
    Find out why it ends (kubectl -n kube-system logs --previous POD), and start it again: it writes
    everything anew.

References
    kubernetes pkg/proxy/ipvs/proxier.go, pkg/proxy/iptables/proxier.go: syncProxyRules
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from podpath.checks.category import Category
from podpath.checks.dying import CRASHED
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.stated import is_typed_on, statements_of
from podpath.checks.topology import dnat_destinations, find_tables, option_values
from podpath.net.addresses import Address, read_address
from podpath.net.firewall import RealServer
from podpath.net.packet import endpoint
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.KUBE_PROXY, Category.STALE_DNAT, Category.IPVS)
NAME = "proxy-down"
Sent = tuple[Address, int, Span]


def check(case: Case) -> Iterator[Finding]:
    """Report the node's own proxy that ends, with the first address that it left behind."""
    down = [pod for pod in see(case, "Pod") if pod.name.startswith("kube-proxy-")]
    down = [pod for pod in down if pod.text_at("status", "phase") in CRASHED]
    for found in see(case, "Endpoints") if down else ():
        cut = found.at("elided") is not None or any(one.partial for one in found.sights)
        listed = set() if cut else _list_ready(found)
        for address, port, span in _list_sent(case, found) if listed else ():
            pod = next((one for one in down if _is_here(case, one, span)), None)
            ports = {number for _, number in listed}
            if pod is not None and (address, port) not in listed and port in ports:
                yield _report(pod, found, endpoint(address, port), span)
                return


def _is_here(case: Case, pod: ObjectSightings, span: Span) -> bool:
    node = pod.text_at("spec", "nodeName")
    return bool(node) and is_typed_on(case, span, node)


def _list_ready(found: ObjectSightings) -> set[tuple[Address, int]]:
    """Return what Endpoints list."""
    listed: set[tuple[Address, int]] = set()
    for subset in found.items_at("subsets"):
        ports = [port.text_at("port") for port in subset.items_at("ports")]
        for item in subset.items_at("addresses"):
            address = read_address(item.text_at("ip"))
            if address is not None:
                listed.update((address, int(port)) for port in ports if port.isdecimal())
    return listed


def _list_sent(case: Case, found: ObjectSightings) -> Iterator[Sent]:
    """Yield what the node sends a service to: what IPVS has behind its address (that of its object,
    or where no other Endpoints are shown, the one that fails), and rules whose comment names it.
    """
    fronts = {
        read_address(one.text_at("spec", "clusterIP"))
        for one in see(case, "Service")
        if (one.namespace, one.name) == (found.namespace, found.name)
    }
    if not fronts and len(see(case, "Endpoints")) == 1:
        fronts = {one.probe.dst for one in case.attempts if one.is_bad}
    for server, stated in statements_of(case, RealServer):
        if server.service in fronts:
            yield server.address, server.port, stated.span
    for family in (4, 6):
        tables = find_tables(case.node.host, "nat", family)
        for rule, address, port in chain.from_iterable(map(dnat_destinations, tables)):
            comment = " ".join(option_values(rule, "comment", "comment"))
            if comment.partition(":")[0] == f"{found.namespace}/{found.name}":
                yield address, port, rule.span


def _report(pod: ObjectSightings, found: ObjectSightings, sent: str, span: Span) -> Finding:
    node = pod.text_at("spec", "nodeName")
    held = found.at("subsets")
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"{pod.name} on {node} is in {pod.text_at('status', 'phase')}, and the node still "
            f"sends {found.name} to {sent}, which is no endpoint any more."
        ),
        evidence=(pod.span, span, held.line if held is not None else found.span),
        reasoning=("Rules and virtual servers stay as they are while kube-proxy does not run.",),
        breaks=(f"connections from {node} to services whose endpoints have changed",),
        repairs=(
            Repair(
                title="find out why kube-proxy ends, and start it again",
                commands=(f"kubectl -n {pod.namespace} logs --previous {pod.name}",),
            ),
        ),
        prevention="Alert on kube-proxy pods that restart.",
        marks=(sent, "CrashLoopBackOff"),
    )

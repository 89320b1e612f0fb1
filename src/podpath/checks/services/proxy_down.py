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
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.dying import CRASHED
from podpath.checks.endpoints import is_cut, list_places
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
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
LIKELY = 0.8
"""Where no output says of which service a virtual server's address is."""


class _Sent(NamedTuple):
    """An address to which the node sends a service."""

    address: Address
    port: int
    span: Span
    stated: bool
    """False where it is supposed that the service is meant."""


def check(case: Case) -> Iterator[Finding]:
    """Report the node's own proxy that ends, with the first address that it left behind."""
    down = [pod for pod in see(case, "Pod") if pod.name.startswith("kube-proxy-")]
    down = [pod for pod in down if pod.text_at("status", "phase") in CRASHED]
    for found in see(case, "Endpoints") if down else ():
        ready = frozenset() if is_cut(found) else list_places(found)
        held = ready | list_places(found, "notReadyAddresses")
        for address, port, span, sure in _list_sent(case, found) if ready else ():
            pod = next((one for one in down if _is_here(case, one, span)), None)
            ports = {number for _, number in held}
            if pod is not None and (address, port) not in held and port in ports:
                yield _report(pod, found, (endpoint(address, port), span), sure=sure)
                return


def _is_here(case: Case, pod: ObjectSightings, span: Span) -> bool:
    node = pod.text_at("spec", "nodeName")
    return bool(node) and is_typed_on(case, span, node)


def _list_sent(case: Case, found: ObjectSightings) -> Iterator[_Sent]:
    """Yield what the node sends a service to: what IPVS has behind its address (that of its object,
    or where no other Endpoints are shown, perhaps the one that fails), and rules whose comment
    names it.
    """
    fronts = {
        read_address(one.text_at("spec", "clusterIP"))
        for one in see(case, "Service")
        if (one.namespace, one.name) == (found.namespace, found.name)
    }
    stated = bool(fronts)
    if not stated and len(see(case, "Endpoints")) == 1:
        fronts = {one.probe.dst for one in case.attempts if one.is_bad}
    for server, line in statements_of(case, RealServer):
        if server.service in fronts and server.weight != 0:
            yield _Sent(server.address, server.port, line.span, stated)
    for family in (4, 6):
        tables = find_tables(case.node.host, "nat", family)
        for rule, address, port in chain.from_iterable(map(dnat_destinations, tables)):
            comment = " ".join(option_values(rule, "comment", "comment"))
            if comment.partition(":")[0] == f"{found.namespace}/{found.name}":
                yield _Sent(address, port, rule.span, True)


def _report(
    pod: ObjectSightings, found: ObjectSightings, left: tuple[str, Span], *, sure: bool
) -> Finding:
    node, (sent, span) = pod.text_at("spec", "nodeName"), left
    ask = FollowUp(
        f"whether the virtual service that leads to {sent} is that of {found.title}",
        "kubectl get services -A -o wide",
        "it is: the address is of a pod that is gone",
    )
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
        certainty=1.0 if sure else LIKELY,
        asks=() if sure else (ask,),
        marks=(sent, "CrashLoopBackOff"),
    )

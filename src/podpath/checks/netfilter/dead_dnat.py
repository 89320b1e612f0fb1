"""dead-dnat: a DNAT rule leads to an address that nobody has.

What it is
    A rule of a service, a hostPort (CNI-HOSTPORT-DNAT, CNI-DN-...), a NodePort or a published port
    of Docker rewrites to an address that is not an endpoint of its service, or to one that,
    according to the host's own neighbor table, does not answer.

Why it breaks
    The pod is gone and the rule has stayed: kube-proxy has lost the API server or hangs, the
    container runtime did not call the plugin's DEL, Docker died before its cleanup. New connections
    go to an address that nothing has and time out, or get "No route to host" when ARP fails.

How to confirm
    iptables -t nat -S | grep DNAT; kubectl get endpointslices,pods -A -o wide | grep ADDRESS
    ip neigh show ADDRESS

How to fix
    Find out why the program that writes the rule lags behind (kubectl -n kube-system logs -l
    k8s-app=kube-proxy), and restart it; delete what is left: iptables -t nat -D CHAIN ..., then
    conntrack -D --orig-dst ADDRESS.

References
    kubernetes pkg/proxy/iptables/proxier.go; portmap in containernetworking/plugins
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import tables_named
from podpath.checks.topology import dnat_destinations
from podpath.net.addresses import Address
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.netfilter import Rule
from podpath.node.netfilter_text import emit_rule
from podpath.node.node import Netns

CATEGORIES = (Category.STALE_DNAT,)
NAME = "dead-dnat"
UNANSWERED = frozenset({"FAILED", "INCOMPLETE"})


def check(case: Case) -> Iterator[Finding]:
    """Report each DNAT rule to an address whose neighbor entry says that nobody answers, or that
    is no pod's any longer.
    """
    host = case.node.host
    silent = dict(_list_silent(host))
    for table in tables_named(host, "nat"):
        told: set[Address] = set()
        for rule, address, _ in dnat_destinations(table):
            span = silent.get(address)
            if span is not None and address not in told:
                told.add(address)
                yield _report(rule, address, span)


def _list_silent(host: Netns) -> Iterator[tuple[Address, Span]]:
    for neighbour in host.neighbours.items:
        if neighbour.state in UNANSWERED and neighbour.span is not None:
            yield neighbour.address, neighbour.span


def _report(rule: Rule, address: Address, silent: Span) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A DNAT rule of {rule.chain} leads to {address}, and nothing answers for that address."
        ),
        evidence=(rule.span, silent),
        reasoning=("The host sent ARP requests for the address and got no answer.",),
        breaks=(f"connections that the rule sends to {address}",),
        repairs=(
            Repair(title="delete the rule", commands=(f"iptables -t nat {emit_rule(rule, '-D')}",)),
        ),
        prevention="Make sure that whatever writes the rules runs and reaches the API server.",
        marks=(str(address),),
    )

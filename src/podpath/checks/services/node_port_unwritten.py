"""node-port-unwritten: this host's chain of node ports lacks a service's node port.

What it is
    KUBE-NODEPORTS is shown in full and has no rule for the node port of a service in the evidence,
    while connections to node ports fail.

Why it breaks
    No rule, no translation: the packet comes to the node itself, where nobody listens on the port,
    and is refused. kube-proxy on this node could not write its last rules (the log says why: a held
    lock, a refused restore), does not run, or the service has no endpoints, for which it writes a
    REJECT rule elsewhere.

How to confirm
    iptables -t nat -S KUBE-NODEPORTS | grep PORT; iptables -S KUBE-EXTERNAL-SERVICES | grep PORT
    kubectl -n kube-system logs -l k8s-app=kube-proxy --tail=50; curl -s localhost:10256/healthz

How to fix
    Remove whatever keeps kube-proxy from writing its rules, then restart it on this node.

References
    kubernetes pkg/proxy/iptables/proxier.go, syncProxyRules (kubeNodePortsChain)
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.firewall import port_of
from podpath.checks.objects import NODE_PORTS, ObjectSightings, see
from podpath.checks.said import find_said, is_of_proxy
from podpath.checks.told import list_failing
from podpath.net.complaints import EndKind
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import Known, Span
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case
from podpath.node.netfilter import Chain

CATEGORIES = (Category.SERVICE_RULES_MISSING, Category.KUBE_PROXY, Category.RULESET_FAILURE)
NAME = "node-port-unwritten"
CHAIN = "KUBE-NODEPORTS"
LIKELY = 0.8
"""Where no log says that the rules could not be written: the service may have no endpoints."""
FAILURES = (MessageKind.RESTORE_FAILED, MessageKind.XTABLES_LOCKED, MessageKind.IPTABLES_FAILED)


def check(case: Case) -> Iterator[Finding]:
    """Report the node port that the chain lacks, where node ports are said to fail: the one that is
    named, or the only one.
    """
    chain = _find_chain(case)
    told = [one for one in list_failing(case) if _is_of_node_port(one.mentions, one.target)]
    if chain is None or not told:
        return
    written = {port_of(rule) for rule in chain.rules}
    lacking = {port.text: (service, port) for service, port in _list_node_ports(case)}
    lacking = {number: one for number, one in lacking.items() if number not in written}
    asked = {str(port) for one in told for port in one.ports if port in NODE_PORTS}
    wanted = [number for number in lacking if number in asked] if asked else [*lacking]
    if len(wanted) == 1:
        said = tuple(one for one in find_said(case, *FAILURES) if is_of_proxy(one.span))
        yield _report(*lacking[wanted[0]], chain, said)


def _list_node_ports(case: Case) -> Iterator[tuple[ObjectSightings, Tree]]:
    """Yield each service that is shown with each of its node ports."""
    for service in see(case, "Service"):
        for port in service.items_at("spec", "ports"):
            outer = port.at("nodePort")
            if outer is not None and outer.text.isdecimal():
                yield service, outer


def _is_of_node_port(mentions: frozenset[Technology], target: EndKind | None) -> bool:
    return Technology.NODE_PORT in mentions or target is EndKind.NODE_PORT


def _find_chain(case: Case) -> Chain | None:
    """Return the host's chain of node ports where all of its rules are shown and understood."""
    for table in case.node.host.tables:
        fact = table.chains.get(CHAIN)
        if table.name == "nat" and isinstance(fact, Known):
            chain = fact.value
            whole = chain.complete and not any(rule.unread for rule in chain.rules)
            return chain if whole else None
    return None


def _report(
    service: ObjectSightings, port: Tree, chain: Chain, said: tuple[Message, ...]
) -> Finding:
    lines = [rule.span for rule in chain.rules[:1]]
    declared: tuple[Span, ...] = (chain.span,) if chain.span is not None and not lines else ()
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"{CHAIN} of this host lacks {port.text}, the node port of {service.title}.",
        evidence=(*(one.span for one in said[:1]), port.line, *declared, *lines),
        reasoning=(
            "The chain is shown whole, and kube-proxy says that it could not write its rules."
            if said
            else "The chain is shown whole; without a rule the packet comes to the node itself.",
        ),
        breaks=(f"connections to port {port.text} of this node",),
        prevention="Alert on kubeproxy_sync_proxy_rules_last_timestamp_seconds of each node.",
        certainty=1.0 if said else LIKELY,
        asks=(
            FollowUp(
                "why kube-proxy has not written the rule on this node",
                "kubectl -n kube-system logs -l k8s-app=kube-proxy --tail=50; kubectl get "
                f"endpointslices -A | grep {service.name}; iptables -S KUBE-EXTERNAL-SERVICES",
                "its log names an error: that is the cause; the service has no endpoints: it "
                "refuses on purpose",
            ),
        ),
        marks=(port.text,),
    )

"""no-local-endpoints: a node drops packets for a service because kube-proxy finds none of its pods
there (traffic policy Local).

What it is
    The service has externalTrafficPolicy: Local (or internalTrafficPolicy: Local), and kube-proxy
    knows of no ready pod of it on this node. Kube-proxy writes a DROP with the comment "has no
    local endpoints" (KUBE-XLB-... before 1.24, KUBE-EXTERNAL-SERVICES and KUBE-SVL-... since).

Why it breaks
    A client that connects to the service through this node (NodePort, external IP, load balancer
    without a health check of the node) gets no answer at all; through other nodes it works, so it
    seems to fail at random.

How to confirm
    iptables-save | grep 'no local endpoints'; kubectl get pods -o wide -l SELECTOR

How to fix
    externalTrafficPolicy: Cluster, a DaemonSet instead of a Deployment, or let the load balancer
    probe the health check's port (spec.healthCheckNodePort), so that it skips this node.

References
    kubernetes pkg/proxy/iptables/proxier.go; kubernetes.io "Virtual IPs and Service Proxies",
    traffic policies
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.firewall import chains_of, ends
from podpath.checks.topology import option_values
from podpath.node.case import Case
from podpath.node.netfilter import Rule

CATEGORIES = (Category.TRAFFIC_POLICY_LOCAL, Category.NO_ENDPOINTS)
NAME = "no-local-endpoints"
TABLES = ("filter", "nat")
SIGN = "has no local endpoints"


def check(case: Case) -> Iterator[Finding]:
    """Report each rule of kube-proxy that drops for lack of a local endpoint."""
    for rule, service in list_refusing(case):
        yield _report(rule, service)


def list_refusing(case: Case) -> Iterator[tuple[Rule, str]]:
    """Yield such rules, each with its service."""
    for name in TABLES:
        for _, chain in chains_of(case.node.host, name):
            for rule in chain.rules:
                comment = " ".join(option_values(rule, "comment", "comment"))
                dropping = ends(rule) or (
                    rule.target is not None and rule.target.name == "KUBE-MARK-DROP"
                )
                if dropping and SIGN in comment:
                    yield rule, comment.partition(SIGN)[0].strip(" :")


def _report(rule: Rule, service: str) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"This node drops traffic to {service or 'a service'} with traffic policy Local: "
            "kube-proxy finds none of its endpoints here."
        ),
        evidence=(rule.span,),
        reasoning=(
            (
                "Kube-proxy writes this rule because the policy forbids forwarding to another "
                "node's pods."
            ),
        ),
        breaks=(f"connections to {service or 'the service'} through this node",),
        repairs=(
            Repair(
                title="let every node forward it",
                commands=(
                    (
                        "kubectl patch service SERVICE -p "
                        '\'{"spec":{"externalTrafficPolicy":"Cluster"}}\''
                    ),
                ),
                side_effects=("pods see the node's address in place of the client's",),
            ),
        ),
        prevention="Let the load balancer check the service's healthCheckNodePort.",
        certainty=1.0 if rule.packets else 0.8,
        marks=(SIGN,),
        asks=(
            FollowUp(
                fact="whether the failing clients come in through this node",
                command="iptables -nvL | grep 'no local endpoints'",
                decides="its counter grows with each attempt: they do",
            ),
        ),
    )

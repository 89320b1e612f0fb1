"""rules-flushed: somebody flushed or reloaded the firewall, and with it the rules of Docker,
kube-proxy or the CNI plugin.

What it is
    `iptables -F` or `iptables -t nat -F`, `nft flush ruleset`, `iptables-restore`, a stop, restart
    or reload of firewalld, iptables, nftables or ufw: each removes rules that it did not write.

Why it breaks
    Docker and the portmap plugin write their chains once, when they start or when a container does;
    nothing restores them. Published ports are no longer translated, containers are no longer
    masqueraded, and the next start fails with "No chain/target/match by that name". Kube-proxy
    rewrites its own within its sync period (30 s or more), and so do Calico and Cilium; masquerade
    rules of flannel or CNI plugins may take longer or never come back.

How to confirm
    iptables -t nat -S | grep -c -e DOCKER -e KUBE -e CNI; journalctl -u firewalld -u docker | tail

How to fix
    systemctl restart docker (it writes all its chains), kubectl -n kube-system delete pod -l
    k8s-app=kube-proxy; pods with a hostPort have to be recreated.

References
    docs.docker.com "Packet filtering and firewalls"; pkg/util/iptables Monitor of Kubernetes
    (KUBE-PROXY-CANARY)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.stated import statements_of
from podpath.net.firewall import RuleEdit, TypedRule
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.SERVICE_RULES_MISSING, Category.HOST_FIREWALL, Category.MASQUERADE_MISSING)
NAME = "rules-flushed"
_MANAGERS = re.compile(
    r"(?:systemctl\s+(?:stop|restart|reload|disable|try-restart)\s+(?:--\S+\s+)*(?:firewalld|"
    r"iptables|nftables|ufw|ip6tables)|service\s+(?:firewalld|iptables|nftables|ufw)\s+(?:stop|"
    r"restart|reload)|firewall-cmd\s+(?:--\S+\s+)*--(?:complete-)?reload"
    r"|nft\s+flush\s+ruleset|ufw\s+reload)\b"
)
"""Commands of managers that remove rules which others wrote."""


def check(case: Case) -> Iterator[Finding]:
    """Report what was typed that removes others' rules, unless the typed rules build the chains up
    again.
    """
    cures = {span for turn in case.turns if turn.is_cure for _, span in turn.changes}
    spans = [
        *_list_flushes(case),
        *(change.span for change in case.change_commands if _MANAGERS.search(change.command)),
    ]
    spans = [span for span in spans if span not in cures]
    if spans:
        yield _report(tuple(dict.fromkeys(spans)))


def _list_flushes(case: Case) -> Iterator[Span]:
    typed = list(statements_of(case, TypedRule))
    built = {
        (rule.table, rule.chain)
        for rule, _ in typed
        if rule.action in {RuleEdit.APPEND, RuleEdit.INSERT}
    }
    for rule, stated in typed:
        whole = rule.action == RuleEdit.FLUSH and (
            not rule.chain or rule.chain.startswith(("DOCKER", "KUBE-", "CNI-"))
        )
        if whole and not any(table == rule.table for table, _ in built):
            yield stated.span


def _report(spans: tuple[Span, ...]) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            "The firewall was flushed or reloaded, which also removes the rules of Docker, "
            "kube-proxy and CNI plugins."
        ),
        evidence=spans,
        reasoning=(
            "Docker and the portmap plugin write their chains once and do not restore them.",
        ),
        breaks=("published ports, hostPorts, and masquerading for containers",),
        repairs=(
            Repair(
                title="restart Docker so that it writes its chains again",
                commands=("systemctl restart docker",),
            ),
        ),
        prevention=(
            "Start the firewall before Docker and the kubelet, and do not reload it while they run."
        ),
        certainty=0.6,
    )

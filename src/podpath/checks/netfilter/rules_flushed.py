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
from collections.abc import Iterator, Sequence
from itertools import chain

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.firewall import chains_of
from podpath.checks.stated import has_inner_bridge, is_inner_bridge, statements_of
from podpath.checks.told import is_of_cluster, list_failing
from podpath.checks.typed_policies import has_workloads
from podpath.net.complaints import Circumstance
from podpath.net.firewall import RuleEdit, TypedRule, ZoneSetting
from podpath.net.introductions import is_remedy
from podpath.net.provenance import Span
from podpath.net.statements import NothingFound
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
_WRITERS = re.compile(
    r"\b(?:systemctl\s+(?:re)?start|service)\s+(?:\S+\s+)*?(?:docker|kubelet|k3s\S*|containerd|podman|"
    r"crio|libvirtd)\b|\breboot\b|\bpodman\s+network\s+reload\b"
)
"""Commands that start again who wrote them."""
_RESTARTED = re.compile(
    r"\brestart(?:ed|ing)?\b\W+(?:\w+\W+){0,2}(?:dockerd?|kubelet|k3s|containerd|podman|libvirtd|node|"
    r"host|machine)\b",
    re.IGNORECASE,
)
_QUOTES = frozenset({"documentation", "docs", "manual", "readme"})
"""Words of a sentence that says what others say."""
_ALL = re.compile(r"(?:.*\s)?firewall-cmd\b[^|]*--(?:get-active-zones|list-all-zones)\b[^|]*")
_ENGINES = ("DOCKER", "KUBE-", "CNI-", "NETAVARK", "LIBVIRT_")
_TABLES = frozenset({"filter", "nat"})
"""The tables in which engines and plugins write."""
TYPED, ABSENT = 0.6, 0.8
"""The certainty where nothing shows what is gone, and where a chain is not there afterwards: it may
never have been in that backend.
"""
QUOTED = 2
"""Lines that show what is gone: more say the same."""


def check(case: Case) -> Iterator[Finding]:
    """Report what was typed that removes others' rules, unless it helped, the typed rules build the
    chains up again, or whoever wrote them was started again afterwards; or what people say of a
    failure that begins with it.
    """
    cures = {span for turn in case.turns if turn.is_cure for _, span in turn.changes}
    reloads = [one for one in case.change_commands if _MANAGERS.search(one.command)]
    writers = [one.span for one in case.change_commands if _WRITERS.search(one.command)]
    writers += list(_list_written_again(case))
    told = tuple(_list_told(case))
    spans = [*_list_flushes(case), *(change.span for change in reloads), *told]
    cures |= {one for one in spans if is_remedy(one.source.label or "")}
    spans = [one for one in spans if one not in cures and not _is_undone(one, writers)]
    if not spans or (case.complaints and not _has_engine(case)):
        return
    missing = [gone for one in spans for gone in _list_missing(case, one)]
    typed = [one for one in spans if one not in told]  # a sentence stands at no moment
    left = [gone for one in typed for gone in _list_left(case, one)]
    shown = dict.fromkeys((*spans, *left[:QUOTED], *missing[:QUOTED]))
    certainty = ABSENT if missing else TYPED
    yield _report(tuple(shown), 1.0 if left else certainty)


def _list_told(case: Case) -> Iterator[Span]:
    """Yield the sentences by which a failure begins when the firewall is loaded anew."""
    for one in list_failing(case):
        own = _QUOTES.isdisjoint(one.spoken)
        if own and Circumstance.FIREWALL_RELOADED in one.circumstances:
            yield one.span


def _list_written_again(case: Case) -> Iterator[Span]:
    """Yield the listed rules above which words say that who writes them was started again."""
    held = chain.from_iterable(chains_of(case.node.host, name) for name in sorted(_TABLES))
    for _, one in held:
        for rule in one.rules[:1]:
            if _RESTARTED.search(rule.span.source.label or ""):
                yield rule.span


def _has_engine(case: Case) -> bool:
    """Tell whether anything is there whose rules could be gone: the ticket speaks of containers,
    guests or a cluster, or an output shows a chain or a bridge of theirs.
    """
    host = case.node.host
    names = chain.from_iterable(table.chains for table in host.tables)
    shown = any(name.startswith(_ENGINES) for name in names) or has_inner_bridge(host)
    return shown or has_workloads(case) or is_of_cluster(case)


def _is_undone(flush: Span, writers: Sequence[Span]) -> bool:
    return any(_is_after(one, flush) for one in writers)


def _is_after(span: Span, earlier: Span) -> bool:
    """Tell whether a line stands below another one of the same text, or is the same."""
    return span.source.name == earlier.source.name and span.line >= earlier.line


def _list_missing(case: Case, flush: Span) -> Iterator[Span]:
    """Yield the answers, after what was typed, that a chain of an engine's is not there."""
    for found, stated in statements_of(case, NothingFound):
        chain = found.program.startswith(("iptables", "ip6tables")) and found.sought.startswith(
            _ENGINES
        )
        if chain and _is_after(stated.span, flush):
            yield stated.span


def _list_left(case: Case, flush: Span) -> Iterator[Span]:
    """Yield the zones that had a bridge of an engine's before what was typed, and that a listing of
    the same zone, or of all active ones, shows without it afterwards.
    """
    zones = [
        (one, stated.span)
        for one, stated in statements_of(case, ZoneSetting)
        if one.key == "interfaces"
    ]
    later = [(one, span) for one, span in zones if _is_after(span, flush)]
    kept = {device for one, _ in later for device in one.values}
    again = {one.zone for one, _ in later}
    whole = any(_ALL.fullmatch(span.source.command or "") for _, span in later)
    for one, span in zones:
        lost = {device for device in one.values if is_inner_bridge(device)} - kept
        if lost and (whole or one.zone in again) and not _is_after(span, flush):
            yield span


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
        others = rule.table in _TABLES and not any(table == rule.table for table, _ in built)
        if whole and others:
            yield stated.span


def _report(spans: tuple[Span, ...], certainty: float) -> Finding:
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
        certainty=certainty,
    )

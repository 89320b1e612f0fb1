"""upstream-silent: the name server that the cluster's DNS forwards to does not answer.

What it is
    CoreDNS or nodelocaldns logs `i/o timeout` or a refusal for queries that it forwarded, or
    dnsmasq reached its limit of pending queries (`Maximum number of concurrent DNS queries`).

Why it breaks
    The server was retired or is overloaded, a firewall or security group drops the queries, or the
    pod's own way out is broken (no masquerading, a broken overlay). Names outside the cluster fail,
    or take seconds if another server answers. If another server times out in the same log, or the
    node is answered, the pod's way out is broken. An error that comes at once is an answer:
    `connection refused` is the server's or a firewall's, `no route to host` that of a firewall
    (REJECT) or of a router without a neighbor, and neither is silence.

How to confirm
    From the node and from a pod: dig @SERVER example.org +time=2; kubectl -n kube-system get cm
    coredns -o yaml; cat /etc/resolv.conf

How to fix
    Use servers that answer (forward, or the node's resolv.conf); if only the node can reach them,
    fix the pods' path to them.

References
    CoreDNS, plugin/forward; Kubernetes, Customizing DNS Service
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from podpath.checks.category import Category
from podpath.checks.dns.resolver_cut_off import ASK as ASK_WAY
from podpath.checks.dns.resolver_cut_off import find_other_silence
from podpath.checks.dns.server_without_upstream import ASK as ASK_WHOM
from podpath.checks.dns.server_without_upstream import OF_CLUSTER
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.ground import Ground
from podpath.checks.objects import see
from podpath.checks.said import Meaning, find_said, get_value, tell
from podpath.checks.told import WORKLOADS
from podpath.net.addresses import read_address
from podpath.net.complaints import EndKind
from podpath.net.failures import NAMES, FailureKind
from podpath.net.messages import Message, MessageKind
from podpath.net.protocols import ICMP
from podpath.net.provenance import Span
from podpath.node.case import Case

CATEGORIES = (Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION)
NAME = "upstream-silent"
POSSIBLE, OWN_WAY = 0.6, 0.3
"""How likely it is the server; the latter where it answers others."""
_OF_NAMES = NAMES | {FailureKind.NAME_NOT_RESOLVED}
_RESOLVE = frozenset({"resolve", "resolves", "resolved", "lookup", "dig", "nslookup"})
SETTLED_BY = frozenset({Ground.OUTSIDE_NAMES, Ground.OTHERS_ANSWERED})
SETTLED_BESIDE = frozenset({Ground.OTHERS_ANSWERED})
SERVICES = frozenset({"10.96.0.10", "10.43.0.10", "10.233.0.3", "10.152.183.10"})
"""Addresses that installers give a cluster's DNS service."""
ASK = FollowUp(
    "whether the upstream name server answers the node and a pod",
    "dig @SERVER example.org +time=2   # on the node, and in a pod; cat /etc/resolv.conf",
    "neither: the server or a firewall in front of it; only the node: the pod's way out is broken",
)
ASK_REJECTS = FollowUp(
    "which rule rejects what pods send, or whether the server has a neighbor entry",
    "iptables -nvL FORWARD; nft list ruleset; ip neigh; tcpdump -ni any icmp or port 53",
    "a REJECT whose counter grows, or an ICMP error of the node: its firewall; FAILED: no neighbor",
)
_ERRORS: Mapping[str, str] = MappingProxyType({
    "connection refused": "The name server{server} to which queries are forwarded, or a "
    "firewall on the way, refuses port 53.",
    "no route to host": "A firewall rejects what the cluster's DNS sends to the name server"
    "{server}, or no neighbor answers for it.",
    "network is unreachable": "The cluster's DNS has no route to the name server{server} that it "
    "forwards to.",
    "operation not permitted": "A firewall or policy of its own node keeps the cluster's DNS from "
    "sending to the name server{server}.",
})  # fmt: skip
"""What an error that comes at once says, which is no silence."""


def check(case: Case) -> Iterator[Finding]:
    """Report whom the cluster's DNS forwards to in vain: once for silence, if the server alone is
    silent, once for each error, and once for the address of its own service.
    """
    said = find_said(case, MessageKind.UPSTREAM_SILENT, MessageKind.UPSTREAM_REFUSES)
    own = _list_own(case)
    circling = [one for one in said if _server(one) in own]
    others = [one for one in said if one not in circling]
    groups: dict[str, list[Message]] = {}
    for message in others:
        error = message.values.get("error", "").casefold()
        groups.setdefault(error if error in _ERRORS else "", []).append(message)
    cut_off = find_other_silence(case, said) is not None
    for error, messages in groups.items():
        if error or not cut_off:
            yield _report(case, error, messages)
    if circling and not others:
        yield _report_own(circling)


def _server(message: Message) -> str:
    return message.values.get("server", "")


def _list_own(case: Case) -> frozenset[str]:
    """Return the addresses of the cluster's own DNS: of its service, of what pods are told to ask,
    and those that installers give.
    """
    services = (one for one in see(case, "Service") if one.name in OF_CLUSTER)
    found = {one.text_at("spec", "clusterIP") for one in services}
    for seen in see(case, "ResolvConf"):
        for sight in seen.sights:
            if any(".svc." in f".{item.text}" for item in sight.tree.items_at("search")):
                found |= {item.text for item in sight.tree.items_at("nameservers")}
    return frozenset(found) | SERVICES


def _report(case: Case, error: str, said: Sequence[Message]) -> Finding:
    server = get_value(said, "server")
    place = f" {server}" if server else ""
    silent = f"The name server{place} to which queries are forwarded does not answer."
    claim = _ERRORS[error].format(server=place) if error else silent
    beside = None if error else _find_beside(case, said) or _find_own_way(case)
    ask = ASK_REJECTS if error == "no route to host" else ASK
    meaning = Meaning(
        claim=claim,
        breaks="names outside the cluster, always or intermittently",
        cure="forward to a server that answers, or fix the path to it",
        commands=(f"dig @{server or 'SERVER'} example.org +time=2",),
        certainty=POSSIBLE if beside is None else OWN_WAY,
        ask=ask if beside is None else ASK_WAY,
    )
    found = tell(NAME, said, meaning)
    if beside is None:
        return replace(found, settled_by=SETTLED_BY)
    severity = Severity.CAUSE  # behind what keeps pods from sending at all
    evidence = (*found.evidence, beside)
    return replace(found, severity=severity, evidence=evidence, settled_by=SETTLED_BESIDE)


def _find_own_way(case: Case) -> Span | None:
    """Return the sentence that says that pods reach nothing outside, or that a node resolves names:
    the server is only what shows first that pods get no answers.
    """
    for one in case.complaints:
        asker = one.source or one.target
        beyond = one.target is EndKind.OUTSIDE and one.failure not in _OF_NAMES
        cut = one.protocol == ICMP or beyond
        if not one.works and one.source in WORKLOADS and cut:
            return one.span
        if one.works and asker is EndKind.NODE and _RESOLVE & one.spoken:
            return one.span
    return None


def _find_beside(case: Case, said: Sequence[Message]) -> Span | None:
    """Return the sentence that says that the server answers somebody."""
    servers = {address for one in said if (address := read_address(_server(one))) is not None}
    answered = (one for one in case.complaints if one.works and servers & set(one.addresses))
    return next((one.span for one in answered), None)


def _report_own(said: Sequence[Message]) -> Finding:
    server = get_value(said, "server")
    client = get_value(said, "src")
    asker = client or "whom the log is of"
    meaning = Meaning(
        claim=f"The cluster's DNS service {server} does not answer {asker}.",
        breaks="names that are looked up there",
        cure="let forward in the Corefile name servers outside the cluster, or fix the path to it",
        commands=("kubectl -n kube-system get cm coredns -o yaml",),
        certainty=OWN_WAY,
        ask=ASK_WHOM,
    )
    return replace(tell(NAME, said, meaning), settled_by=SETTLED_BESIDE)

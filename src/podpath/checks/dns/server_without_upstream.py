"""server-without-upstream: a name server's own configuration leaves it no upstream, or only itself.

What it is
    dnsmasq has `no-resolv` and no `server=`; dnsmasq, BIND, unbound or systemd-resolved forwards to
    its own address; unbound forwards to loopback without `do-not-query-localhost: no`; BIND has
    `recursion no`, or answers only localhost. CoreDNS forwards to the address of the service that
    it serves, since its node's resolv.conf names the cluster's DNS.

Why it breaks
    A forwarding server resolves names outside its own zones only through its upstreams. Without an
    upstream, it answers REFUSED or SERVFAIL; with itself as the upstream, queries circle until they
    time out. unbound does not query 127.0.0.0/8 unless configured to.

How to confirm
    dig @SERVER example.org; dig @UPSTREAM example.org
    journalctl -u dnsmasq -u named -u unbound -u systemd-resolved

How to fix
    Configure the provider's or the company's resolvers as upstreams, and the clients' networks in
    allow-query and allow-recursion. Let the node's resolv.conf, or `forward` in the Corefile, name
    servers outside the cluster.

References
    dnsmasq(8), named.conf(5), unbound.conf(5), resolved.conf(5)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.files import files_of, own_addresses
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.checks.told import find_told
from podpath.net.addresses import read_address
from podpath.net.complaints import Circumstance
from podpath.net.failures import NAMES
from podpath.net.messages import MessageKind
from podpath.net.provenance import Span
from podpath.net.settings import Setting, SettingsFile
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_UPSTREAM, Category.DNS_CONFIGURATION, Category.DNS_SERVER)
NAME = "server-without-upstream"
OF_CLUSTER = frozenset({"kube-dns", "coredns", "rke2-coredns-rke2-coredns"})
"""Services of a cluster's DNS server."""
SUSPECTED = 0.8
"""Where the line does not say which of a cluster's name servers printed it."""
ASK = FollowUp(
    "whom the cluster's DNS server is told to ask",
    "kubectl -n kube-system get cm coredns -o yaml; cat /etc/resolv.conf   # on its node",
    "the address of its own service: it asks itself; others: NodeLocal DNSCache printed the line",
)
PASSING_ON = frozenset({"forward", "proxy", "import", "alternate", "erratic", "grpc", "dnssd"})
"""Plugins that ask other servers, or may."""
_ROOT = re.compile(r"(?:^|[\s,])(?:dns://)?\.(?::\d+)?(?:[\s,]|$)")
"""The zone of all names."""
_NODE_LOCAL = re.compile(r"node-?local")
ASKING = frozenset({"allow-query", "allow-recursion", "allow-query-cache"})


def check(case: Case) -> Iterator[Finding]:
    """Report what keeps a name server from asking others, or others from asking it."""
    failed = [one.span for one in find_said(case, MessageKind.NAME_FAILS)]
    failed += [one.span for one in case.attempts if one.result in NAMES]
    failed += [one.span for one in case.unplaced if one.result in NAMES]
    yield from _check_service(case)
    yield from _check_corefile(case)
    for file in case.files:
        yield from _check_self(case, file, failed)
    for file in files_of(case, "dnsmasq"):
        yield from _check_dnsmasq(file, failed)
    for file in files_of(case, "unbound"):
        yield from _check_unbound(file, failed)
    for file in files_of(case, "named"):
        for setting in file.all("recursion"):
            if setting.value == "no":
                claim = (
                    "BIND is configured not to look up names outside its own zones (recursion no)."
                )
                yield _report(claim, setting, "no", failed)
        yield from _check_asking(file, failed)


def _check_self(case: Case, file: SettingsFile, failed: list[Span]) -> Iterator[Finding]:
    """Report each upstream that is the server itself."""
    own = {str(address) for address in own_addresses(case)}
    for setting, upstream in _upstreams(file):
        address = read_address(upstream)
        if address is None or not _listens(file, upstream):
            continue
        if upstream in own or (address.is_loopback and file.kind != "unbound"):
            claim = f"The name server forwards to {upstream}, which is itself."
            yield _report(claim, setting, upstream, failed, certain=True)


def _check_corefile(case: Case) -> Iterator[Finding]:
    """Report a Corefile whose block for all names asks nobody, where names outside the cluster are
    said not to be resolved.
    """
    said = find_told(case, Circumstance.EXTERNAL_NAMES)
    blocks = [
        block
        for corefile in see(case, "Corefile")
        for sight in corefile.sights
        for block in sight.tree.items
    ]
    asking = any(set(_list_plugins(block)) & PASSING_ON for block in blocks)
    root = next((one for one in blocks if _ROOT.search(one.text_at("zones"))), None)
    zones = root.at("zones") if root is not None else None
    if said is None or asking or zones is None or len(see(case, "Corefile")) != 1:
        return
    yield Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim="The Corefile has no `forward`: CoreDNS answers only names of the cluster.",
        evidence=(zones.line, said),
        reasoning=("No plugin of the block for all names passes a query on.",),
        breaks=("names outside the cluster",),
        repairs=(
            Repair(
                title="add `forward . /etc/resolv.conf` to the block",
                commands=("kubectl -n kube-system edit cm coredns",),
            ),
        ),
        prevention="Keep the Corefile in version control, and look up a name outside in a probe.",
        marks=(zones.text,),
    )


def _list_plugins(block: Tree) -> Iterator[str]:
    """Yield the names of the plugins of a server block."""
    for plugin in block.items_at("plugins"):
        yield from (word.text for word in plugin.items[:1])


def _check_service(case: Case) -> Iterator[Finding]:
    """Report a cluster's DNS server that asks the service that it serves itself.

    NodeLocal DNSCache asks that service, too, as it should: it prints the same lines, from its
    node's address.
    """
    servers = {
        service.text_at("spec", "clusterIP"): service
        for service in see(case, "Service")
        if service.name in OF_CLUSTER
    }
    said = find_said(case, MessageKind.UPSTREAM_SILENT, MessageKind.UPSTREAM_REFUSES)
    for message in said:
        service = servers.get(message.values.get("server", ""))
        command = message.span.source.command or ""
        if service is None or _NODE_LOCAL.search(command):
            continue
        sure = any(name in command for name in OF_CLUSTER)
        claim = (
            f"The cluster's DNS server forwards to {service.text_at('spec', 'clusterIP')}, the "
            f"address of its own service {service.title}."
        )
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=claim,
            evidence=(service.span, message.span),
            reasoning=("A question that it cannot answer itself comes back to it, without end.",),
            breaks=("names outside the cluster",),
            repairs=(
                Repair(
                    title="let the node's resolv.conf, or forward in the Corefile, name servers "
                    "outside the cluster",
                    commands=("cat /etc/resolv.conf", "kubectl -n kube-system edit cm coredns"),
                ),
            ),
            certainty=1.0 if sure else SUSPECTED,
            asks=() if sure else (ASK,),
            marks=(message.values["server"],),
        )
        return


def _check_dnsmasq(file: SettingsFile, failed: list[Span]) -> Iterator[Finding]:
    """Report a dnsmasq that is to read no resolv.conf, and has nothing in its place."""
    closed = next(file.all("no-resolv"), None)
    instead = file.all("server", "servers-file", "resolv-file", "conf-dir", "conf-file")
    if closed is not None and next(instead, None) is None:
        claim = "dnsmasq has no upstream: its configuration has no-resolv and no server."
        yield _report(claim, closed, "no-resolv", failed)


def _check_unbound(file: SettingsFile, failed: list[Span]) -> Iterator[Finding]:
    """Report an unbound that is to forward to loopback, which it never asks unless told to."""
    looped = [one for one in file.all("forward-addr") if one.value.startswith(("127.", "::1"))]
    if looped and not any(one.value == "no" for one in file.all("do-not-query-localhost")):
        claim = (
            f"unbound is configured to forward to {looped[0].value}, but never queries loopback "
            "without do-not-query-localhost: no."
        )
        yield _report(claim, looped[0], looped[0].value, failed, certain=True)


def _listens(file: SettingsFile, address: str) -> bool:
    """Tell whether the server may listen there: where its file names addresses, another server may
    have the others.
    """
    words = [word for one in file.all("listen-address") for word in one.words] + [
        one.name for one in file.within("listen-on")
    ]
    return not words or address in words or "any" in words


def _upstreams(file: SettingsFile) -> Iterator[tuple[Setting, str]]:
    """Yield whom a name server is to ask, without a port of its own: that would be another server
    at the same address.
    """
    if file.kind == "dnsmasq":
        for setting in file.all("server"):
            yield setting, setting.value.rpartition("/")[2]
    elif file.kind == "named":
        yield from (
            (setting, setting.name) for setting in file.within("forwarders") if not setting.value
        )
    elif file.kind == "unbound":
        yield from ((setting, setting.value) for setting in file.all("forward-addr"))
    elif file.kind == "resolved":
        yield from (
            (setting, word)
            for setting in file.all("DNS")
            for word in setting.words
            if word == "127.0.0.53"
        )


def _check_asking(file: SettingsFile, failed: list[Span]) -> Iterator[Finding]:
    """Report a list of clients that holds this machine alone."""
    lists: dict[tuple[str, ...], list[Setting]] = {}
    for setting in file.within(*ASKING):
        lists.setdefault(setting.path, []).append(setting)
    for path, settings in lists.items():
        if all(
            setting.name in {"localhost", "127.0.0.1", "127.0.0.0/8", "::1"} for setting in settings
        ):
            yield _report(
                f"BIND answers only queries from this machine ({path[-1].split()[0]}).",
                settings[0],
                path[-1],
                failed,
            )


def _report(
    claim: str, setting: Setting, mark: str, failed: list[Span], *, certain: bool = False
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=claim,
        evidence=(setting.span, *failed[:1]),
        reasoning=("A server resolves names outside its own zones only through its upstreams.",),
        breaks=("names outside the server's own zones",),
        prevention="Query the server for an external name after each change.",
        certainty=1.0 if certain or failed else 0.7,
        marks=(mark,),
    )

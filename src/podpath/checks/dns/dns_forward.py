"""dns-forward: the cluster's DNS server forwards to itself, or to a resolver that it cannot reach.

What it is
    CoreDNS forwards names outside the cluster to the resolvers in the Corefile's `forward`, most
    often those of /etc/resolv.conf, which it inherits from the node (dnsPolicy Default). If that
    file names 127.0.0.53 (systemd-resolved), 127.0.0.1 (dnsmasq) or the DNS service's own address,
    the server asks its own pod.

Why it breaks
    Within a pod, a loopback address is the pod itself: the query comes back to CoreDNS. Its `loop`
    plugin then stops the server ("Loop ... detected"); without the plugin, queries circle until
    they time out.

How to confirm
    kubectl -n kube-system get configmap coredns -o yaml; cat /etc/resolv.conf on the node
    kubectl -n kube-system logs -l k8s-app=kube-dns | grep -i loop

How to fix
    Give the kubelet the real list (resolvConf: /run/systemd/resolve/resolv.conf), or name upstream
    resolvers in the Corefile.

References
    CoreDNS's page of the plugin loop; kubelet's --resolv-conf
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, Severity
from podpath.checks.objects import see
from podpath.net.addresses import Address, read_address
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION, Category.DNS_UPSTREAM)
NAME = "dns-forward"
FORWARDERS = frozenset({"forward", "proxy"})
DNS_SERVICES = frozenset({"kube-dns", "coredns", "rke2-coredns-rke2-coredns", "dns-default"})


def check(case: Case) -> Iterator[Finding]:
    """Report forwarding to the server itself, by the Corefile or by the node's resolv.conf that it
    inherits.
    """
    own = set(_own_addresses(case))
    for corefile in see(case, "Corefile"):
        for block in (item for sight in corefile.sights for item in sight.tree.items):
            for plugin in block.items_at("plugins"):
                yield from _check_forward(case, plugin, own)


def _own_addresses(case: Case) -> Iterator[Address]:
    for service in see(case, "Service"):
        if service.name in DNS_SERVICES:
            address = read_address(service.text_at("spec", "clusterIP"))
            if address is not None:
                yield address


def _check_forward(case: Case, plugin: Tree, own: set[Address]) -> Iterator[Finding]:
    words = plugin.items
    if len(words) < 3 or words[0].text not in FORWARDERS or words[1].text != ".":
        return
    for word in words[2:]:
        address = _read_server(word.text)
        if address is not None and (address.is_loopback or address in own):
            what = "a loopback address, which is the pod itself"
            if address in own:
                what = "its own service's address"
            yield _report(plugin, f"CoreDNS forwards to {address}, {what}.", str(address), 1.0)
    if any(word.text.endswith("resolv.conf") for word in words[2:]):
        yield from _check_resolvers(case, plugin, own)


def _read_server(text: str) -> Address | None:
    """Read a server with or without the protocol before it and the port behind it."""
    bare = text.partition("://")[2] or text.rpartition(":")[0] or text
    return read_address(bare) or read_address(text)


def _check_resolvers(case: Case, plugin: Tree, own: set[Address]) -> Iterator[Finding]:
    """Report a resolv.conf of the node that leads back; one of a pod names the service anyway."""
    for seen in see(case, "ResolvConf"):
        servers = seen.items_at("nameservers")
        addresses = [read_address(item.text) for item in servers]
        looped = [
            item
            for item, address in zip(servers, addresses, strict=True)
            if address is not None and (address.is_loopback or address in own)
        ]
        if not looped or seen.sights[0].netns != "host":
            continue
        server = looped[0].text
        in_pod = not own.isdisjoint(addresses) and server in map(str, own)
        if not in_pod:
            claim = (
                "CoreDNS forwards to the resolvers in the node's resolv.conf, which names "
                f"{server}."
            )
            yield _report(plugin, claim, server, 0.8, looped[0])


def _report(
    plugin: Tree, claim: str, mark: str, certainty: float, server: Tree | None = None
) -> Finding:
    return Finding(
        check=NAME,
        severity=Severity.FAULT if certainty == 1 else Severity.CAUSE,
        claim=claim,
        evidence=(*((server.line,) if server is not None else ()), plugin.line),
        reasoning=("The queries that CoreDNS forwards there come back to CoreDNS.",),
        breaks=("names outside the cluster; with the loop plugin, the server itself",),
        prevention="Set the kubelet's resolvConf to a file without a stub resolver.",
        certainty=certainty,
        marks=(mark,),
    )

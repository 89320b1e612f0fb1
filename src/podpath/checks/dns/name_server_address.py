"""name-server-address: pods query an address other than the cluster's DNS service, or search a
domain that CoreDNS does not serve.

What it is
    The kubelet writes clusterDNS and clusterDomain into each pod's resolv.conf. The nameserver
    there is not the address of the kube-dns service, or the search list ends in a domain other than
    the one that the Corefile's kubernetes plugin serves.

Why it breaks
    Nothing answers at that address, because no service has it; a link-local address such as
    169.254.20.10 is that of a DNS cache on the node itself (NodeLocal DNSCache), which has to run
    on each node; and a name completed with a domain
    that the server does not have gets NXDOMAIN. The cluster was created with a different service
    range or domain than the kubelet has.

How to confirm
    kubectl -n kube-system get svc kube-dns; kubectl exec POD -- cat /etc/resolv.conf
    grep -A3 -i clusterd /var/lib/kubelet/config.yaml

How to fix
    Have the node's DNS cache run on the node (its tolerations, its selector). Set the kubelet's
    clusterDNS and clusterDomain to the cluster's values, restart it, and recreate
    the pods.

References
    kubelet-config.k8s.io, KubeletConfiguration; Kubernetes, DNS for Services and Pods
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, is_of_all, see
from podpath.checks.stated import is_typed_on
from podpath.checks.told import list_failing
from podpath.net.addresses import Address, read_address
from podpath.net.failures import FailureKind
from podpath.net.provenance import Span
from podpath.net.technologies import Technology
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION,)
NAME = "name-server-address"
LIKELY = 0.9
"""Whether the pod that asks is on the node whose addresses are shown is not stated."""
ASK = FollowUp(
    "whether a DNS cache runs on the node of the pods that fail",
    "kubectl -n kube-system get pods -o wide | grep node-local-dns; ip -br addr  # on their node",
    "none runs there, and no device has its address: nobody answers",
)
_CACHE = re.compile(r"node-?local-?dns")
_TOLERATE = Repair(
    title="let the DaemonSet tolerate the node's taints, or select the node",
    commands=("kubectl describe node NODE | grep -A3 Taints",),
)
NAMELESS = frozenset({
    FailureKind.NAME_NOT_RESOLVED, FailureKind.NAME_SERVER_SILENT, FailureKind.TIMEOUT,
})  # fmt: skip
"""How lookups fail where nobody answers."""
DNS_SERVICES = frozenset({"kube-dns", "coredns", "rke2-coredns-rke2-coredns", "dns-default"})


def check(case: Case) -> Iterator[Finding]:
    """Report resolvers of pods, or of the kubelet, that no DNS service of the cluster is."""
    services = [
        one
        for one in see(case, "Service")
        if one.name in DNS_SERVICES and read_address(_address(one)) is not None
    ]
    own = {
        read_address(item.text)
        for one in services
        for item in (one.at("spec", "clusterIP"), *one.items_at("spec", "clusterIPs"))
        if item
    }
    known = {read_address(_address(one)) for one in see(case, "Service")}
    if services:
        for server in (*_pods(case), *_kubelets(case)):
            address = read_address(server.text)
            if address is not None and address not in own and _is_service(address, services, known):
                yield _report_address(server, address, services[0])
    yield from _check_cache(case)
    yield from _check_domains(case)


def _check_cache(case: Case) -> Iterator[Finding]:
    """Report a name server that is a cache on each node, where a whole listing of the node's
    addresses does not have it.
    """
    host = case.node.host
    shown = next((one.span for one in host.addresses.items if one.span is not None), None)
    redirected = Technology.CILIUM in case.mentions
    if not host.addresses.complete or shown is None or redirected or not _fails_by_name(case):
        return
    for server in _pods(case):
        address = read_address(server.text)
        if address is not None and address.is_link_local and not host.holds(address):
            short = _find_short_set(case, shown)
            wants = f" ({short.name} is to have fewer pods than there are nodes)" if short else ""
            yield Finding(
                check=NAME,
                severity=Severity.FAULT,
                claim=(
                    f"Pods query {address}, a DNS cache on their own node, but no device of this "
                    f"node has that address{wants}."
                ),
                evidence=(server.line, shown, *((short.span,) if short is not None else ())),
                reasoning=("A link-local address is never routed: only the node could answer.",),
                breaks=("every name that pods of this node look up",),
                repairs=(_TOLERATE,) if short is not None else (),
                prevention="Alert on nodes where the DaemonSet of the cache has no pod.",
                certainty=LIKELY if short is None else 1.0,
                asks=(ASK,) if short is None else (),
                marks=(str(address),),
            )
            return


def _find_short_set(case: Case, shown: Span) -> ObjectSightings | None:
    """Return the cache's DaemonSet where it is to have fewer pods than all nodes that are listed,
    the node whose addresses are shown is one of them, and people name no other.
    """
    nodes = [one.name for one in see(case, "Node") if _is_of_all(one)]
    told = {word for one in list_failing(case) for word in one.words | one.spoken}
    here = [name for name in nodes if is_typed_on(case, shown, name)]
    others = told.intersection(nodes).difference(here)
    for one in see(case, "DaemonSet") if len(here) == 1 and not others else ():
        wanted = one.text_at("status", "desiredNumberScheduled")
        if _CACHE.search(one.name) and wanted.isdecimal() and int(wanted) < len(nodes):
            return one
    return None


def _is_of_all(seen: ObjectSightings) -> bool:
    return any(is_of_all(sight.tree.line) for sight in seen.sights)


def _fails_by_name(case: Case) -> bool:
    """Tell whether a pod's lookups fail, as prose or a try says."""
    told = any(one.failure in NAMELESS for one in list_failing(case))
    tried = [one.result for one in case.attempts] + [one.result for one in case.unplaced]
    return told or bool(NAMELESS.intersection(tried))


def _address(service: ObjectSightings) -> str:
    return service.text_at("spec", "clusterIP")


def _pods(case: Case) -> Iterator[Tree]:
    """Yield the name servers of pods that look like the cluster's: beside a search list of
    services.
    """
    for seen in see(case, "ResolvConf"):
        for sight in seen.sights:
            if any(
                item.text.startswith("svc.") or ".svc." in item.text
                for item in sight.tree.items_at("search")
            ):
                yield from sight.tree.items_at("nameservers")


def _kubelets(case: Case) -> Iterator[Tree]:
    for seen in see(case, "KubeletConfiguration"):
        yield from seen.items_at("clusterDNS")


def _is_service(
    address: Address, services: list[ObjectSightings], known: set[Address | None]
) -> bool:
    """Tell whether it can only be meant for the cluster's DNS service: no cache on the node, no
    other service that is shown.
    """
    families = {
        one.family for service in services if (one := read_address(_address(service))) is not None
    }
    return address.family in families and not (
        address.is_link_local or address.is_loopback or address in known
    )


def _report_address(server: Tree, address: Address, service: ObjectSightings) -> Finding:
    shown = service.at("spec", "clusterIP")
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"Pods query the name server {address}, but the cluster's DNS service {service.title} "
            f"has the address {_address(service)}."
        ),
        evidence=(server.line, *((shown.line,) if shown is not None else ())),
        reasoning=("Nothing answers DNS queries at an address that no service has.",),
        breaks=("every name that pods look up",),
        prevention="Set clusterDNS to an address in the API server's service range.",
        certainty=1.0,
        marks=(str(address),),
    )


def _check_domains(case: Case) -> Iterator[Finding]:
    """Report a search list that ends in a domain which no server block of the Corefile has."""
    zones = _list_zones(case)
    if not zones or any(not {"{", "$", "_"}.isdisjoint(zone) for zone in zones):
        return
    for seen in see(case, "ResolvConf"):
        for item in seen.items_at("search"):
            domain = item.text.removeprefix("svc.").rstrip(".").lower()
            if item.text.startswith("svc.") and not _is_served(domain, zones):
                yield _report_domain(item, domain, zones)


def _list_zones(case: Case) -> dict[str, Tree]:
    """Return the zones of the cluster that the Corefile names, each with its plugin."""
    zones: dict[str, Tree] = {}
    for corefile in see(case, "Corefile"):
        for sight in corefile.sights:
            for block in sight.tree.items:
                for plugin in block.items_at("plugins"):
                    zones.update((zone, plugin) for zone in _read_zones(plugin))
    return zones


def _read_zones(plugin: Tree) -> Iterator[str]:
    """Yield the zones of the plugin kubernetes that are names, without those of addresses."""
    words = [word.text.rstrip(".") for word in plugin.items]
    if words[:1] == ["kubernetes"]:
        for word in words[1:]:
            if not word.endswith(".arpa"):
                yield word.lower()


def _is_served(domain: str, zones: Iterable[str]) -> bool:
    return any(domain == zone or domain.endswith(f".{zone}") for zone in zones)


def _report_domain(item: Tree, domain: str, zones: Mapping[str, Tree]) -> Finding:
    served = next(iter(zones))
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=f"Pods search the cluster domain {domain}, but CoreDNS serves {served}.",
        evidence=(item.line, zones[served].line),
        reasoning=((f"Service names are completed with {domain}, which CoreDNS does not serve."),),
        breaks=("service names in pods",),
        prevention="Set the kubelet's clusterDomain and the Corefile's zone together.",
        certainty=1.0,
        marks=(domain, served),
    )

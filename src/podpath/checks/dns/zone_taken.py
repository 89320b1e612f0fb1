"""zone-taken: CoreDNS itself answers for a domain that belongs to other name servers.

What it is
    The Corefile lists one of the company's domains as a zone of its kubernetes plugin, next to the
    cluster's own domain.

Why it breaks
    CoreDNS is authoritative for every zone of that plugin. It answers NXDOMAIN at once for names
    that the plugin does not have, and no `forward` below ever sees the query.

How to confirm
    kubectl -n kube-system get configmap coredns -o yaml
    dig DOMAIN SOA in a pod: `ns.dns.DOMAIN` means CoreDNS itself

How to fix
    List only the cluster's domain (and in-addr.arpa, ip6.arpa) in the kubernetes plugin; forward
    the company's domain in its own server block.

References
    CoreDNS's pages of the plugins kubernetes, hosts and forward
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.finding import Finding, FollowUp, Severity
from podpath.checks.objects import see
from podpath.checks.said import find_said
from podpath.net.messages import Message, MessageKind
from podpath.net.provenance import list_spans
from podpath.net.trees import Tree
from podpath.node.case import Case

CATEGORIES = (Category.DNS_CONFIGURATION, Category.DNS_SERVER)
NAME = "zone-taken"


def check(case: Case) -> Iterator[Finding]:
    """Report zones that are no cluster's and that CoreDNS keeps to itself."""
    failed = find_said(case, MessageKind.NAME_FAILS, MessageKind.ANSWERED_BY_CLUSTER)
    for corefile in see(case, "Corefile"):
        for block in (item for sight in corefile.sights for item in sight.tree.items):
            for plugin in block.items_at("plugins"):
                words = [word.text for word in plugin.items]
                if words[:1] == ["kubernetes"]:
                    taken = [zone for zone in words[1:] if not _falls_through(block, zone)]
                    yield from _check_zones(case, plugin, taken, words[1:], failed)


def _falls_through(block: Tree, zone: str) -> bool:
    """Tell whether the plugin kubernetes passes on the names of a zone that it does not have."""
    for item in block.items_at("options"):
        words = [word.text for word in item.items]
        zones = words[2:]
        if words[:2] == ["kubernetes", "fallthrough"] and (not zones or zone in zones):
            return True
    return False


def _check_zones(
    case: Case, plugin: Tree, taken: list[str], words: list[str], failed: tuple[Message, ...]
) -> Iterator[Finding]:
    zones = [word.rstrip(".").lower() for word in taken if not word.rstrip(".").endswith(".arpa")]
    own = set(_cluster_domains(case)) or ({"cluster.local"} & set(words))
    for zone in dict.fromkeys(zones):
        if not own or zone in own or any(zone.endswith(f".{domain}") for domain in own):
            continue
        shown = [one for one in failed if _is_in(one.values.get("name", ""), zone)]
        yield Finding(
            check=NAME,
            severity=Severity.FAULT,
            claim=(
                f"CoreDNS answers for {zone} itself: its kubernetes plugin lists it as a zone "
                f"next to {min(own)}."
            ),
            evidence=(plugin.line, *list_spans(shown[:2])),
            reasoning=(
                (
                    f"A name in {zone} that is not a service of the cluster gets NXDOMAIN and is "
                    "never forwarded."
                ),
            ),
            breaks=(f"names in {zone}",),
            prevention="List only the cluster's domain in the kubernetes plugin.",
            certainty=1.0 if shown else 0.7,
            asks=()
            if shown
            else (
                FollowUp(f"who answers for {zone}", f"dig {zone} SOA", "ns.dns. is CoreDNS itself"),
            ),
            marks=(zone,),
        )


def _cluster_domains(case: Case) -> Iterator[str]:
    """Yield the domains that pods search, as their resolv.conf says: `svc.cluster.local`."""
    for seen in see(case, "ResolvConf"):
        for item in seen.items_at("search"):
            if item.text.startswith("svc."):
                yield item.text.removeprefix("svc.").rstrip(".").lower()


def _is_in(name: str, zone: str) -> bool:
    plain = name.rstrip(".").lower()
    return plain == zone or plain.endswith(f".{zone}")

"""What a node of a fleet is compared by: a few hundred facts, each a name and a value.

A fact says the same on every node of one kind: what is a node's own (its addresses, the devices of
its pods, the chains of endpoints on it) is left out or named by its part. So a node that differs
from its peers in a fact differs in something that somebody set.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from podpath.net.provenance import Fact, Known
from podpath.node.links import Link
from podpath.node.netfilter import Chain, Rule
from podpath.node.node import HOST, Netns, Node
from podpath.node.routing import LOCAL, Route

FACTS_OF_DEVICES = ("all", "default")
"""Devices whose settings are a node's; those of others are read as far as they are uplinks."""
_PER_DEVICE = re.compile(r"net\.(?:ipv4|ipv6)\.(?:conf|neigh)\.(?P<device>.+)\.(?P<setting>[^.]+)")
_OF_ENDPOINT = re.compile(
    r"(?P<kind>KUBE-(?:SEP|SVC|FW|EXT|XLB|SVL|POD|NWPLCY)|cali-[tf]w|CNI-(?:DN-)?(?=[0-9a-f]{8})).*"
)
"""Chains that are there for one service, endpoint or pod: how many there are is a fact, what is in
them is not.
"""
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?:/\d+)?(?![\w.])"
    r"|(?<!\w)[0-9a-f]*:[0-9a-f:]*:[0-9a-f:/]*"
)
_DEVICE = re.compile(r"\b(?:veth|lxc|cali|eni|cni-?|tap|gke|azv)[0-9a-f]{3,}\w*")
_VOLATILE = re.compile(
    r"net\.(?:netfilter\.nf_conntrack_count|ipv4\.tcp_fastopen_key|ipv4\.ipfrag_secret\w*|"
    r"ipv6\.conf\..*\.stable_secret|core\.netdev_rss_key|netfilter\.nf_conntrack_buckets)"
)
"""Settings that count, or are a secret of the node's own."""
_UNLISTED = "not listed"

Facts = dict[str, str]


def list_facts(node: Node) -> Facts:
    """Return the facts of a node, by name."""
    host = node.namespaces[HOST]
    facts = {"kernel": node.kernel or _UNLISTED}
    for group in (_list_links, _list_routes, _list_policy_rules, _list_sysctls, _list_tables):
        facts |= dict(group(host))
    facts["pods"] = str(sum(netns.name != HOST for netns in node.namespaces.values()))
    return facts


def _list_uplinks(host: Netns) -> frozenset[str]:
    """Return the devices that default routes leave by, and what those are made of."""
    defaults = [route for route in host.routes.items if route.prefix.length == 0]
    hops = [hop for route in defaults for hop in route.nexthops]
    named = {str(hop.link) for hop in hops if hop.link is not None}
    parts = {str(link.name) for link in host.links.items if link.bond_slave_of in named}
    return frozenset(named | parts)


def _list_links(host: Netns) -> Iterator[tuple[str, str]]:
    uplinks = _list_uplinks(host)
    mtus: Counter[tuple[str, int]] = Counter()
    for link in host.links.items:
        kind = _kind_of(link, uplinks)
        if kind in {"veth", "dummy", "loopback"}:
            mtus[kind, link.mtu] += 1
        else:
            yield f"mtu of {link.name}", str(link.mtu)
    for kind in sorted({kind for kind, _ in mtus}):
        used = sorted(mtu for other, mtu in mtus if other == kind)
        yield f"mtu of {kind} devices", ", ".join(map(str, used))


def _kind_of(link: Link, uplinks: frozenset[str]) -> str:
    if link.name == "lo":
        return "loopback"
    if link.name in uplinks:
        return "uplink"
    return link.kind or "device"


def _list_routes(host: Netns) -> Iterator[tuple[str, str]]:
    if not host.routes.complete:
        return
    counted: Counter[str] = Counter()
    for route in host.routes.items:
        if route.inferred is None and route.table != LOCAL:
            counted[_sort_of(route)] += 1
    for sort, count in sorted(counted.items()):
        yield f"routes: {sort}", str(count)


def _sort_of(route: Route) -> str:
    """Name what kind of a route it is, without the node's own addresses."""
    family = "IPv6" if route.prefix.family == 6 else "IPv4"
    if route.type != "unicast":
        return f"{family} {route.type}"
    via = "by a gateway" if any(hop.gateway is not None for hop in route.nexthops) else "on link"
    if route.prefix.length == 0:
        devices = ", ".join(sorted({str(hop.link) for hop in route.nexthops}))
        return f"{family} default on {devices} metric {route.metric}"
    return f"{family} to /{route.prefix.length} {via}, table {route.table}"


def _list_policy_rules(host: Netns) -> Iterator[tuple[str, str]]:
    if not host.rules.complete:
        return
    for family in (4, 6):
        rules = [rule for rule in host.rules.items if rule.family == family]
        told = ", ".join(f"{rule.priority} {rule.action} {rule.table}" for rule in rules)
        yield f"policy rules IPv{family}", told


def _list_sysctls(host: Netns) -> Iterator[tuple[str, str]]:
    wanted = {*FACTS_OF_DEVICES, *_list_uplinks(host)}
    for key, fact in sorted(host.sysctls.items()):
        found = _PER_DEVICE.fullmatch(key)
        if found is not None and found["device"] not in wanted:
            continue
        if isinstance(fact, Known) and not _VOLATILE.fullmatch(key):
            yield f"sysctl {key}", fact.value


def _list_tables(host: Netns) -> Iterator[tuple[str, str]]:
    for table in host.tables:
        tool = "iptables" if table.family == 4 else "ip6tables"
        name = f"{tool} {table.name}"
        yield f"{name} flavor", table.flavour
        counted: Counter[str] = Counter()
        for title, fact in table.chains.items():
            if not isinstance(fact, Known):
                continue
            found = _OF_ENDPOINT.fullmatch(title)
            if found is not None:
                counted[found["kind"]] += 1
                continue
            yield from _tell_chain(f"{name} {title}", fact)
        yield from ((f"{name} {kind} chains", str(count)) for kind, count in counted.items())


def _tell_chain(title: str, fact: Fact[Chain]) -> Iterator[tuple[str, str]]:
    chain = fact.value if isinstance(fact, Known) else None
    if chain is None:
        return
    if chain.policy is not None:
        yield f"{title}: policy", chain.policy
        order = [_target_of(rule) for rule in chain.rules]
        yield f"{title}: order", " ".join(order)
    yield f"{title}: rules", _hash(chain.rules)


def _target_of(rule: Rule) -> str:
    name = rule.target.name if rule.target is not None else "(none)"
    return _DEVICE.sub("DEVICE", name)


def _hash(rules: Iterable[Rule]) -> str:
    """Return a short hash of rules without addresses and pods' devices, whatever their order among
    equals.
    """
    lines = sorted({_ADDRESS.sub("ADDRESS", _DEVICE.sub("DEVICE", _spell(rule))) for rule in rules})
    return blake2b("\n".join(lines).encode(), digest_size=6).hexdigest()


def _spell(rule: Rule) -> str:
    return rule.span.text.partition("] ")[2] or rule.span.text

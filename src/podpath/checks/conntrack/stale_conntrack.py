"""stale-conntrack: a conntrack entry still sends a service's packets to an endpoint that is gone.

What it is
    Conntrack remembers the endpoint that was chosen for a connection. The rules are consulted for
    the first packet only, so when the endpoint goes away the entry keeps rewriting every further
    packet of that connection to the old address.

Why it breaks
    A TCP client notices and opens another connection. A UDP client that keeps using the same port
    (a resolver, syslog, SIP) keeps the entry alive with each packet and never reaches a living
    endpoint. Kube-proxy deletes such entries when an endpoint goes, and misses some when it
    restarts or when packets come in while it writes its rules.

How to confirm
    conntrack -L -p udp -d SERVICE      # the second src= is the endpoint in use: is it still one?
    kubectl get endpointslices -l kubernetes.io/service-name=SERVICE

How to fix
    conntrack -D -p udp --orig-dst SERVICE

References
    nf_nat_packet, nf_nat_inet_fn (net/netfilter/nf_nat_core.c); kubernetes pkg/proxy/conntrack
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.category import Category
from podpath.checks.endpoints import backends_of
from podpath.checks.finding import Finding, Repair, Severity
from podpath.checks.objects import see
from podpath.checks.topology import dnat_destinations, find_tables
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.packet import endpoint
from podpath.net.provenance import Known
from podpath.node.case import Case
from podpath.node.change import DeleteConntrack
from podpath.node.netfilter import ConntrackEntry, TrackedEntries
from podpath.node.node import HOST, Node

CATEGORIES = (Category.CONNTRACK_STALE,)
NAME = "stale-conntrack"
PREVENTION = (
    "See that kube-proxy deletes stale entries: its log says so, and its image needs conntrack(8)."
)


def check(case: Case) -> Iterator[Finding]:
    """Report each entry whose endpoint no rule and no service names any longer."""
    for entry, living in (*list_stale(case.node), *_list_by_objects(case)):
        if _matters(entry):
            yield _report(entry, living)


def _list_by_objects(case: Case) -> Iterator[tuple[ConntrackEntry, frozenset[Address]]]:
    """Yield the entries of which rules and tables of services say nothing (those of kube-proxy's
    nftables mode), by the endpoints that the API lists.
    """
    listed: dict[tuple[str, int, int], frozenset[Address]] = {}
    for service in see(case, "Service"):
        for behind in backends_of(case, service):
            number = behind.port.text_at("port")
            protocol = (behind.port.text_at("protocol") or "TCP").lower()
            if behind.whole and number.isdecimal() and protocol in protocols.NUMBERS:
                key = service.text_at("spec", "clusterIP"), protocols.NUMBERS[protocol], int(number)
                listed[key] = frozenset(address for address, _ in behind.backends)
    for entry in case.node.host.conntrack.items if listed else ():
        original = entry.original
        living = listed.get((str(original.dst), original.protocol, original.dport), frozenset())
        gone = entry.reply.src not in {original.dst, *living}
        if living and gone and not find_endpoints(case.node, entry):
            yield entry, living


def list_stale(node: Node) -> Iterator[tuple[ConntrackEntry, frozenset[Address]]]:
    """Yield each entry that rewrites to an address that is no endpoint of its service any longer,
    with the endpoints there are.
    """
    living_by_service: dict[tuple[Address, int, int], frozenset[Address]] = {}
    for entry in TrackedEntries.of(node.host.conntrack.items).rewritten:
        service = (entry.original.dst, entry.original.protocol, entry.original.dport)
        if service not in living_by_service:
            living_by_service[service] = find_endpoints(node, entry)
        living = living_by_service[service]
        if living and entry.reply.src not in living:
            yield entry, living


def forget_entries(entry: ConntrackEntry) -> Repair:
    """Return the repair: the service's entries go, so that rules choose an endpoint again."""
    name = protocols.protocol_name(entry.original.protocol)
    return Repair(
        title="forget the service's entries, so that rules choose an endpoint again",
        commands=(f"conntrack -D -p {name} --orig-dst {entry.original.dst}",),
        changes=(DeleteConntrack(netns=HOST, original_dst=str(entry.original.dst)),),
    )


def find_endpoints(node: Node, entry: ConntrackEntry) -> frozenset[Address]:
    """Return the endpoints of the service that an entry is about; empty where the evidence does not
    list them all.
    """
    address, port = entry.original.dst, entry.original.dport
    for service in node.services:
        if address in service.addresses:
            for offered in service.ports:
                if (offered.protocol, offered.port) == (
                    entry.original.protocol,
                    port,
                ) and offered.complete:
                    return frozenset(living for living, _ in offered.endpoints)
    return _endpoints_by_rules(node, entry)


def _endpoints_by_rules(node: Node, entry: ConntrackEntry) -> frozenset[Address]:
    """Return every address that a whole nat table can rewrite to, where a rule of it is about the
    entry's destination.
    """
    for table in find_tables(node.host, "nat", entry.original.dst.family):
        rules = list(dnat_destinations(table))
        named = any(
            rule.dst is not None
            and rule.dst.prefix.covers(entry.original.dst)
            and rule.dst.prefix.length == 32
            for fact in table.chains.values()
            if isinstance(fact, Known)
            for rule in fact.value.rules
        )
        if table.complete and named and rules:
            return frozenset(address for _, address, _ in rules)
    return frozenset()


def _matters(entry: ConntrackEntry) -> bool:
    """Tell whether packets are still sent by the entry in vain: any UDP one, and a TCP one that
    never got a reply.
    """
    if entry.original.protocol == protocols.UDP:
        return not entry.replied or entry.assured
    return entry.original.protocol == protocols.TCP and not entry.replied


def _report(entry: ConntrackEntry, living: frozenset[Address]) -> Finding:
    original, old = entry.original, entry.reply.src
    service = endpoint(original.dst, original.dport)
    name = protocols.protocol_name(original.protocol)
    return Finding(
        check=NAME,
        severity=Severity.FAULT,
        claim=(
            f"A conntrack entry sends {original.src}'s packets for {service} to {old}, which is no "
            "longer an endpoint."
        ),
        evidence=(entry.span,) if entry.span is not None else (),
        reasoning=(
            (
                "Rules choose an endpoint for the first packet only; later packets go where the "
                "entry says."
            ),
            (
                f"The endpoints now are {', '.join(sorted(map(str, living)))}; "
                f"{old} is not among them."
            ),
        ),
        breaks=(f"{name} from {endpoint(original.src, original.sport)} to {service}",),
        repairs=(forget_entries(entry),),
        prevention=PREVENTION,
        marks=(str(old),),
    )

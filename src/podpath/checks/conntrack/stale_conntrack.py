"""stale-conntrack: a conntrack entry still sends a service's packets to an endpoint that is gone.

What it is
    Conntrack remembers the endpoint that was chosen for a connection. Only the first packet is
    matched against the rules, so after the endpoint goes away, the entry keeps rewriting every
    packet of that connection to the old address.

Why it breaks
    A TCP client notices and opens another connection. A UDP client that keeps using the same port
    (a resolver, syslog, SIP) keeps the entry alive with each packet and never reaches a live
    endpoint. Kube-proxy deletes such entries when an endpoint goes away, but misses some when it
    restarts or when packets arrive while it writes its rules.

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
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from podpath.checks.category import Category
from podpath.checks.endpoints import backends_of, is_cut, list_places
from podpath.checks.finding import Finding, FollowUp, Repair, Severity
from podpath.checks.objects import ObjectSightings, see
from podpath.checks.told import find_told, list_failing
from podpath.checks.topology import dnat_destinations, find_tables, known_rules, option_values
from podpath.net import protocols
from podpath.net.addresses import Address, Prefix, read_address
from podpath.net.complaints import Circumstance
from podpath.net.packet import endpoint
from podpath.node.case import Case
from podpath.node.change import DeleteConntrack
from podpath.node.netfilter import ConntrackEntry, Table, TrackedEntries
from podpath.node.node import HOST, Node

CATEGORIES = (Category.CONNTRACK_STALE,)
NAME = "stale-conntrack"
_IPV4, _POD_BITS = 4, 24
"""The range of a node's pods, as plugins cut it by default."""
BESIDE = 0.7
"""The certainty where the port alone says which service an entry is of."""
_HOST_BITS = 32
"""Of a prefix that is one IPv4 address."""
_Port = tuple[int, int]
_Owner = tuple[str, str]
"""A protocol with a port of nodes; the namespace and name of a service."""
_SERVED = ("KUBE-EXT-", "KUBE-SVC-", "KUBE-SVL-", "KUBE-XLB-")
PREVENTION = (
    "Make sure that kube-proxy deletes stale entries: its log says so, and its image needs "
    "conntrack(8)."
)


def check(case: Case) -> Iterator[Finding]:
    """Report each entry whose endpoint no rule and no service names any longer."""
    for entry, living in (*list_stale(case.node), *_list_by_objects(case)):
        if _matters(entry):
            yield _report(entry, living)
    for entry, living, sure in _list_by_node_port(case):
        if _matters(entry):
            found = replace(_report(entry, living), repairs=(_forget_port(entry),))
            asks = (_gone(entry.reply.src),)
            yield found if sure else replace(found, certainty=BESIDE, asks=asks)
            return
    yield from _list_to_gone_pods(case)
    yield from _list_beside_endpoints(case)


def _list_beside_endpoints(case: Case) -> Iterator[Finding]:
    """Report the first UDP entry to another pod of the nodes whose endpoints are the only
    ones listed with its port, where something fails and no output shows the service itself.
    """
    listed = [(living, ports) for living, ports in _list_endpoints(case) if living]
    failing = next((one.span for one in list_failing(case)), None)
    known = _NamedEndpoints(case.node)
    for entry in TrackedEntries.of(case.node.host.conntrack.items).rewritten if failing else ():
        old, port = entry.reply.src, entry.reply.sport
        own = [living for living, ports in listed if port in ports]
        if len(own) != 1 or old in own[0] or old == entry.original.dst or known.of(entry):
            continue
        near = any(Prefix.of(one, _POD_BITS).covers(old) for one in own[0] if one.family == _IPV4)
        if near and entry.original.protocol == protocols.UDP and _matters(entry):
            found = _report(entry, own[0])
            spans = (*found.evidence, *((failing,) if failing is not None else ()))
            yield replace(found, evidence=spans, certainty=BESIDE, asks=(_gone(old),))
            return


def _list_endpoints(case: Case) -> Iterator[tuple[frozenset[Address], frozenset[int]]]:
    """Yield the addresses and the ports of each Endpoints object that is shown."""
    for found in see(case, "Endpoints"):
        subsets = found.items_at("subsets")
        ready = (item for one in subsets for item in one.items_at("addresses"))
        addresses = (read_address(item.text_at("ip")) for item in ready)
        ports = (item.text_at("port") for one in subsets for item in one.items_at("ports"))
        yield (
            frozenset(address for address in addresses if address is not None),
            frozenset(int(port) for port in ports if port.isdecimal()),
        )


def _gone(old: Address) -> FollowUp:
    return FollowUp(
        f"whether a pod has {old}",
        f"kubectl get pods -A -o wide | grep {old}",
        "none has it: the entry outlived its pod",
    )


def _list_to_gone_pods(case: Case) -> Iterator[Finding]:
    """Report the first UDP entry that nobody answers and that leads to a pod's address which none
    of the pods shown has, where people say that a pod was recreated and something fails.
    """
    shown = [read_address(pod.text_at("status", "podIP")) for pod in see(case, "Pod")]
    living = frozenset(address for address in shown if address is not None)
    told = find_told(case, Circumstance.AT_CONTAINER_START)
    if not living or told is None:
        return
    nets = [Prefix.of(address, _POD_BITS) for address in living if address.family == _IPV4]
    for entry in TrackedEntries.of(case.node.host.conntrack.items).rewritten:
        old = entry.reply.src
        near = old != entry.original.dst and any(net.covers(old) for net in nets)
        unheard = entry.original.protocol == protocols.UDP and not entry.replied
        if near and unheard and old not in living and entry.span is not None:
            found = _report(entry, living)
            yield replace(found, evidence=(*found.evidence, told))
            return


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
    known = _NamedEndpoints(case.node)
    for entry in case.node.host.conntrack.items if listed else ():
        original = entry.original
        living = listed.get((str(original.dst), original.protocol, original.dport), frozenset())
        gone = entry.reply.src not in {original.dst, *living}
        if living and gone and not known.of(entry):
            yield entry, living


def _list_by_node_port(case: Case) -> Iterator[tuple[ConntrackEntry, frozenset[Address], bool]]:
    """Yield the entries of node ports whose service, by its object or by a rule's comment, has
    Endpoints that are listed whole and lack the address; False where these are of a namespace that
    no output names.
    """
    owners = dict((*_list_commented_ports(case.node), *_list_node_ports(case)))
    shown = [one for one in see(case, "Endpoints") if not is_cut(one)] if owners else []
    listed = {(one.namespace, one.name): _list_addresses(one) for one in shown}
    for entry in TrackedEntries.of(case.node.host.conntrack.items).rewritten if listed else ():
        original, old = entry.original, entry.reply.src
        space, name = owners.get((original.protocol, original.dport), ("", ""))
        own = listed.get((space, name))
        living, unready = own or listed.get(("", name)) or (frozenset(), frozenset())
        if living and old not in {*living, *unready, original.dst}:
            yield entry, living, own is not None


def _list_addresses(
    endpoints: ObjectSightings,
) -> tuple[frozenset[Address], frozenset[Address]]:
    """Return the addresses that are ready, and those that are not."""
    ready, unready = list_places(endpoints), list_places(endpoints, "notReadyAddresses")
    return frozenset(each for each, _ in ready), frozenset(each for each, _ in unready)


def _list_node_ports(case: Case) -> Iterator[tuple[_Port, _Owner]]:
    for service in see(case, "Service"):
        for port in service.items_at("spec", "ports"):
            protocol = (port.text_at("protocol") or "TCP").lower()
            number = port.text_at("nodePort")
            if number.isdecimal() and protocol in protocols.NUMBERS:
                yield (protocols.NUMBERS[protocol], int(number)), (service.namespace, service.name)


def _list_commented_ports(node: Node) -> Iterator[tuple[_Port, _Owner]]:
    """Yield the node ports of kube-proxy's rules, each with the service that its comment names."""
    for family in (4, 6):
        for rule in chain.from_iterable(map(known_rules, find_tables(node.host, "nat", family))):
            into = rule.target.name if rule.target is not None else ""
            named = " ".join(option_values(rule, "comment", "comment")).rpartition(":")[0]
            space, _, name = named.partition("/")
            protocol = rule.protocol.number if rule.protocol is not None else 0
            ports = option_values(rule, protocols.protocol_name(protocol), "dport")
            if rule.dst is None and into.startswith(_SERVED) and name and " " not in name:
                yield from (((protocol, int(port)), (space, name)) for port in ports)


def _forget_port(entry: ConntrackEntry) -> Repair:
    name = protocols.protocol_name(entry.original.protocol)
    return Repair(
        title="delete the port's entries, so the rules choose an endpoint again",
        commands=(f"conntrack -D -p {name} --orig-port-dst {entry.original.dport}",),
    )


def list_stale(node: Node) -> Iterator[tuple[ConntrackEntry, frozenset[Address]]]:
    """Yield each entry that rewrites to an address that is no endpoint of its service any longer,
    with the endpoints there are.
    """
    known = _NamedEndpoints(node)
    for entry in TrackedEntries.of(node.host.conntrack.items).rewritten:
        living = known.of(entry)
        if living and entry.reply.src not in living:
            yield entry, living


def forget_entries(entry: ConntrackEntry) -> Repair:
    """Return the repair: the service's entries go, so that rules choose an endpoint again."""
    name = protocols.protocol_name(entry.original.protocol)
    return Repair(
        title="delete the service's entries, so the rules choose an endpoint again",
        commands=(f"conntrack -D -p {name} --orig-dst {entry.original.dst}",),
        changes=(DeleteConntrack(netns=HOST, original_dst=str(entry.original.dst)),),
    )


class _NamedEndpoints:
    """The endpoints of services by what is known of them, worked out once for all entries."""

    __slots__ = ("_by_family", "_found", "_node")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._by_family: dict[int, tuple[_NatTargets, ...]] = {}
        self._found: dict[tuple[Address, int, int], frozenset[Address]] = {}

    def of(self, entry: ConntrackEntry) -> frozenset[Address]:
        """Return the endpoints of the service that an entry is about; empty where the evidence
        does not list them all.
        """
        original = entry.original
        service = (original.dst, original.protocol, original.dport)
        if service not in self._found:
            listed = self._find_listed(entry)
            self._found[service] = self._find_targets(original.dst) if listed is None else listed
        return self._found[service]

    def _find_listed(self, entry: ConntrackEntry) -> frozenset[Address] | None:
        """Return the endpoints that a service lists; None where none is about the entry."""
        wanted = (entry.original.protocol, entry.original.dport)
        for service in self._node.services:
            if entry.original.dst in service.addresses:
                for offered in service.ports:
                    if (offered.protocol, offered.port) == wanted and offered.complete:
                        return frozenset(living for living, _ in offered.endpoints)
        return None

    def _find_targets(self, address: Address) -> frozenset[Address]:
        """Return every address that a whole nat table can rewrite to, where a rule of it is about
        the address.
        """
        if address.family not in self._by_family:
            tables = find_tables(self._node.host, "nat", address.family)
            whole = (_list_targets(table) for table in tables if table.complete)
            self._by_family[address.family] = tuple(each for each in whole if each.targets)
        found = self._by_family[address.family]
        return next((each.targets for each in found if address in each.named), frozenset())


class _NatTargets(NamedTuple):
    """What a nat table is about."""

    named: frozenset[Address]
    """Addresses that a rule of it is about, and no other."""
    targets: frozenset[Address]
    """Every address that it can rewrite to."""


def _list_targets(table: Table) -> _NatTargets:
    """Return what a table's rules are about and rewrite to."""
    named = frozenset(
        rule.dst.prefix.address
        for rule in known_rules(table)
        if rule.dst is not None and rule.dst.prefix.length == _HOST_BITS
    )
    return _NatTargets(named, frozenset(address for _, address, _ in dnat_destinations(table)))


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
            ("Rules choose an endpoint only for the first packet; later packets follow the entry."),
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

"""Ports of the host itself that people say cannot be reached, or that were tried in vain, and those
that its overlays need: what the rules of INPUT are held against.

A sentence does not say that its port is the host's own. It is taken for it where nothing speaks
against that: nothing goes out from the host, and no container, guest or service is its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from podpath.checks.firewall import owner_of, port_of, tables_named
from podpath.checks.overlays import OverlayPort, list_cut_between_nodes, list_overlay_ports
from podpath.checks.told import ROUTERS, list_failing
from podpath.checks.topology import listed_addresses
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Circumstance, Complaint, EndKind
from podpath.net.failures import FailureKind
from podpath.net.provenance import Known, Span
from podpath.node.case import Case

HOST_PORTS = frozenset({
    22, 111, 179, 2049, 2377, 2379, 2380, 4240, 5473, 6443, 6783, 7472, 7946, 9099, 9100, 10250,
    10255, 10256, 10257, 10259,
})  # fmt: skip
"""Ports that programs of the host itself serve: ssh, NFS, BGP, etcd, kubelet, and others of a
cluster's nodes.
"""
SERVED = {
    "redis": 6379, "mysql": 3306, "mariadb": 3306, "postgres": 5432, "postgresql": 5432,
    "mongodb": 27017, "elasticsearch": 9200, "grafana": 3000, "prometheus": 9090, "kibana": 5601,
    "rabbitmq": 5672, "memcached": 11211, "nfs": 2049, "etcd": 2379, "kubelet": 10250, "https": 443,
    "smtp": 25, "vnc": 5900, "samba": 445, "mqtt": 1883, "mosquitto": 1883, "cassandra": 9042,
    "zookeeper": 2181, "kafka": 9092, "apiserver": 6443, "influxdb": 8086, "cups": 631,
    "node-exporter": 9100, "node_exporter": 9100, "cadvisor": 8080, "metrics-server": 4443,
}  # fmt: skip
"""The ports of programs that people name in place of a port."""
_ASKING = frozenset({"prometheus", "grafana", "kibana"})
"""Programs that ask others, where a sentence names another one beside."""
_PODS = frozenset({EndKind.POD, EndKind.CONTAINER})
_TARGETS = frozenset({None, EndKind.NODE, EndKind.OUTSIDE, EndKind.GUEST, EndKind.API_SERVER})
"""Whom a sentence calls the host itself: clients elsewhere call it the outside."""


_OF_ANOTHER = frozenset({"join", "joins", "joining", "second", "another"})
"""Words of a sentence whose machine is another one than that whose rules are shown."""
LOGS = frozenset({"log", "container log"})
"""Who tried, where a program's log tells it."""


class AskedPort(NamedTuple):
    """A port that fails."""

    port: int
    protocol: int
    failure: FailureKind | None
    span: Span
    own: bool
    """True where nothing says that it may be another host's, or one that is forwarded, and it was
    tried now: a line of a log tells of its own moment.
    """
    loopback: bool = False
    """True where it was tried at an address of loopback."""
    needed_by: OverlayPort | None = None
    """The overlay whose packets come in by it, where nobody names the port."""
    sources: tuple[Address, ...] = ()
    """Who is said to ask for it; empty where nobody says."""


def list_asked_ports(case: Case) -> Iterator[AskedPort]:
    """Yield the ports that may be the host's own, those of sentences first."""
    for complaint in list_failing(case):
        if not _is_elsewhere(complaint):
            yield from _list_of(case, complaint)
    tried: list[tuple[Address | None, int, object, Span]] = [
        (one.probe.dst, one.probe.dport, one.result, one.span)
        for one in case.attempts
        if one.is_bad and one.probe.protocol == protocols.TCP
    ]
    logged = {one.span for one in case.attempts if one.who in LOGS}
    logged |= {one.span for one in case.unplaced if one.who in LOGS}
    tried += [(one.dst, one.dport, one.result, one.span) for one in case.unplaced if one.dst]
    for address, port, result, span in tried:
        own = address in listed_addresses(case.node)
        if port and (own or (port in HOST_PORTS and not listed_addresses(case.node))):
            failure = result if isinstance(result, FailureKind) else None
            now = own and span not in logged
            loopback = address is not None and address.is_loopback
            yield AskedPort(port, protocols.TCP, failure, span, now, loopback)
    yield from _list_of_overlays(case)


def _list_of_overlays(case: Case) -> Iterator[AskedPort]:
    """Yield the ports by which other nodes' packets come in, where workloads on different nodes do
    not reach each other.
    """
    for complaint in list_cut_between_nodes(case)[:1]:
        for needed in list_overlay_ports(case):
            own = needed.stated
            yield AskedPort(
                needed.port, needed.protocol, None, complaint.span, own=own, needed_by=needed
            )


def _is_elsewhere(complaint: Complaint) -> bool:
    """Tell whether what fails does not come to this host's INPUT from outside."""
    if Circumstance.OUTGOING in complaint.circumstances or complaint.target not in _TARGETS:
        return True
    another = not complaint.spoken.isdisjoint(_OF_ANOTHER) or complaint.same_node is False
    near = complaint.source is EndKind.NODE and not another
    return (near or complaint.source in _PODS) and complaint.target is not EndKind.NODE


def _is_from_elsewhere(complaint: Complaint) -> bool:
    """Tell whether a sentence says that who connects is elsewhere: what this host cannot reach is
    worded alike.
    """
    return complaint.source is EndKind.OUTSIDE


def _list_of(case: Case, complaint: Complaint) -> Iterator[AskedPort]:
    known = listed_addresses(case.node)
    named = [one for one in complaint.addresses if one not in complaint.sources]
    if known and named and not known & set(named):
        return
    for port in complaint.ports or _list_served(complaint):
        forwarded = bool(ROUTERS & case.mentions) and port not in HOST_PORTS
        named_own = bool(known & set(named)) if named else not complaint.names
        told = bool(known & set(named)) or _is_from_elsewhere(complaint)
        told = told or _listens(case, port)
        own = named_own and told and not forwarded and not _is_published(case)
        yield AskedPort(
            port,
            complaint.protocol or protocols.TCP,
            complaint.failure,
            complaint.span,
            own,
            sources=complaint.sources,
        )


def _list_served(complaint: Complaint) -> tuple[int, ...]:
    """Return the port of the one program that a sentence names."""
    words = complaint.spoken & SERVED.keys()
    if len(words) > 1:
        words -= _ASKING
    named = dict.fromkeys(SERVED[word] for word in sorted(words))
    return tuple(named) if len(named) == 1 else ()


def _listens(case: Case, port: int) -> bool:
    """Tell whether an output shows a program of the host itself that others reach on a port."""
    return any(
        one.port == port
        and one.state == "LISTEN"
        and one.span is not None
        and not (one.local is not None and one.local.is_loopback)
        for one in case.node.host.sockets.items
    )


def _is_published(case: Case) -> bool:
    """Tell whether a sentence says that ports are published, or speaks of what runs in a
    container.
    """
    published = any(told.circumstance is Circumstance.PUBLISHES for told in case.told)
    ends = {end for one in list_failing(case) for end in (one.source, one.target)}
    return published or bool(ends & {*_PODS, EndKind.NODE_PORT, EndKind.SERVICE})


def holds_port(spelled: str, port: int) -> bool:
    """Tell whether a port is among those that a rule names; names of ports may be any."""
    for part in spelled.split(","):
        low, _, high = part.replace("-", ":").partition(":")
        if not low.isdecimal():
            return True
        if int(low) <= port <= int(high if high.isdecimal() else low):
            return True
    return False


def is_translated(case: Case, port: int) -> bool:
    """Tell whether a rule of nat, or a chain of an engine's, may lead the port past INPUT."""
    for table in tables_named(case.node.host, "nat"):
        for fact in table.chains.values():
            rules = fact.value.rules if isinstance(fact, Known) else ()
            if any(holds_port(port_of(rule), port) for rule in rules if port_of(rule)):
                return True
    filters = (table for table in tables_named(case.node.host, "filter"))
    return any(
        owner_of(rule) in {"Docker", "Podman", "kube-proxy or kubelet"}
        for table in filters
        for fact in table.chains.values()
        if isinstance(fact, Known)
        for rule in fact.value.rules
    )

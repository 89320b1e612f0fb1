"""Complaints as connections: who cannot reach whom, with ends that the evidence shows.

Prose says what to ask and states nothing, so a complaint becomes a probe and no more. Ends that it
names are looked up among pods, services, nodes and addresses; ends that it only describes ("from
the node", "another pod", "the name server") are taken from the evidence, and each choice is kept,
so that the answer can say what was asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import NamedTuple

from podpath.checks.explains import SHARP
from podpath.diagnosis.flows import OUTSIDE, host_address
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.complaints import Complaint, EndKind
from podpath.net.failures import NAMES, FailureKind
from podpath.net.probe import Probe
from podpath.net.provenance import Span
from podpath.node.case import Case
from podpath.node.node import HOST, Netns, NetnsRole, Node, Service, ServicePort

_CARD = r"\b(?:eth\d|en[opsx]\w+|wl\w+|ppp\d|bond\d|br\d?)\b[^\w.]{{1,4}}{}(?![\w.]*\d)"
"""A device's name with its address behind it."""
MOST = 6
"""Connections that are asked about: who complains says the same again."""
DNS_PORT, API_PORT = 53, 443
API = ("default", "kubernetes")
"""The namespace and the name of the API server's service."""
_NO_PATH = frozenset({
    FailureKind.NOT_STARTED, FailureKind.NO_ADDRESS, FailureKind.ERROR_ANSWER,
    FailureKind.WRONG_PEER, FailureKind.SLOW, FailureKind.NAME_UNKNOWN,
    FailureKind.NAME_SERVER_FAILS,
})  # fmt: skip
"""Failures of which no walk of a connection tells."""
_TOLD = SHARP | {FailureKind.TIMEOUT, FailureKind.RESET}
"""Failures that people name as the kernel does: "it hangs" may be any silence."""


class Side(Enum):
    """A part of a connection."""

    SOURCE = "source"
    TARGET = "target"
    PORT = "port"


class ChosenBy(Enum):
    """How a part was found."""

    NAMED = "the complaint names it"
    ONLY = "the only one of its kind in the evidence"
    FIRST = "the first of several in the evidence"
    USUAL = "the usual choice where nothing is said"


class Choice(NamedTuple):
    """A part of a connection, and how it was found."""

    side: Side
    value: str
    how: ChosenBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Complained:
    """A connection that prose complains of."""

    probe: Probe
    kind: FailureKind | None
    """How people say that it fails; None where they do not, or vaguely."""
    span: Span
    choices: tuple[Choice, ...]

    @property
    def is_meant(self) -> bool:
        """Tell whether both ends are the ones that the complaint means: they are named, or there is
        no other of their sort.
        """
        return all(
            choice.how in {ChosenBy.NAMED, ChosenBy.ONLY}
            for choice in self.choices
            if choice.side is not Side.PORT
        )


class _Found(NamedTuple):
    address: Address
    how: ChosenBy
    name: str = ""
    netns: str | None = None
    port: ServicePort | None = None


def place_complaints(case: Case) -> tuple[Complained, ...]:
    """Return the connections that the prose complains of, as far as the evidence has their ends;
    each once.
    """
    failing = (one for one in case.complaints if not one.works and not _is_others(case, one))
    placed = (_place(case.node, complaint) for complaint in failing)
    found = {one.probe: one for one in placed if one is not None}
    return tuple(islice(found.values(), MOST))


def _is_others(case: Case, complaint: Complaint) -> bool:
    """Tell whether a complaint that does not say who connects is not about the host: it is said to
    reach the same.
    """
    works = any(
        one.works and one.source is EndKind.NODE and one.target is complaint.target
        for one in case.complaints
    )
    return complaint.source is None and complaint.target is EndKind.OUTSIDE and works


def _place(node: Node, complaint: Complaint) -> Complained | None:
    if complaint.failure in _NO_PATH:
        return None
    target = next(_targets(node, complaint), None)
    source = next(
        (
            one
            for one in _sources(node, complaint)
            if target is None or one.address != target.address
        ),
        None,
    )
    if target is None or source is None or source.address.family != target.address.family:
        return None
    if complaint.same_node is False and _are_here(node, source, target):
        return None
    if source.how is target.how is ChosenBy.NAMED and _are_one_hosts(
        node, complaint, (source, target)
    ):
        return None
    protocol, port, how = _find_port(complaint, target)
    probe = Probe(protocol, source.address, target.address, dport=port, netns=source.netns)
    choices = (
        Choice(Side.SOURCE, source.name or str(source.address), source.how),
        Choice(Side.TARGET, target.name or str(target.address), target.how),
        *((Choice(Side.PORT, str(port), how),) if port else ()),
    )
    kind = complaint.failure if complaint.failure in _TOLD else None
    return Complained(probe=probe, kind=kind, span=complaint.span, choices=choices)


def _are_here(node: Node, source: _Found, target: _Found) -> bool:
    """Tell whether both ends were chosen among the pods of the one node that is shown."""
    chosen = [one for one in (source, target) if one.how is not ChosenBy.NAMED]
    holders = {source.netns, target.netns or node.find_holder(target.address)}
    return len(chosen) == 2 and holders.isdisjoint({None, HOST})


def _are_one_hosts(node: Node, complaint: Complaint, ends: Sequence[_Found]) -> bool:
    """Tell whether both addresses are the host's own, by outputs or by a sentence that names its
    devices with them: it speaks of what passes between the two.
    """
    held = all(node.find_holder(one.address) == HOST for one in ends)
    text = complaint.span.text
    return held or all(re.search(_CARD.format(re.escape(str(one.address))), text) for one in ends)


def _find_port(complaint: Complaint, target: _Found) -> tuple[int, int, ChosenBy]:
    """Return the protocol and the port that a complaint is about."""
    if complaint.protocol in {protocols.ICMP, protocols.ICMPV6}:
        return protocols.ICMP if target.address.family == 4 else protocols.ICMPV6, 0, ChosenBy.NAMED
    if complaint.ports:
        return complaint.protocol or protocols.TCP, complaint.ports[0], ChosenBy.NAMED
    if target.port is not None:
        return target.port.protocol, target.port.port, ChosenBy.ONLY
    if complaint.target is EndKind.NAME_SERVER or _is_of_names(complaint):
        return protocols.UDP, DNS_PORT, ChosenBy.USUAL
    return (
        complaint.protocol or protocols.TCP,
        API_PORT if complaint.target is EndKind.API_SERVER else 80,
        ChosenBy.USUAL,
    )


def _targets(node: Node, complaint: Complaint) -> Iterator[_Found]:
    """Yield whom the complaint is about, named ones first."""
    to = [address for address in complaint.addresses if address not in complaint.sources]
    for address in to:
        yield _Found(address, ChosenBy.NAMED, port=_service_port(node, address, complaint))
    services = [
        service
        for service in node.services
        if service.addresses and _names(complaint, service.name, service.namespace)
    ]
    yield from (_of_service(service, ChosenBy.NAMED, complaint) for service in services)
    if complaint.target is not EndKind.SERVICE and not _is_of_names(complaint):
        named = [
            pod
            for pod in _pods(node)
            if _names(complaint, pod.name, "")
            and complaint.target in {EndKind.POD, EndKind.CONTAINER}
        ]
        yield from named[-1:]
    yield from _described(node, complaint)


def _is_of_names(complaint: Complaint) -> bool:
    """Tell whether it says that names are not resolved: then the name server is whom it cannot
    reach.
    """
    return complaint.failure in NAMES | {FailureKind.NAME_NOT_RESOLVED}


def _serves_names(service: Service) -> bool:
    return any(port.port == DNS_PORT for port in service.ports)


def _described(node: Node, complaint: Complaint) -> Iterator[_Found]:
    """Yield what a complaint only describes: the name server, another pod, the node, the world."""
    target = complaint.target
    if target is EndKind.NAME_SERVER or _is_of_names(complaint):
        yield from _services(complaint, [one for one in node.services if _serves_names(one)])
    elif target is EndKind.API_SERVER:
        yield from _services(
            complaint, [one for one in node.services if (one.namespace, one.name) == API]
        )
    elif target is EndKind.SERVICE:
        own = [
            one
            for one in node.services
            if one.namespace != "kube-system" and (one.namespace, one.name) != API
        ]
        yield from _services(complaint, own or list(node.services))
    elif target in {EndKind.POD, EndKind.CONTAINER}:
        pods = _counted(list(_pods(node)))
        yield from reversed(pods)
    elif target is EndKind.NODE:
        yield from _hosts(node)
    elif target is EndKind.OUTSIDE:
        yield _Found(OUTSIDE, ChosenBy.USUAL, "an address on the Internet")


def _sources(node: Node, complaint: Complaint) -> Iterator[_Found]:
    """Yield who complains, named ones first; where nobody is said to, it is a pod, or else the
    host.
    """
    for address in complaint.sources:
        yield _Found(address, ChosenBy.NAMED, netns=node.find_holder(address))
    pods = list(_pods(node))
    if complaint.source is not EndKind.NODE:
        yield from (
            pod._replace(how=ChosenBy.NAMED) for pod in pods if _names(complaint, pod.name, "")
        )
    if complaint.source in {EndKind.NODE, EndKind.GUEST}:
        yield from _hosts(node)
        return
    if complaint.source is EndKind.OUTSIDE:
        return
    counted = _counted(pods)
    yield from (
        counted
        if complaint.source in {EndKind.POD, EndKind.CONTAINER}
        else (pod._replace(how=ChosenBy.FIRST) for pod in counted)
    )
    if complaint.source is None:
        yield from (host._replace(how=ChosenBy.USUAL) for host in _hosts(node))


def _counted(pods: Sequence[_Found]) -> list[_Found]:
    return [pod._replace(how=ChosenBy.ONLY if len(pods) == 1 else ChosenBy.FIRST) for pod in pods]


def _pods(node: Node) -> Iterator[_Found]:
    """Yield the pods whose namespace the evidence shows, by the names that it has for them."""
    names = {pod.address: pod.name for pod in node.pods if pod.address is not None}
    for name, netns in node.namespaces.items():
        address = _address(netns)
        if name != HOST and netns.role == NetnsRole.POD and address is not None:
            yield _Found(address, ChosenBy.FIRST, names.get(address, name), name)


def _address(netns: Netns) -> Address | None:
    usable = (
        item.address
        for item in netns.addresses.items
        if item.scope == "global" and not item.address.is_loopback
    )
    return next(usable, None)


def _hosts(node: Node) -> Iterator[_Found]:
    address = host_address(node)
    if address is not None:
        yield _Found(address, ChosenBy.ONLY, "the node", HOST)


def _services(complaint: Complaint, services: Sequence[Service]) -> Iterator[_Found]:
    how = ChosenBy.ONLY if len(services) == 1 else ChosenBy.FIRST
    yield from (_of_service(service, how, complaint) for service in services if service.addresses)


def _of_service(service: Service, how: ChosenBy, complaint: Complaint) -> _Found:
    return _Found(
        service.addresses[0],
        how,
        f"svc/{service.namespace}/{service.name}",
        port=_port_of(service, complaint),
    )


def _service_port(node: Node, address: Address, complaint: Complaint) -> ServicePort | None:
    service = next((service for service in node.services if address in service.addresses), None)
    return _port_of(service, complaint) if service is not None else None


def _port_of(service: Service, complaint: Complaint) -> ServicePort | None:
    """Return the port of a service that a complaint means: of the protocol that it names, else the
    first.
    """
    wanted = [port for port in service.ports if complaint.protocol in {None, port.protocol}]
    return next(iter(wanted or service.ports), None)


def _names(complaint: Complaint, name: str, namespace: str) -> bool:
    """Tell whether a complaint names a thing: by its name as a word, or as `name.namespace`."""
    spelled = {name, f"{name}.{namespace}"} if namespace else {name}
    dotted = {".".join(one.split(".")[:2]) for one in complaint.names}
    return bool(spelled & (dotted | complaint.words))

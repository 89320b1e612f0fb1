"""What the page offers to choose from: the ends of a node by name, the connections that failed in
its evidence, and its sysctls.

A name in the evidence may be anything. It is offered shortened and with everything spelled out that
is not plainly visible, and it stands for an address: no name is ever part of a probe's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict

from podpath.library.case import Case
from podpath.library.given import place_probes
from podpath.net import protocols
from podpath.net.addresses import Address
from podpath.net.errors import UsageError
from podpath.net.packet import endpoint
from podpath.net.probe import Probe
from podpath.net.provenance import Known
from podpath.node.node import Netns, NetnsRole, Node
from podpath_ui.bounds import LISTED, NAME, TRIED, shorten

_PING = (protocols.ICMP, protocols.ICMPV6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEnd:
    """One end that may be chosen."""

    group: str
    """What kind it is, as the page heads its list."""
    label: str
    """What the page shows and sends; no two ends share one."""
    address: Address
    port: int = 0
    """A service's port; 0 where the asker says it."""
    protocol: int = 0
    """The protocol of that port; 0 where the asker says it."""
    netns: str | None = None
    """Where it is; None where that is not known."""
    is_source: bool = True
    """False for what cannot begin a connection."""


class AskedEnds(TypedDict):
    """Who is to reach whom, as the page says it."""

    source: str
    target: str
    protocol: str
    port: str
    options: str
    """Words of a probe behind its ends: `size 1400 df`."""


class OfferedEnd(TypedDict):
    """An end as the page lists it."""

    group: str
    label: str
    address: str
    port: int
    protocol: str
    is_source: bool


def list_ends(case: Case) -> tuple[ListedEnd, ...]:
    """Return the ends of the case's node: pods, services, namespaces and addresses."""
    node = case.node
    listed = (
        *_list_pods(node),
        *_list_services(node),
        *_list_namespaces(node),
        *_list_tried(case),
    )
    ends: dict[str, ListedEnd] = {}
    for end in listed:
        ends.setdefault(end.label, end)
    return tuple(ends.values())


def _list_pods(node: Node) -> Iterator[ListedEnd]:
    for pod in sorted(node.pods, key=lambda one: (one.namespace, one.name)):
        label = shorten(f"pod/{pod.namespace}/{pod.name}")
        if pod.address is not None:
            netns = pod.netns or node.find_holder(pod.address, pods_only=True)
            yield ListedEnd(group="Pods", label=label, address=pod.address, netns=netns)
            continue
        inside = node.namespaces.get(pod.netns or "")
        for address in _own_addresses(inside)[:1] if inside is not None else ():
            yield ListedEnd(group="Pods", label=label, address=address, netns=pod.netns)


def _list_services(node: Node) -> Iterator[ListedEnd]:
    for service in sorted(node.services, key=lambda one: (one.namespace, one.name)):
        for port in service.ports if service.addresses else ():
            spoken = protocols.protocol_name(port.protocol)
            named = f" {port.name}" if port.name else ""
            yield ListedEnd(
                group="Services",
                label=shorten(
                    f"svc/{service.namespace}/{service.name}:{port.port} ({spoken}{named})"
                ),
                address=service.addresses[0],
                port=port.port,
                protocol=port.protocol,
                is_source=False,
            )


def _list_namespaces(node: Node) -> Iterator[ListedEnd]:
    held = {pod.netns for pod in node.pods}
    for name, netns in node.namespaces.items():
        addresses = _own_addresses(netns)
        if netns.role is NetnsRole.HOST:
            for number, address in enumerate(addresses):
                label = f"node, {address}" if number else "node"
                yield ListedEnd(group="Namespaces", label=label, address=address, netns=name)
        elif name not in held:
            for address in addresses[:1]:
                label = shorten(f"netns/{name}")
                yield ListedEnd(group="Namespaces", label=label, address=address, netns=name)


def _own_addresses(netns: Netns) -> Sequence[Address]:
    items = netns.addresses.items
    return [one.address for one in items if one.scope == "global" and not one.address.is_loopback]


def _list_tried(case: Case) -> Iterator[ListedEnd]:
    """Yield the addresses that the evidence shows somebody to speak to and that none of the above
    has.
    """
    held = {one.address for netns in case.node.namespaces.values() for one in netns.addresses.items}
    for attempt in case.facts.attempts:
        for address in (attempt.probe.dst, attempt.probe.src):
            if address not in held:
                yield ListedEnd(group="Addresses", label=str(address), address=address)


def offer_ends(ends: Iterable[ListedEnd]) -> list[OfferedEnd]:
    """Return ends as the page lists them."""
    return [
        OfferedEnd(
            group=end.group,
            label=end.label,
            address=str(end.address),
            port=end.port,
            protocol=protocols.protocol_name(end.protocol) if end.protocol else "",
            is_source=end.is_source,
        )
        for end in tuple(ends)[:LISTED]
    ]


def offer_tried(case: Case, ends: Sequence[ListedEnd]) -> list[AskedEnds]:
    """Return the connections that failed in the evidence, as the page's form says them."""
    labels: dict[Address, str] = {}
    for end in ends:
        if not end.port:
            labels.setdefault(end.address, end.label)
    failed = dict.fromkeys(one.probe for one in case.facts.attempts if one.failed)
    return [
        AskedEnds(
            source=labels.get(probe.src, str(probe.src)),
            target=labels.get(probe.dst, str(probe.dst)),
            protocol="icmp" if probe.protocol in _PING else protocols.protocol_name(probe.protocol),
            port=str(probe.dport or ""),
            options="",
        )
        for probe in tuple(failed)[:TRIED]
    ]


def offer_sysctls(node: Node) -> dict[str, dict[str, str]]:
    """Return the sysctls that the evidence states, by namespace."""
    return {shorten(name): dict(_list_sysctls(netns)) for name, netns in node.namespaces.items()}


def _list_sysctls(netns: Netns) -> Iterator[tuple[str, str]]:
    stated = ((key, fact.value) for key, fact in netns.sysctls.items() if isinstance(fact, Known))
    for key, value in sorted(stated)[:LISTED]:
        if len(key) <= NAME:
            yield shorten(key), shorten(value)


def place_ends(asked: AskedEnds, case: Case, ends: Sequence[ListedEnd]) -> Probe:
    """Return the probe of a connection whose ends were chosen or typed; `UsageError` says what is
    missing.
    """
    named = {end.label: end for end in ends}
    source, target = named.get(asked["source"].strip()), named.get(asked["target"].strip())
    start = str(source.address) if source is not None else _read_typed(asked["source"], "From")
    port = _read_port(asked["port"], target)
    if target is not None:
        stop = endpoint(target.address, port) if port else str(target.address)
    else:
        stop = _read_typed(asked["target"], "To")
        stop = _add_port(stop, port)
    protocol = asked["protocol"]
    if target is not None and target.protocol and protocol != "icmp":
        protocol = protocols.protocol_name(target.protocol)
    if protocol not in {"tcp", "udp", "icmp"}:
        raise UsageError(f"expected tcp, udp or icmp, saw {shorten(protocol)!r}")
    text = f"{protocol} {start} > {stop} {asked['options']}".strip()
    (probe,) = place_probes((text,), case.node)
    if probe.netns is None and probe.in_dev is None and source is not None:
        return probe._replace(netns=source.netns)
    return probe


def _read_typed(text: str, field: str) -> str:
    words = text.split()
    if len(words) != 1:
        saw = f"{shorten(text)!r}" if words else "nothing"
        raise UsageError(f"{field}: expected an end of the list or an address, saw {saw}")
    return words[0]


def _read_port(text: str, target: ListedEnd | None) -> int:
    if target is not None and target.port:
        return target.port
    stripped = text.strip()
    if not stripped:
        return 0
    if not (stripped.isascii() and stripped.isdigit() and 0 < int(stripped[:6]) < 1 << 16):
        raise UsageError(f"Port: expected a number from 1 to 65535, saw {shorten(stripped)!r}")
    return int(stripped)


def _add_port(typed: str, port: int) -> str:
    """Return a typed end with the port of the form, where it is an address that says none."""
    if not port:
        return typed
    try:
        return endpoint(Address.parse(typed), port)
    except ValueError:
        named = typed.startswith(("pod/", "netns/", "node/", "svc/")) or typed == "host"
        return f"{typed}:{port}" if named and ":" not in typed else typed

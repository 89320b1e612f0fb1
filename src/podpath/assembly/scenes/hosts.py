"""Evidence of several nodes told apart: bundles of different nodes, and outputs typed at the
prompts of different hosts.

Two prompts name different nodes only where their outputs cannot be of one: a device has other
addresses here than there. A host name that is a pod's, or whose address the other host reaches by a
device of its own, is a pod's on that host.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from podpath.assembly.scenes.labels import StateLikelihood
from podpath.assembly.scenes.scene import ReadSource, host_of_prompt, set_scene
from podpath.evidence.kubernetes.records import PodRecord
from podpath.evidence.node_records import (
    AddressRecord,
    BundleRecord,
    LinkRecord,
    RouteRecord,
    SysctlRecord,
)
from podpath.evidence.records import Reading
from podpath.net.addresses import Address, Prefix
from podpath.net.provenance import Source
from podpath.node.node import HOST

Read = tuple[Source, Reading]


class HostEvidence(NamedTuple):
    """What was read of one node, and what does not say of which it is."""

    name: str
    """The node's name as prompts or its bundle have it; empty where all evidence is of one node."""
    read: tuple[Read, ...]


@dataclass(slots=True)
class _Host:
    """What tells a host from others. Mutable while it is gathered."""

    outputs: int = 0
    bundle: bool = False
    addresses: dict[str, set[Address]] = field(default_factory=dict)
    """By device."""
    uplinks: set[str] = field(default_factory=set)
    """The devices of its default routes."""
    onlink: list[tuple[Prefix, str]] = field(default_factory=list)
    """What it reaches without a gateway, and by which device."""

    @property
    def own(self) -> list[Address]:
        """Return its addresses, of all devices."""
        return [address for some in self.addresses.values() for address in some]

    @property
    def signature(self) -> object:
        """Return what is compared of it: hosts with the same one need not be compared twice."""
        return self.bundle, frozenset(
            (device, frozenset(addresses)) for device, addresses in self.addresses.items()
        )


def part_by_host(read: Sequence[Read]) -> tuple[HostEvidence, ...]:
    """Return the evidence of each node, the one that most outputs are of first; what names no host
    goes to all of them.
    """
    scenes = [set_scene(source, reading, number) for number, (source, reading) in enumerate(read)]
    owners = [*_name_owners(scenes)]
    hosts = _gather(scenes, owners)
    pods = {*_named_pods(scenes, hosts), *_reached_pods(hosts)}
    nodes = [name for name in hosts if name not in pods]
    groups = _group({name: hosts[name] for name in nodes})
    placed = [_place(each, owner, pods) for each, owner in zip(read, owners, strict=True)]
    if len(groups) < 2:
        return (HostEvidence("", tuple(placed)),)
    grouped = {name for group in groups for name in group}
    merged = [_merge(hosts, group) for group in groups]
    shown = [
        _list_fitting(scene, merged) if owner is None else range(len(groups))
        for scene, owner in zip(scenes, owners, strict=True)
    ]
    evidence: list[HostEvidence] = []
    for place, group in enumerate(groups):
        others = grouped.difference(group)
        read_of = zip(placed, owners, shown, strict=True)
        own = (each for each, owner, fits in read_of if owner not in others and place in fits)
        evidence.append(HostEvidence(group[0], tuple(own)))
    return tuple(evidence)


def _merge(hosts: Mapping[str, _Host], group: Sequence[str]) -> _Host:
    """Return what tells a node from others, of all its names."""
    merged = _Host()
    for name in group:
        for device, addresses in hosts[name].addresses.items():
            merged.addresses.setdefault(device, set()).update(addresses)
    return merged


def _list_fitting(scene: ReadSource, hosts: Sequence[_Host]) -> Collection[int]:
    """Return which of the nodes an output may be of that names none: those that share most with
    it, of their devices' addresses and networks; all where it shares nothing.
    """
    output = _Host()
    for record in scene.reading.records if scene.netns == HOST else ():
        _note(output, record)
    shared = [_count_shared(output, host) for host in hosts]
    most = max(shared)
    return [place for place, count in enumerate(shared) if count == most]


def _count_shared(output: _Host, host: _Host) -> int:
    """Count the addresses of devices, and the networks around them, that both show; none where the
    output cannot be of the host.
    """
    if _differ(output, host):
        return 0
    alike = sum(
        len(addresses & output.addresses.get(device, set()))
        for device, addresses in host.addresses.items()
    )
    return alike + sum(
        any(map(prefix.covers, host.addresses.get(device, ()))) for prefix, device in output.onlink
    )


def _name_owners(scenes: Sequence[ReadSource]) -> Iterator[str | None]:
    """Name the host of each source: by its bundle, or by its prompt; what is said to be good is
    compared, not parted.
    """
    bundles: dict[str, str] = {}
    for scene in scenes:
        root, slash, _ = scene.source.name.rpartition("/")
        for record in scene.reading.records:
            if isinstance(record, BundleRecord) and record.node and slash:
                bundles[root] = record.node
    for scene in scenes:
        if scene.source.host is not None:
            yield scene.source.host
            continue
        within = next((root for root in bundles if scene.source.name.startswith(f"{root}/")), None)
        if within is not None:
            yield bundles[within]
        else:
            yield host_of_prompt(scene) if scene.standing <= StateLikelihood.AFTER else None


def _gather(scenes: Sequence[ReadSource], owners: Sequence[str | None]) -> dict[str, _Host]:
    """Gather what tells hosts apart, of those that show it."""
    hosts: dict[str, _Host] = {}
    for scene, owner in zip(scenes, owners, strict=True):
        if owner is None:
            continue
        host = hosts.setdefault(owner, _Host())
        host.outputs += 1
        host.bundle = host.bundle or (
            scene.source.host is not None and _states_a_node(scene.reading)
        )
        for record in scene.reading.records if scene.netns == HOST else ():
            host.bundle = host.bundle or isinstance(record, BundleRecord)
            _note(host, record)
    ordered = sorted(hosts, key=lambda name: -hosts[name].outputs)
    return {name: hosts[name] for name in ordered if hosts[name].addresses or hosts[name].bundle}


def _states_a_node(reading: Reading) -> bool:
    """Tell whether an output states facts of its node: a log does not, and makes no node by
    itself.
    """
    return any(
        isinstance(record, LinkRecord | AddressRecord | RouteRecord | SysctlRecord)
        for record in reading.records
    )


def _note(host: _Host, record: object) -> None:
    if isinstance(record, AddressRecord) and record.link is not None and _tells(record.address):
        host.addresses.setdefault(record.link, set()).add(record.address)
    elif isinstance(record, RouteRecord):
        for hop in record.nexthops:
            if hop.link is None:
                continue
            if record.prefix.length == 0:
                host.uplinks.add(hop.link)
            elif hop.gateway is None:
                host.onlink.append((record.prefix, hop.link))
                if (
                    record.prefsrc is not None
                    and _tells(record.prefsrc)
                    and record.protocol == "kernel"
                ):
                    host.addresses.setdefault(hop.link, set()).add(record.prefsrc)


def _tells(address: Address) -> bool:
    """Tell whether an address tells one host from another."""
    return not (address.is_loopback or address.is_link_local)


def _named_pods(scenes: Sequence[ReadSource], hosts: Mapping[str, _Host]) -> Iterator[str]:
    """Yield the host names that are pods' names."""
    for scene in scenes:
        for record in scene.reading.records:
            if isinstance(record, PodRecord) and record.name in hosts and record.name is not None:
                yield record.name


def _reached_pods(hosts: Mapping[str, _Host]) -> Iterator[str]:
    """Yield the hosts whose every address another one reaches by a device that is not its
    uplink.
    """
    reaching = _index_prefixes(hosts)
    lengths = sorted({(prefix.family, prefix.length) for prefix in reaching})
    owners: dict[Address, set[str]] = {}
    for name, host in hosts.items():
        for address in host.own:
            owners.setdefault(address, set()).add(name)
    for name, host in hosts.items():
        others: set[str] | None = None
        for address in host.own if not host.bundle else ():
            prefixes = (
                Prefix.of(address, length) for family, length in lengths if family == address.family
            )
            found = {other for prefix in prefixes for other in reaching.get(prefix, ())} - owners[
                address
            ]
            others = found if others is None else others & found
            if not others:
                break
        if others:
            yield name


def _index_prefixes(hosts: Mapping[str, _Host]) -> dict[Prefix, list[str]]:
    """Return the hosts that reach a prefix by a device that is not their uplink."""
    reaching: dict[Prefix, list[str]] = {}
    for name, host in hosts.items():
        for prefix, device in host.onlink if host.uplinks else ():
            if device not in host.uplinks:
                reaching.setdefault(prefix, []).append(name)
    return reaching


def _group(hosts: Mapping[str, _Host]) -> list[list[str]]:
    """Put host names together that may be of one node."""
    groups: list[list[str]] = []
    distinct: list[dict[object, _Host]] = []
    having: dict[str, set[int]] = {}
    showing: dict[tuple[str, Address], set[int]] = {}
    for name, host in hosts.items():
        candidates = _fitting(host, len(groups), having, showing)
        place = len(groups)
        for candidate in candidates:
            if not any(_differ(host, other) for other in distinct[candidate].values()):
                place = candidate
                break
        if place == len(groups):
            groups.append([])
            distinct.append({})
        groups[place].append(name)
        distinct[place].setdefault(host.signature, host)
        for device, addresses in host.addresses.items():
            having.setdefault(device, set()).add(place)
            for address in addresses:
                showing.setdefault((device, address), set()).add(place)
    return groups


def _fitting(
    host: _Host,
    count: int,
    having: Mapping[str, set[int]],
    showing: Mapping[tuple[str, Address], set[int]],
) -> Iterable[int]:
    """Return the groups that a host may belong to, in order: where all have a device, those with
    its address there.
    """
    fitting: set[int] | None = None
    for device, addresses in host.addresses.items():
        if len(having.get(device, ())) == count:
            alike = {place for address in addresses for place in showing.get((device, address), ())}
            fitting = alike if fitting is None else fitting & alike
    if fitting is None:
        return range(count)
    return sorted(fitting)


def _differ(host: _Host, other: _Host) -> bool:
    """Tell whether two hosts cannot be one: each has its bundle, or a device has nothing but other
    addresses on each.
    """
    if host.bundle and other.bundle:
        return True
    return any(
        addresses.isdisjoint(other.addresses[device])
        for device, addresses in host.addresses.items()
        if device in other.addresses
    )


def _place(each: Read, owner: str | None, pods: set[str]) -> Read:
    """Put what was typed inside of a pod into a namespace of that name."""
    source, reading = each
    if owner in pods and source.netns is None and owner is not None:
        return replace(source, netns=f"pod/?/{owner}"), reading
    return each

"""What is asked about, as sets of headers: sources with their places, destinations, protocols and
ports; and how such sets are spelled.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence

from podpath.flows.flow import FlowSet
from podpath.net import protocols
from podpath.net.addresses import WIDTH, Address, Family, Prefix
from podpath.net.errors import UsageError
from podpath.net.probe import EPHEMERAL, Probe
from podpath.node.node import Netns, NetnsRole, Node
from podpath.node.probe_names import resolve_probe
from podpath_fleet.header_region import HeaderRegion, Ranges, join_ranges
from podpath_fleet.reach_classes import HeaderSpace

MOST_WALKS = 20_000
"""Walks of one set of headers, where nobody says another bound."""
_SOURCE = re.compile(r"(?P<end>\S+)(?P<place>\s+(?:from|in)\s+\S+)?")
_PREFIX = re.compile(r"[0-9A-Fa-f:.]+(?:/\d+)?")
_PORTED_NAME = re.compile(r".+:\d+")
_PORTS = re.compile(r"(\d+)(?:[-:](\d+))?")
_SOMEWHERE: dict[Family, str] = {4: "192.0.2.1:1", 6: "[2001:db8::1]:1"}
"""A destination of each family, for a probe that is made for its source."""
_DRAWN = (32768, 60999)
"""What kernels take source ports of, as they are set up (`net.ipv4.ip_local_port_range`)."""
_SHOWN = 4
"""Prefixes, ranges and parts of a set that a text lists."""


def list_spaces(question: FlowSet, node: Node) -> list[HeaderSpace]:
    """Return a set of headers for each source, family, protocol and kind of target; `UsageError`
    says what cannot be read.
    """
    ports = _parse_ports(question.ports)
    spaces: list[HeaderSpace] = []
    for probe, src in _list_sources(question.sources, node):
        for name in question.protocols:
            spoken = _with_protocol(probe, name)
            spaces += _aim(spoken, src, question.targets, ports, node)
    if not spaces:
        raise UsageError("expected a source and a target of one family, saw none")
    return spaces


def _list_sources(texts: Sequence[str], node: Node) -> Iterator[tuple[Probe, Ranges]]:
    if texts:
        for text in texts:
            yield from _read_source(text, node)
        return
    found = list(_list_pods(node))
    if not found:
        raise UsageError("no pod's address is shown: name a source by --from")
    yield from found


def _list_pods(node: Node) -> Iterator[tuple[Probe, Ranges]]:
    for name, netns in node.namespaces.items():
        for own in _list_own(netns) if _is_pod_here(netns) else ():
            target = "ffff::" if own.family == 6 else "192.0.2.1"
            probe = Probe(protocols.TCP, own, Address.parse(target), netns=name)
            yield probe, ((own.value, own.value),)


def _is_pod_here(netns: Netns) -> bool:
    """Tell whether a namespace is that of a pod, and not on another node that is joined to this."""
    return netns.role == NetnsRole.POD and not netns.node


def has_pods(node: Node) -> bool:
    """Tell whether a node has pods of its own."""
    return any(map(_is_pod_here, node.namespaces.values()))


def _list_own(netns: Netns) -> Iterator[Address]:
    for item in netns.addresses.items:
        if item.scope == "global" and not item.address.is_loopback:
            yield item.address


def list_unaddressed(node: Node) -> list[str]:
    """Return the namespaces of pods whose addresses no output shows: of all pods, they are those
    of which no set of headers is.
    """
    return [
        name
        for name, netns in node.namespaces.items()
        if _is_pod_here(netns) and not netns.addresses.complete and not any(_list_own(netns))
    ]


def _read_source(text: str, node: Node) -> Iterator[tuple[Probe, Ranges]]:
    found = _SOURCE.fullmatch(text.strip())
    if found is None:
        raise UsageError(
            f"expected a source such as pod/shop/web or '10.0.0.0/8 in eth0': {text!r}"
        )
    end, place = found["end"], found["place"] or ""
    if "/" in end and _PREFIX.fullmatch(end):
        prefix = _parse_prefix(end)
        if " in " not in f"{place} ":
            raise UsageError(f"a network sends from outside: expected '{end} in DEV', saw {text!r}")
        probe = Probe.parse(f"tcp {prefix.address} > {_SOMEWHERE[prefix.family]}{place}")
        yield probe, (_bounds(prefix),)
        return
    errors = []
    for family in WIDTH:
        try:
            probe = resolve_probe(f"tcp {end} > {_SOMEWHERE[family]}{place}", node)
        except UsageError as error:
            errors.append(error)
            continue
        yield probe, ((probe.src.value, probe.src.value),)
    if len(errors) == len(WIDTH):
        raise errors[0]


def _with_protocol(probe: Probe, name: str) -> Probe:
    protocol = protocols.NUMBERS[name]
    if protocol == protocols.ICMP and probe.src.family == 6:
        protocol = protocols.ICMPV6
    return probe._replace(protocol=protocol, sport=EPHEMERAL)


def _aim(
    probe: Probe, src: Ranges, targets: Sequence[str], ports: Ranges, node: Node
) -> Iterator[HeaderSpace]:
    """Yield what a source may send to the targets; those of another family are none of its own."""
    family = probe.src.family
    ported = probe.protocol in (protocols.TCP, protocols.UDP)
    sport = (probe.sport, probe.sport)
    dports, sports = (ports, (_DRAWN,)) if ported else (((0, 0),), (sport,))
    networks: list[tuple[int, int]] = [] if targets else [(0, (1 << WIDTH[family]) - 1)]
    for text in targets:
        if _PREFIX.fullmatch(text):
            prefix = _parse_prefix(text)
            networks += [_bounds(prefix)] if prefix.family == family else []
            continue
        dst, port = _resolve_target(probe, text, node)
        if dst.family == family:
            own = ((port, port),) if port and ported else dports
            yield HeaderSpace(probe, HeaderRegion(src, ((dst.value, dst.value),), own, sports))
    if networks:
        yield HeaderSpace(probe, HeaderRegion(src, join_ranges(networks), dports, sports))


def _resolve_target(probe: Probe, text: str, node: Node) -> tuple[Address, int]:
    """Return the address of a name, and its port, 0 where it has none."""
    with_port = _PORTED_NAME.fullmatch(text) is not None
    end = text if with_port else f"{text}:1"
    found = resolve_probe(f"tcp {probe.src} > {end}", node)
    return found.dst, found.dport if with_port else 0


def _parse_prefix(text: str) -> Prefix:
    try:
        return Prefix.parse(text)
    except ValueError as error:
        raise UsageError(f"expected a network or an address, saw {text!r}") from error


def _bounds(prefix: Prefix) -> tuple[int, int]:
    return prefix.network, prefix.network | (1 << WIDTH[prefix.family] - prefix.length) - 1


def _parse_ports(text: str) -> Ranges:
    found = []
    for part in text.split(","):
        match = _PORTS.fullmatch(part.strip())
        if match is None or not 1 <= int(match[1]) <= int(match[2] or match[1]) <= 0xFFFF:
            raise UsageError(f"expected ports such as 80,443,8000-8999, saw {text!r}")
        found.append((int(match[1]), int(match[2] or match[1])))
    return join_ranges(found)


def join_regions(regions: Iterable[HeaderRegion]) -> tuple[HeaderRegion, ...]:
    """Return the same headers in fewer regions: those that differ in their destination alone are
    one, then those that differ in their port alone.
    """
    found = list(regions)
    for name in ("dst", "dport"):
        alike: dict[HeaderRegion, list[tuple[int, int]]] = {}
        for region in found:
            alike.setdefault(region._replace(**{name: ()}), []).extend(getattr(region, name))
        found = [rest._replace(**{name: join_ranges(parts)}) for rest, parts in alike.items()]
    return tuple(sorted(found, key=lambda region: -region.size))


def spell_regions(regions: Sequence[HeaderRegion], space: HeaderSpace) -> list[str]:
    """Spell headers of a space for people: destinations and ports, the widest first."""
    lines = [_spell_region(region, space) for region in regions[:_SHOWN]]
    if len(regions) > _SHOWN:
        lines.append(f"and {len(regions) - _SHOWN:,} more sets of destinations and ports")
    return lines


def _spell_region(region: HeaderRegion, space: HeaderSpace) -> str:
    family = space.sample.src.family
    words = [f"to {_spell_some(spell_networks(region.dst, family))}"]
    if region.dport != ((0, 0),):
        words.append(f"port {_spell_some(spell_ports(region.dport))}")
    if region.sport != space.region.sport:
        words.append(f"source port {_spell_some(spell_ports(region.sport))}")
    if region.src != space.region.src:
        words.append(f"source {_spell_some(spell_networks(region.src, family))}")
    return ", ".join(words)


def _spell_some(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - _SHOWN:,} more" if len(parts) > _SHOWN else ""
    return " ".join(parts[:_SHOWN]) + more


def spell_networks(ranges: Ranges, family: Family) -> list[str]:
    """Spell addresses as the fewest prefixes."""
    kind = ipaddress.IPv4Address if family == 4 else ipaddress.IPv6Address
    found: list[str] = []
    for first, last in ranges:
        for network in ipaddress.summarize_address_range(kind(first), kind(last)):
            whole = network.prefixlen == WIDTH[family]
            found.append(str(network.network_address) if whole else str(network))
    return found


def spell_ports(ranges: Ranges) -> list[str]:
    """Spell ports and ranges of them."""
    return [str(first) if first == last else f"{first}-{last}" for first, last in ranges]

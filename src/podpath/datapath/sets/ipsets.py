"""ipset lookups: every dimension of a set's type, most specific network first, `nomatch`
exceptions, lists of sets.

net/netfilter/ipset/ip_set_core.c:ip_set_test v6.12. Timeouts are not modeled: an element of the
evidence is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from podpath.datapath.sets.elements import (
    ElementInterface,
    ElementKey,
    ElementReading,
    parse_element,
    type_dimensions,
)
from podpath.datapath.tracing.drawn_port import DrawnPort
from podpath.net import protocols
from podpath.net.addresses import WIDTH
from podpath.net.packet import Packet
from podpath.node.netfilter import IpSet
from podpath.xtables.seen import Surroundings

PORTED = frozenset({protocols.TCP, protocols.UDP, protocols.UDPLITE, protocols.SCTP})
LIST = "list:set"
FAMILYLESS = frozenset({"bitmap:port", "hash:mac"})
"""Types that hold no address (NFPROTO_UNSPEC)."""


class _LengthGroup(NamedTuple):
    """Elements of one set that have the same prefix lengths, so that one key finds them."""

    lengths: tuple[int, ...]
    elements: dict[tuple[object, ...], bool]
    """By key: True for a `nomatch` exception."""


class CompiledSet(NamedTuple):
    """A set, ready for lookups."""

    source: IpSet
    dimensions: tuple[str, ...]
    groups: tuple[_LengthGroup, ...]
    """The most specific first."""
    wildcards: tuple[ElementKey, ...]
    """Elements of an interface prefix: they are looked through one by one."""
    whole: bool
    """False where an element was not understood, or the evidence shows only some."""


class Sets:
    """The sets of one namespace and family, compiled when first asked for."""

    __slots__ = ("_compiled", "_sources")

    def __init__(self, sources: Mapping[str, IpSet]) -> None:
        """Take the sets as they stand in the evidence."""
        self._sources = sources
        self._compiled: dict[str, CompiledSet] = {}

    def lookup(
        self,
        name: str,
        directions: tuple[str, ...],
        state: Surroundings,
        *,
        return_nomatch: bool = False,
    ) -> bool | None:
        """Tell whether the packet is in the set; None where the evidence does not say.

        `directions` holds `src` or `dst` for each dimension, as `--match-set` spells it.
        """
        return self._lookup(name, directions, state, return_nomatch=return_nomatch, depth=0)

    def _lookup(
        self,
        name: str,
        directions: tuple[str, ...],
        state: Surroundings,
        *,
        return_nomatch: bool,
        depth: int,
    ) -> bool | None:
        source = self._sources.get(name)
        if source is None or depth > 1:
            return None
        if source.type == LIST:
            return self._lookup_list(
                source, directions, state, return_nomatch=return_nomatch, depth=depth
            )
        compiled = self._compiled.get(name)
        if compiled is None:
            compiled = self._compiled[name] = _compile(source)
        if not compiled.dimensions:
            return None
        if len(directions) < len(compiled.dimensions):
            return False
        if source.type not in FAMILYLESS and state.skb.packet.family != source.family:
            return False
        found = _find(compiled, directions, state)
        if found is not None:
            return found is return_nomatch
        return False if compiled.whole else None

    def _lookup_list(
        self,
        source: IpSet,
        directions: tuple[str, ...],
        state: Surroundings,
        *,
        return_nomatch: bool,
        depth: int,
    ) -> bool | None:
        unknown = not source.complete
        for member in source.members:
            answer = self._lookup(
                member.parts[0], directions, state, return_nomatch=return_nomatch, depth=depth + 1
            )
            if answer:
                return True
            unknown = unknown or answer is None
        return None if unknown else False


def _compile(source: IpSet) -> CompiledSet:
    dimensions = type_dimensions(source.type)
    groups: dict[tuple[int, ...], dict[tuple[object, ...], bool]] = {}
    wildcards: list[ElementKey] = []
    whole = source.complete
    reading = ElementReading(source.type, dimensions, source.family, source.options)
    for member in source.members if dimensions else ():
        elements = parse_element(member, reading)
        whole = whole and bool(elements)
        for element in elements:
            if element.wildcard:
                wildcards.append(element)
            else:
                groups.setdefault(element.lengths, {})[element.key] = element.nomatch
    ordered = tuple(
        _LengthGroup(lengths, groups[lengths]) for lengths in sorted(groups, reverse=True)
    )
    return CompiledSet(source, dimensions, ordered, tuple(wildcards), whole)


def _find(compiled: CompiledSet, directions: tuple[str, ...], state: Surroundings) -> bool | None:
    """Return the `nomatch` flag of the element that holds the packet, or None where none does."""
    values: list[object] = []
    for dimension, direction in zip(compiled.dimensions, directions, strict=False):
        value = DIMENSIONS[dimension](state, direction == "src")
        if value is None:
            return None
        values.append(value)
    if compiled.dimensions[-1] == "iface":
        # An element names the device, or the bridge port behind it (`physdev:`): two keys for one
        # packet.
        for key in _interface_keys(values[-1]):
            found = _search(compiled, [*values[:-1], key])
            if found is not None:
                return found
        return None
    return _search(compiled, values)


def _interface_keys(names: object) -> tuple[ElementInterface, ...]:
    if not isinstance(names, ElementInterface):
        return ()
    if names.port:
        return (ElementInterface(names.name, ""), ElementInterface("", names.port))
    return (ElementInterface(names.name, ""),)


def _cut(value: object, length: int, width: int) -> object:
    """Cut an address to the length of a prefix; what is no address, or whole, stays as it is."""
    if isinstance(value, int) and length >= 0:
        return value >> (width - length)
    return value


def _search(compiled: CompiledSet, values: list[object]) -> bool | None:
    width = WIDTH[compiled.source.family]
    for lengths, elements in compiled.groups:
        pairs = zip(values, lengths, strict=True)
        key = tuple(_cut(value, length, width) for value, length in pairs)
        if any(map(_is_drawn, key)):
            found = next((each for each in elements if _is_one(key, each)), None)
            if found is not None:
                return elements[found]
        elif key in elements:
            return elements[key]
    for element in compiled.wildcards:
        if element.holds(values, width):
            return element.nomatch
    return None


def _is_drawn(value: object) -> bool:
    return isinstance(value, tuple) and isinstance(value[-1], DrawnPort)


def _is_one(key: tuple[object, ...], element: tuple[object, ...]) -> bool:
    """Tell whether a packet with a port that the kernel draws has an element's key."""
    for one, other in zip(key, element, strict=True):
        if not _is_drawn(one):
            if one != other:
                return False
            continue
        if not isinstance(one, tuple) or not isinstance(other, tuple):
            continue
        if one[0] != other[0] or not other[1] <= one[1] <= other[1]:
            return False
    return True


def _address(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # one signature for all dimensions
    packet = state.skb.packet
    return packet.src.value if source else packet.dst.value


def _port(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # as above
    packet: Packet = state.skb.packet
    if packet.protocol in {protocols.ICMP, protocols.ICMPV6}:
        return (packet.protocol, packet.icmp_type << 8 | packet.icmp_code)
    if packet.protocol not in PORTED:
        return (packet.protocol, 0)
    if packet.fragment:
        return None
    return (packet.protocol, packet.sport if source else packet.dport)


def _bare_port(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # as above
    packet: Packet = state.skb.packet
    if packet.protocol not in PORTED or packet.fragment:
        return None
    return (0, packet.sport if source else packet.dport)


def _interface(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # as above
    link = state.skb.physin if source else state.skb.physout
    return ElementInterface(
        state.in_name if source else state.out_name, link.name if link is not None else ""
    )


def _mac(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # as above
    packet = state.skb.packet
    return packet.smac if source else packet.dmac


def _mark(state: Surroundings, source: bool) -> object:  # noqa: FBT001  # as above
    del source
    return (state.skb.mark,)


DIMENSIONS: Mapping[str, Callable[[Surroundings, bool], object]] = {
    "ip": _address,
    "net": _address,
    "port": _port,
    "bare port": _bare_port,
    "iface": _interface,
    "mac": _mac,
    "mark": _mark,
}
"""What a packet has in each dimension of a set type; None where it has nothing there and so is in
no element.
"""

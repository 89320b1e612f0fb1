"""Addresses and routes of a namespace under construction, in their order and by what is looked up
in them.

A node with 10,000 pods asks 10,000 times which namespace an address belongs to and which route
leads to it, while both grow: each answer is found without going through them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from podpath.net.addresses import WIDTH, Address, Family, IfName, Prefix
from podpath.node.links import InterfaceAddress
from podpath.node.routing import MAIN, Route

T = TypeVar("T")

NARROWEST_SUBNET = 30
"""The longest prefix of an address that has neighbors."""


class PrefixTable(Generic[T]):
    """Things by their prefixes; the longest that covers an address is found by one look for each
    length.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lengths: dict[Family, list[int]] = {4: [], 6: []}
        self._things: dict[Prefix, T] = {}

    def get(self, prefix: Prefix) -> T | None:
        """Return what stands at a prefix; None where nothing does."""
        return self._things.get(prefix)

    def put(self, prefix: Prefix, thing: T) -> None:
        """Set what stands at a prefix."""
        lengths = self._lengths[prefix.family]
        if prefix.length not in lengths:
            lengths.append(prefix.length)
            lengths.sort(reverse=True)
        self._things[prefix] = thing

    def longest(self, address: Address) -> T | None:
        """Return what stands at the longest prefix that covers an address; None where none does."""
        for length in self._lengths[address.family]:
            thing = self._things.get(Prefix.of(address, length))
            if thing is not None:
                return thing
        return None


class Owners:
    """Which namespace of a node has an address: the first one that was made, where several have
    it.
    """

    def __init__(self) -> None:
        """Begin with no namespace."""
        self._ranks: dict[str, int] = {}
        self._names: dict[Address, str] = {}

    def enter(self, name: str) -> None:
        """Take a namespace in, behind those that are there."""
        self._ranks.setdefault(name, len(self._ranks))

    def claim(self, address: Address, name: str) -> None:
        """Note that a namespace has an address."""
        known = self._names.get(address)
        if known is None or self._ranks[name] < self._ranks[known]:
            self._names[address] = name

    def owner(self, address: Address) -> str | None:
        """Return the namespace that has an address; None where none has."""
        return self._names.get(address)


class NamespaceAddresses(list[InterfaceAddress]):
    """The addresses of one namespace; they are only ever added."""

    def __init__(self, addresses: Iterable[InterfaceAddress] = ()) -> None:
        """Take those that are known already."""
        super().__init__()
        self.own: set[Address] = set()
        self.subnets: PrefixTable[InterfaceAddress] = PrefixTable()
        """Whose prefix holds other addresses too."""
        self.wide_links: set[IfName] = set()
        """Devices with an address that has neighbors."""
        self._name, self._owners = "", Owners()
        self.join("", self._owners)
        self.extend(addresses)

    def join(self, name: str, owners: Owners) -> None:
        """Tell a node's table of owners about the addresses of the namespace of that name, those to
        come too.
        """
        self._name, self._owners = name, owners
        owners.enter(name)
        for own in self:
            owners.claim(own.address, name)

    def append(self, own: InterfaceAddress, /) -> None:
        """Add an address."""
        super().append(own)
        self.own.add(own.address)
        self._owners.claim(own.address, self._name)
        if own.length < WIDTH[own.address.family] and self.subnets.get(own.prefix) is None:
            self.subnets.put(own.prefix, own)
        if own.scope == "global" and own.length <= NARROWEST_SUBNET:
            self.wide_links.add(own.link)

    def extend(self, addresses: Iterable[InterfaceAddress], /) -> None:
        """Add addresses."""
        for own in addresses:
            self.append(own)


class NamespaceRoutes(list[Route]):
    """The routes of one namespace; they are only ever added."""

    def __init__(self, routes: Iterable[Route] = ()) -> None:
        """Take those that are known already."""
        super().__init__()
        self.main: PrefixTable[Route] = PrefixTable()
        """Of the main table, the one of the lowest metric for each prefix."""
        self.default_links: set[str] = set()
        """Devices that a default route leads to."""
        self.extend(routes)

    def append(self, route: Route, /) -> None:
        """Add a route."""
        super().append(route)
        if route.prefix.length == 0:
            self.default_links.update(hop.link for hop in route.nexthops if hop.link is not None)
        if route.table != MAIN or not route.nexthops:
            return
        known = self.main.get(route.prefix)
        if known is None or route.metric < known.metric:
            self.main.put(route.prefix, route)

    def extend(self, routes: Iterable[Route], /) -> None:
        """Add routes."""
        for route in routes:
            self.append(route)

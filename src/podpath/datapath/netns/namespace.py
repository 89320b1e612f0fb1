"""One network namespace indexed for walks: links by name, addresses, bridge ports, neighbors,
routing tables.

What is here follows from the evidence alone: nothing depends on a walk's choices, so that all walks
through a node share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from podpath.datapath.netns.derived import complete_routes
from podpath.datapath.netns.fib import Destinations
from podpath.datapath.netns.rpdb import Rpdb
from podpath.net.addresses import Address, Family, IfName, Mac, unseen_mac
from podpath.net.provenance import Basis, Fact, Inferred
from podpath.net.watched import Watched, is_watched
from podpath.node.links import FdbEntry, InterfaceAddress, Link, Neighbour
from podpath.node.node import Netns

LOOPBACK = Link(
    name=IfName("lo"),
    kind="loopback",
    mtu=65536,
    ifindex=1,
    inferred=Inferred(Basis.IMPLIED, "every namespace has it"),
)


class Namespace:
    """A namespace's facts, by what walks look them up by."""

    __slots__ = (
        "_mac_links",
        "_numbers",
        "_other_locals",
        "addresses",
        "answers",
        "by_link",
        "decisions",
        "destinations",
        "facts",
        "fdb",
        "forwards",
        "links",
        "loopback",
        "name",
        "neighbours",
        "netns",
        "ordered",
        "ports",
        "rpdb",
    )

    def __init__(self, netns: Netns, macs: Mapping[Address, Mac]) -> None:
        """Index a namespace; `macs` is what neighbor tables of the node say of its own
        addresses.
        """
        self.netns = netns
        self.name = netns.name
        self.links: dict[str, Link] = {link.name: link for link in netns.links.items}
        self.loopback = self.links.setdefault(LOOPBACK.name, LOOPBACK)
        self.ordered = tuple(sorted(self.links.values(), key=_list_order))
        """In the order of the kernel's device list: `lo` first, then by index, then as listed."""
        self.by_link: dict[str, tuple[InterfaceAddress, ...]] = {}
        self.addresses: dict[Address, InterfaceAddress] = {}
        self._numbers: dict[Family, list[int]] | None = None
        """The addresses of each family in order, for whoever watches a walk."""
        self._index_addresses()
        self._other_locals = any(
            route.type == "local" and not route.inferred for route in netns.routes.items
        )
        """Whether the local table may hold more than the addresses imply."""
        self.ports = _list_ports(self.ordered)
        """By bridge (or other master)."""
        self.neighbours: dict[tuple[str, Address], Neighbour] = {
            (item.link, item.address): item for item in netns.neighbours.items
        }
        self.fdb = _index_fdb(netns.fdb.items)
        """By bridge, or by vxlan device for its remote ends."""
        self.facts: dict[tuple[str, str], Fact[str]] = {}
        """Per-device settings, by name and device (see `settings`)."""
        self.forwards: dict[str, bool] = {}
        """Whether what comes in on a device is forwarded, where the evidence says it."""
        self.answers: dict[object, object] = {}
        """What was worked out without asking for anything unknown, by question."""
        self.rpdb: dict[Family, Rpdb] = {}
        self.destinations: Destinations = {}
        self.decisions: dict[object, Any] = {}
        """What input routing decided without asking, by flow."""
        self._mac_links: dict[str, Mac] = {
            item.link: macs[item.address]
            for item in self.addresses.values()
            if item.address in macs and item.link != "lo"
        }

    def routing(self, family: Family) -> Rpdb:
        """Return the policy rules and tables of a family, compiled when first asked for."""
        compiled = self.rpdb.get(family)
        if compiled is None:
            compiled = self.rpdb[family] = Rpdb(
                self.netns, family, complete_routes(self.netns, self.links, family)
            )
        return compiled

    def link(self, name: str) -> Link:
        """Return a device by name; one that no listing shows is taken to exist, since something
        names it.
        """
        found = self.links.get(name)
        if found is None:
            found = self.links[name] = Link(
                name=IfName(name), inferred=Inferred(Basis.SHOWN, "only other facts name it")
            )
        return found

    def mac(self, link: Link) -> Mac:
        """Return a device's MAC, or words that stand for it where the evidence does not show it."""
        if link.mac is not None:
            return link.mac
        mac = self._mac_links.get(link.name)
        if mac is None:
            mac = self._mac_links[link.name] = unseen_mac(f"{link.name} in {self.name}")
        return mac

    def primary_addresses(self, link: str, family: Family) -> list[InterfaceAddress]:
        """Return a device's addresses of a family that are not secondary, in kernel order."""
        return [
            item
            for item in self.by_link.get(link, ())
            if item.address.family == family and not item.secondary
        ]

    def is_numbered(self, link: str) -> bool:
        """Tell whether a device has an IPv4 address that is shown."""
        return any(item.address.family == 4 for item in self.by_link.get(link, ()))

    def has_local(self, address: Address) -> bool:
        """Tell whether packets for the address are delivered here: its own, or one of a `local`
        route.
        """
        if self.owns(address):
            return True
        if not self._other_locals:
            return address.is_loopback
        table = self.routing(address.family).local
        found = table.lookup(address.value, 0, None, ()) if table is not None else None
        return found is not None and not found.error and found.type == "local"

    def may_own(self, address: Address) -> bool:
        """Tell whether nothing says if packets for the address are delivered here: the namespace
        itself is but a guess.

        Such a namespace answers and routes for no address that no line shows in it: what it does
        with one is not known.
        """
        guessed = self.netns.inferred is not None and self.netns.inferred.is_guess
        return guessed and not self.netns.addresses.complete and not self.has_local(address)

    def neighbour(self, link: str, address: Address) -> Neighbour | None:
        """Return a device's neighbor entry for an address; of a watched one, note what says that
        there is none.
        """
        value: Any = address.value
        if is_watched(value):
            known = (item for item in self.neighbours if item[0] == link)
            own = [item.value for _, item in known if item.family == address.family]
            if not value.is_one_of(sorted(own)):
                return None
        return self.neighbours.get((link, address))

    def owns(self, address: Address) -> bool:
        """Tell whether the address is on one of the namespace's devices
        (`inet_lookup_ifaddr_rcu`).
        """
        if is_watched(address.value):
            if self._numbers is None:
                self._numbers = _order_numbers(self.addresses)
            numbers = self._numbers.get(address.family, ())
            return cast("Watched", address.value).is_one_of(numbers)
        return address in self.addresses

    def _index_addresses(self) -> None:
        for item in self.netns.addresses.items:
            self.by_link[item.link] = (*self.by_link.get(item.link, ()), item)
            self.addresses.setdefault(item.address, item)


def _order_numbers(addresses: Iterable[Address]) -> dict[Family, list[int]]:
    numbers: dict[Family, list[int]] = {}
    for address in sorted(addresses):
        numbers.setdefault(address.family, []).append(address.value)
    return numbers


def _list_ports(links: Iterable[Link]) -> dict[str, tuple[Link, ...]]:
    """Return the devices by the bridge (or other master) that they are ports of."""
    ports: dict[str, tuple[Link, ...]] = {}
    for link in links:
        if link.master is not None:
            ports[link.master] = (*ports.get(link.master, ()), link)
    return ports


def _index_fdb(entries: Iterable[FdbEntry]) -> dict[tuple[str, Mac], tuple[FdbEntry, ...]]:
    """Return the entries by their bridge, or vxlan device, and MAC."""
    index: dict[tuple[str, Mac], tuple[FdbEntry, ...]] = {}
    for entry in entries:
        key = (entry.bridge or entry.link, entry.mac)
        index[key] = (*index.get(key, ()), entry)
    return index


def _list_order(link: Link) -> tuple[bool, bool, int]:
    return link.name != "lo", link.ifindex is None, link.ifindex or 0

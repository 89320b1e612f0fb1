"""One key, two values: what outputs of two hosts say of one MAC or one tunnel.

Only hosts that a prompt or the words above an output name are told apart: two states of one host
have its MACs in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from podpath.assembly.scenes.hosts_named import name_host
from podpath.assembly.scenes.scene import set_scene
from podpath.evidence.node_records import AddressRecord, LinkRecord, NeighbourRecord
from podpath.evidence.records import Reading
from podpath.net.addresses import Mac, Prefix
from podpath.net.clashes import Clash, ClashKind
from podpath.net.provenance import Source, Span
from podpath.node.node import HOST

MOST = 200
"""Devices that are compared, each with each."""
_CARD = re.compile(r"(?:eth|en[opsx]|ens|bond|wl|em|p\d+p)\w*")
_TUNNELS = frozenset({"vxlan", "geneve", "gretap", "ip6gretap"})
_TUNNEL_NAME = re.compile(r"(?:flannel|vxlan|geneve|antrea-tun|genev_sys|cilium_vxlan)")
_PARAMETERS = ("id", "port")
"""What both ends of a tunnel need alike."""
_SHARED = frozenset({"00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "ee:ee:ee:ee:ee:ee"})
_EVERYWHERE = frozenset({"10.0.2.15"})
"""Addresses that each machine has in a network of its own (VirtualBox NAT)."""
_VIRTUAL = ("00:00:5e:00:01", "00:00:5e:00:02", "00:00:0c:07:ac", "00:00:0c:9f:f")
"""How the MACs begin that routers share on purpose (VRRP, HSRP)."""


class _PlacedLink(NamedTuple):
    """A device of a host, with what tells it from the same device of another."""

    host: str
    record: LinkRecord
    addresses: frozenset[str]
    networks: frozenset[Prefix]
    lines: Mapping[str, Span]
    """Where each of its addresses stands."""

    @property
    def local(self) -> str:
        """The tunnel's own end."""
        return self.record.details.get("local", "")

    @property
    def own(self) -> str:
        """What the host is known by, where its name is not enough: its end or its address."""
        return self.local or next(iter(sorted(self.addresses)), "")


class _TunnelEnd(NamedTuple):
    """A tunnel's device of a host, as one output or several show it."""

    macs: Mapping[Mac, Span]
    addresses: frozenset[str]


def list_clashes(read: Iterable[tuple[Source, Reading]]) -> tuple[Clash, ...]:
    """Return what two named hosts have alike or apart and must not."""
    placed = list(_list_placed(read))
    links = list(_list_links(placed))[:MOST]
    found: dict[tuple[ClashKind, str], Clash] = {}
    for clash in _compare_neighbors(placed):
        found.setdefault((clash.kind, clash.key), clash)
    for one, other in combinations(links, 2):
        if one.host != other.host:
            for clash in _compare(one, other):
                found.setdefault((clash.kind, clash.key), clash)
    return tuple(found.values())


def _list_placed(read: Iterable[tuple[Source, Reading]]) -> Iterator[tuple[str, Reading]]:
    """Yield what is read of the host itself, wherever its name is known."""
    for number, (source, reading) in enumerate(read):
        scene = set_scene(source, reading, number)
        host = name_host(scene)
        if host is not None and scene.netns == HOST:
            yield host, reading


def _list_links(placed: Iterable[tuple[str, Reading]]) -> Iterator[_PlacedLink]:
    for host, reading in placed:
        for link in (one for one in reading.records if isinstance(one, LinkRecord)):
            own = [
                one
                for one in reading.records
                if isinstance(one, AddressRecord) and one.link == link.name and one.scope != "link"
            ]
            networks = frozenset(Prefix.of(one.address, one.length) for one in own)
            lines = {str(address.address): address.span for address in own}
            yield _PlacedLink(host, link, frozenset(lines), networks, lines)


def _compare_neighbors(placed: Sequence[tuple[str, Reading]]) -> Iterator[Clash]:
    """Yield the entries that a program wrote for a tunnel's other end, with another MAC than the
    one that the end's own host shows.
    """
    ends = _list_tunnel_ends(placed)
    for host, reading in placed:
        for one in reading.records:
            if not isinstance(one, NeighbourRecord) or one.mac is None or one.state != "PERMANENT":
                continue
            for (other, name), end in ends.items():
                held = name == one.link and str(one.address) in end.addresses
                if other != host and held and len(end.macs) == 1 and one.mac not in end.macs:
                    ((mac, span),) = end.macs.items()
                    yield Clash(
                        kind=ClashKind.TUNNEL_NEIGHBOR,
                        key=str(one.address),
                        values=(str(one.mac), str(mac)),
                        hosts=(host, other),
                        spans=(one.span, span),
                    )


def _list_tunnel_ends(
    placed: Sequence[tuple[str, Reading]],
) -> Mapping[tuple[str, str], _TunnelEnd]:
    """Return the tunnels' devices by host and name."""
    macs: dict[tuple[str, str], dict[Mac, Span]] = {}
    addresses: dict[tuple[str, str], set[str]] = {}
    for host, reading in placed:
        for one in reading.records:
            if isinstance(one, LinkRecord) and _is_tunnel(one) and one.mac is not None:
                macs.setdefault((host, one.name), {}).setdefault(one.mac, one.span)
            elif isinstance(one, AddressRecord) and one.link is not None and one.scope != "link":
                addresses.setdefault((host, one.link), set()).add(str(one.address))
    return {
        place: _TunnelEnd(found, frozenset(addresses.get(place, ())))
        for place, found in macs.items()
    }


def _compare(one: _PlacedLink, other: _PlacedLink) -> Iterator[Clash]:
    if _is_tunnel(one.record) and _is_tunnel(other.record):
        yield from _compare_tunnels(one, other)
    if _is_card(one.record) and _is_card(other.record):
        yield from _compare_cards(one, other)
    elif one.record.name == other.record.name and not _is_tunnel(one.record):
        yield from _compare_bridges(one, other)


def _compare_tunnels(one: _PlacedLink, other: _PlacedLink) -> Iterator[Clash]:
    """Yield what the ends of a tunnel have alike or apart."""
    if one.local == other.local:
        return
    mac = _shared_mac(one, other)
    if mac is not None and one.local and other.local:
        yield _make(ClashKind.TUNNEL_MAC, mac, one, other, (one.local, other.local))
    if one.record.name != other.record.name:
        return
    for name in _PARAMETERS:
        said = one.record.details.get(name), other.record.details.get(name)
        if said[0] is not None and said[1] is not None and said[0] != said[1]:
            yield _make(
                ClashKind.TUNNEL, f"{name} of {one.record.name}", one, other, (said[0], said[1])
            )


def _compare_cards(one: _PlacedLink, other: _PlacedLink) -> Iterator[Clash]:
    """Yield what two cards have alike: a MAC with different addresses, or an address with
    different MACs.
    """
    mac = _shared_mac(one, other)
    apart = one.addresses and other.addresses and not one.addresses & other.addresses
    if mac is not None and apart and not mac.startswith(_VIRTUAL):
        yield _make(ClashKind.MAC, mac, one, other, (one.own, other.own))
    shared = sorted(one.addresses & other.addresses - _EVERYWHERE)
    macs = one.record.mac, other.record.mac
    if shared and macs[0] is not None and macs[1] is not None and macs[0] != macs[1]:
        values = (str(macs[0]), str(macs[1]))
        clash = _make(ClashKind.ADDRESS, shared[0], one, other, values)
        yield replace(clash, spans=(one.lines[shared[0]], other.lines[shared[0]]))


def _compare_bridges(one: _PlacedLink, other: _PlacedLink) -> Iterator[Clash]:
    """Yield the MAC that two devices of one name have."""
    mac = _shared_mac(one, other)
    if mac is not None:
        names = (one.record.name, other.record.name)
        yield _make(ClashKind.BRIDGE_MAC, mac, one, other, names)


def _shared_mac(one: _PlacedLink, other: _PlacedLink) -> str | None:
    """Return the MAC that both have, unless many have it on purpose."""
    mac = one.record.mac
    if mac is None or mac != other.record.mac or str(mac) in _SHARED:
        return None
    return str(mac)


def _make(
    kind: ClashKind, key: str, one: _PlacedLink, other: _PlacedLink, values: tuple[str, str]
) -> Clash:
    spans: tuple[Span, Span] = (one.record.span, other.record.span)
    near = bool(one.networks & other.networks)
    hosts = (one.host, other.host)
    return Clash(kind=kind, key=key, values=values, hosts=hosts, spans=spans, near=near)


def _is_tunnel(record: LinkRecord) -> bool:
    return record.kind in _TUNNELS or _TUNNEL_NAME.match(record.name) is not None


def _is_card(record: LinkRecord) -> bool:
    return _CARD.fullmatch(record.name) is not None

"""One key, two values: what outputs of two hosts say of one MAC or one tunnel.

Only hosts that a prompt or the words above an output name are told apart: two states of one host
have its MACs in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from podpath.assembly.scenes.hosts_named import name_host
from podpath.assembly.scenes.scene import set_scene
from podpath.evidence.records import AddressRecord, LinkRecord, Reading
from podpath.net.addresses import Prefix
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


def list_clashes(read: Iterable[tuple[Source, Reading]]) -> tuple[Clash, ...]:
    """Return what two named hosts have alike or apart and must not."""
    links = list(_list_links(read))[:MOST]
    found: dict[tuple[ClashKind, str], Clash] = {}
    for one, other in combinations(links, 2):
        if one.host != other.host:
            for clash in _compare(one, other):
                found.setdefault((clash.kind, clash.key), clash)
    return tuple(found.values())


def _list_links(read: Iterable[tuple[Source, Reading]]) -> Iterator[_PlacedLink]:
    for number, (source, reading) in enumerate(read):
        links = [one for one in reading.records if isinstance(one, LinkRecord)]
        if not links:
            continue
        scene = set_scene(source, reading, number)
        host = name_host(scene)
        if host is None or scene.netns != HOST:
            continue
        for link in links:
            own = [
                one
                for one in reading.records
                if isinstance(one, AddressRecord) and one.link == link.name and one.scope != "link"
            ]
            networks = frozenset(Prefix.of(one.address, one.length) for one in own)
            lines = {str(address.address): address.span for address in own}
            yield _PlacedLink(host, link, frozenset(lines), networks, lines)


def _compare(one: _PlacedLink, other: _PlacedLink) -> Iterator[Clash]:
    first, second = one.record, other.record
    tunnels = _is_tunnel(first) and _is_tunnel(second)
    alike = first.mac is not None and first.mac == second.mac and str(first.mac) not in _SHARED
    if tunnels and alike and one.local and other.local and one.local != other.local:
        yield _make(ClashKind.TUNNEL_MAC, str(first.mac), one, other, (one.local, other.local))
    cards = _CARD.fullmatch(first.name) and _CARD.fullmatch(second.name)
    apart = one.addresses and other.addresses and not one.addresses & other.addresses
    if cards and alike and apart and not str(first.mac).startswith(_VIRTUAL):
        yield _make(ClashKind.MAC, str(first.mac), one, other, (one.own, other.own))
    elif not tunnels and not cards and alike and first.name == second.name:
        yield _make(ClashKind.BRIDGE_MAC, str(first.mac), one, other, (first.name, second.name))
    shared = sorted(one.addresses & other.addresses - _EVERYWHERE)
    differ = first.mac is not None and second.mac is not None and first.mac != second.mac
    if cards and shared and differ:
        values = (str(first.mac), str(second.mac))
        clash = _make(ClashKind.ADDRESS, shared[0], one, other, values)
        yield replace(clash, spans=(one.lines[shared[0]], other.lines[shared[0]]))
    if tunnels and first.name == second.name and one.local != other.local:
        for name in _PARAMETERS:
            said = first.details.get(name), second.details.get(name)
            if said[0] is not None and said[1] is not None and said[0] != said[1]:
                key = f"{name} of {first.name}"
                yield _make(ClashKind.TUNNEL, key, one, other, (said[0], said[1]))


def _make(
    kind: ClashKind, key: str, one: _PlacedLink, other: _PlacedLink, values: tuple[str, str]
) -> Clash:
    spans: tuple[Span, Span] = (one.record.span, other.record.span)
    near = bool(one.networks & other.networks)
    hosts = (one.host, other.host)
    return Clash(kind=kind, key=key, values=values, hosts=hosts, spans=spans, near=near)


def _is_tunnel(record: LinkRecord) -> bool:
    return record.kind in _TUNNELS or _TUNNEL_NAME.match(record.name) is not None

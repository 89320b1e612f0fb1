"""The other ends of veth pairs, across namespaces: by name, by index, or unknown.

`veth1@veth0` names the peer in the same namespace, `veth1@if5` its index in another one, whose name
(`link-netns`) or number (`link-netnsid`) may follow. A bundle that was taken by podpath says for
whom each number stands, so that nothing is left to find out. Where no such word is, and one
namespace alone has a device of that index that points back, it is the peer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from podpath.assembly.drafts.draft import NodeDraft, ask_in
from podpath.assembly.scenes.scene import ReadSources, name_netns
from podpath.evidence.commands.command import parse_family
from podpath.evidence.node_records import BundleRecord, LinkRecord
from podpath.net.addresses import IfName
from podpath.net.provenance import Fact, Known, Option, Unknown
from podpath.node.links import Link, Macvlan, MacvlanMode, Peer

# `ip -6 addr` gets no namespace of the other end from the kernel
# (net/ipv6/addrconf.c:inet6_fill_ifinfo v6.12), and prints the device that has the other end's
# index here.
_STACKED = frozenset({"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "vxlan", "macsec", "dsa"})
"""Kinds whose `@` names the device that they sit on."""
MODES = frozenset(MacvlanMode)


class _NamedPeer(NamedTuple):
    """A device that its listing shows with an `@`."""

    netns: str
    link: Link
    peer_name: str | None
    peer_ifindex: int | None
    peer_netns: str | None
    mode: str
    """How it shares the device that it sits on; empty where that is not said."""


_Numbers = Mapping[tuple[str, str], str | None]
"""The namespace that a number of a namespace stands for; None where it is not in the evidence."""
_Pair = tuple[int | None, int | None]
"""A device's own index, and the one that it names."""


def assemble_peers(draft: NodeDraft, evidence: ReadSources) -> None:
    """Join the ends of veth pairs, and devices with those that they sit on."""
    ends = list(_list_ends(draft, evidence))
    pairs: dict[_Pair, list[_NamedPeer]] = {}
    for end in ends:
        pairs.setdefault((end.link.ifindex, end.peer_ifindex), []).append(end)
    numbers = _read_numbers(evidence, ends)
    for end in ends:
        netns = draft.namespaces[end.netns]
        link = netns.links[end.link.name]
        if link.peer is not None:
            continue
        there = (end.netns, end.peer_netns or "")
        if link.kind in _STACKED:
            lower = end.peer_name or (None if there in numbers else _name_of(draft, end))
            named = None if lower is None else IfName(lower)
            shared = _find_shared(draft, end, named, numbers) if link.kind == "macvlan" else None
            netns.links[link.name] = replace(link, lower=named, macvlan=shared)
        elif link.kind in {"", "veth"} and there in numbers:
            _join(draft, end, _find_stated(draft, end, numbers[there]))
        elif link.kind in {"", "veth"}:
            _join(draft, end, _find_peers(draft, end, pairs))


def _find_shared(
    draft: NodeDraft, end: _NamedPeer, lower: IfName | None, numbers: _Numbers
) -> Macvlan | None:
    """Return whose wire a macvlan device shares, and how; None where that is not said for sure."""
    there = (end.netns, end.peer_netns or "")
    stated = _find_stated(draft, end, numbers[there]) if there in numbers else []
    if lower is not None and end.peer_netns is None:
        stated = [Peer(netns=end.netns, link=lower)]
    if len(stated) != 1 or end.mode not in MODES:
        return None
    return Macvlan(parent=stated[0], mode=MacvlanMode(end.mode))


def _read_numbers(evidence: ReadSources, ends: Sequence[_NamedPeer]) -> _Numbers:
    """Return whom the numbers that devices name stand for, where a bundle says it of its
    namespaces.
    """
    stated: dict[str, Mapping[str, str]] = {}
    for scene, record in evidence.records(BundleRecord):
        if not scene.is_elsewhere:
            for name, numbers in record.nsids.items():
                stated[name_netns(name)] = numbers
    found: dict[tuple[str, str], str | None] = {}
    for end in ends:
        number = end.peer_netns
        if number is not None and number.isdigit() and end.netns in stated:
            found[end.netns, number] = stated[end.netns].get(number)
    return found


def _find_stated(draft: NodeDraft, end: _NamedPeer, netns: str | None) -> list[Peer]:
    """Return the device of the other end's index in the namespace that the kernel named."""
    there = None if netns is None else draft.namespaces.get(name_netns(netns))
    if there is None:
        return []
    return [
        Peer(netns=there.name, link=link.name)
        for link in there.links.values()
        if link.ifindex is not None and link.ifindex == end.peer_ifindex
    ]


def _list_ends(draft: NodeDraft, evidence: ReadSources) -> Iterator[_NamedPeer]:
    seen: set[tuple[str, IfName]] = set()
    for scene, record in evidence.records(LinkRecord):
        key = (scene.netns, record.name)
        shows = record.peer_name is not None or record.peer_ifindex is not None
        if scene.is_elsewhere or not shows or key in seen:
            continue
        link = draft.namespaces[scene.netns].links[record.name]
        if parse_family(scene.source) == 6 and link.kind not in _STACKED:
            continue
        seen.add(key)
        yield _NamedPeer(
            scene.netns,
            link,
            record.peer_name,
            record.peer_ifindex,
            record.peer_netns,
            record.details.get("mode", ""),
        )


def _find_peers(
    draft: NodeDraft, end: _NamedPeer, pairs: Mapping[_Pair, Sequence[_NamedPeer]]
) -> list[Peer]:
    """Return the devices that may be the other end: those of that name or index, the ones that
    point back first.
    """
    if end.peer_name is not None:
        return [Peer(netns=end.netns, link=IfName(end.peer_name))]
    if end.peer_ifindex is not None and end.link.ifindex is not None:
        facing = pairs.get((end.peer_ifindex, end.link.ifindex), ())
    else:
        facing = ()
    mutual = [other for other in facing if other.netns != end.netns]
    if end.peer_netns is None or end.peer_netns.isdigit():
        return [Peer(netns=other.netns, link=other.link.name) for other in mutual]
    # one namespace may go by several names (its file, a process in it, its pod): the name given is
    # a hint
    named = [other for other in mutual if other.netns == name_netns(end.peer_netns)]
    if mutual:
        return [Peer(netns=other.netns, link=other.link.name) for other in named or mutual]
    there = draft.namespaces.get(name_netns(end.peer_netns))
    if there is None:
        same = []
    else:
        same = [link for link in there.links.values() if link.ifindex == end.peer_ifindex]
    return [Peer(netns=name_netns(end.peer_netns), link=link.name) for link in same]


def _join(draft: NodeDraft, end: _NamedPeer, peers: Sequence[Peer]) -> None:
    """Set a veth's peer where it was found; where it was not, the device stays one that leads to an
    unseen namespace.
    """
    netns = draft.namespaces[end.netns]
    link = netns.links[end.link.name]
    if end.peer_name is not None and not link.kind:
        back = draft.namespaces[end.netns].links.get(IfName(end.peer_name))
        mutual = (
            back is not None
            and back.kind in {"", "veth"}
            and not link.name.startswith(f"{end.peer_name}.")
        )
        if not mutual:
            netns.links[link.name] = replace(
                link, kind="vlan" if "." in link.name else "", lower=IfName(end.peer_name)
            )
            return
    kind = link.kind or "veth"
    netns.links[link.name] = replace(link, kind=kind, peer=_spell_peer(end, peers))


def _spell_peer(end: _NamedPeer, peers: Sequence[Peer]) -> Fact[Peer] | None:
    if len(peers) == 1:
        return Known(peers[0], end.link.span)
    if not peers:
        return None
    options = tuple(Option(peer, f"{peer.link} in netns {peer.netns}") for peer in peers)
    ask = ask_in(end.netns, f"ip -d link show dev {end.link.name}")
    return Unknown(
        f"the other end of {end.link.name} in netns {end.netns}",
        ask,
        options,
        "several devices have its index",
    )


def _name_of(draft: NodeDraft, end: _NamedPeer) -> str | None:
    links = draft.namespaces[end.netns].links.values()
    return next(
        (
            link.name
            for link in links
            if link.ifindex is not None and link.ifindex == end.peer_ifindex
        ),
        None,
    )

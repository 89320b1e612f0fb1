"""What devices are otherwise on another node: their state and size, their addresses, and the
neighbors behind them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from podpath.diagnosis.difference.difference import (
    Difference,
    inside,
    paired_namespaces,
    spans_of,
    tell_owner,
    unpaired,
)
from podpath.node.change import AddAddress, Change, DeleteAddress, PutNeighbour, SetLink
from podpath.node.links import InterfaceAddress, Link, Neighbour
from podpath.node.node import Node


def compare_links(bad: Node, good: Node) -> Iterator[Difference]:
    """Compare devices that both have, their addresses, and the neighbors that both know."""
    guessed = any(
        namespace.inferred for namespace in (*bad.namespaces.values(), *good.namespaces.values())
    )
    for here, there in paired_namespaces(bad, good):
        mine = {link.name: link for link in here.links.items}
        for link in there.links.items:
            if link.name in mine and not link.inferred and not mine[link.name].inferred:
                yield from _link(here.name, mine[link.name], link, ports=not guessed)
        for address, taken in unpaired(
            here.addresses, there.addresses, _address_identity, lambda item: item.address.family
        ):
            yield _address(here.name, address, taken=taken)
        known = {(item.address, item.link): item for item in here.neighbours.items}
        for neighbour in there.neighbours.items:
            same = known.get((neighbour.address, neighbour.link))
            if same is not None and neighbour.mac is not None and same.mac != neighbour.mac:
                yield _neighbour(here.name, same, neighbour)


def _link(netns: str, mine: Link, theirs: Link, *, ports: bool) -> Iterator[Difference]:
    """Compare one device; as a bridge port only where `ports` says that what is known of them is
    not guessed.
    """
    spoken = [
        ("state", "up" if mine.up else "down", "up" if theirs.up else "down"),
        ("mtu", str(mine.mtu), str(theirs.mtu)),
        ("promisc", _switch(on=mine.promisc), _switch(on=theirs.promisc)),
    ]
    if ports and mine.port is not None and theirs.port is not None:
        spoken.append(("hairpin", _switch(on=mine.port.hairpin), _switch(on=theirs.port.hairpin)))
    for name, here, there in spoken:
        if here != there:
            words = f"{name} {there}" if name != "state" else there
            command = (
                f"bridge link set dev {mine.name} hairpin {there}"
                if name == "hairpin"
                else f"ip link set {mine.name} {words}"
            )
            yield Difference(
                kind="link",
                netns=netns,
                words=f"{mine.name}: {name} is {here} here, and {there} where it works",
                here=spans_of(mine.span),
                there=spans_of(theirs.span),
                commands=(inside(netns, command),),
                changes=(SetLink(netns=netns, link=mine.name, attributes=((name, there),)),),
            )
    for name, ours, other in (
        ("master", mine.master, theirs.master),
        ("kind", mine.kind, theirs.kind),
    ):
        if ours != other and (
            name == "master" or (ours and other)
        ):  # no kind: the listing does not say
            yield Difference(
                kind="link",
                netns=netns,
                words=(
                    f"{mine.name}: {name} is {ours or 'none'} here, and {other or 'none'} where it "
                    "works"
                ),
                here=spans_of(mine.span),
                there=spans_of(theirs.span),
            )


def _address(netns: str, address: InterfaceAddress, *, taken: bool) -> Difference:
    spelled = f"{address.address}/{address.length} dev {address.link}"
    change: Change = (
        AddAddress(netns=netns, address=address)
        if taken
        else DeleteAddress(netns=netns, address=address)
    )
    return Difference(
        kind="address",
        netns=netns,
        words=f"the address {spelled} {tell_owner(taken=taken)}",
        here=() if taken else spans_of(address.span),
        there=spans_of(address.span) if taken else (),
        commands=(inside(netns, f"ip addr {'add' if taken else 'del'} {spelled}"),),
        changes=(change,),
    )


def _neighbour(netns: str, mine: Neighbour, theirs: Neighbour) -> Difference:
    return Difference(
        kind="neighbour",
        netns=netns,
        words=(
            f"{mine.address} on {mine.link} is {mine.mac or mine.state} here, and {theirs.mac} "
            "where it works"
        ),
        here=spans_of(mine.span),
        there=spans_of(theirs.span),
        commands=(inside(netns, f"ip neigh flush to {mine.address}"),),
        changes=(PutNeighbour(netns=netns, neighbour=replace(theirs, inferred=None)),),
    )


def _address_identity(item: InterfaceAddress) -> Hashable:
    return item.link, item.address, item.length, item.secondary


def _switch(*, on: bool) -> str:
    return "on" if on else "off"

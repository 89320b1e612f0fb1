"""What devices are otherwise on another node: their state and size, their addresses, and the
neighbors behind them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from podpath.diagnosis.difference.difference import (
    Difference,
    OnOneNode,
    inside,
    paired_namespaces,
    spans_of,
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
            yield Difference(
                kind="link",
                netns=netns,
                words=f"{mine.name}: {name} is {here} here, and {there} where it works",
                here=spans_of(mine.span),
                there=spans_of(theirs.span),
                commands=(inside(netns, _switching(mine.name, name, there)),),
                changes=(SetLink(netns=netns, link=mine.name, attributes=((name, there),)),),
            )
    if mine.master != theirs.master:
        yield _told_alone(netns, mine, theirs, ("master", mine.master, theirs.master))
    if mine.kind and theirs.kind and mine.kind != theirs.kind:  # none: the listing does not say
        yield _told_alone(netns, mine, theirs, ("kind", mine.kind, theirs.kind))


def _switching(link: str, name: str, value: str) -> str:
    """Return the command that gives a device's attribute a value."""
    match name:
        case "hairpin":
            return f"bridge link set dev {link} hairpin {value}"
        case "state":
            return f"ip link set {link} {value}"
        case _:
            return f"ip link set {link} {name} {value}"


def _told_alone(
    netns: str, mine: Link, theirs: Link, attribute: tuple[str, str | None, str | None]
) -> Difference:
    """Tell of an attribute that no command sets by itself."""
    name, here, there = attribute
    return Difference(
        kind="link",
        netns=netns,
        words=f"{mine.name}: {name} is {here or 'none'} here, and {there or 'none'} where it works",
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
    one = OnOneNode(
        kind="address",
        netns=netns,
        spelled=spelled,
        command="ip addr",
        span=address.span,
        taken=taken,
    )
    return one.tell(change)


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

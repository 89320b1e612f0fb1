"""Repairs of what one node holds of another: routes to its pods, and entries of its tunnel's
end.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.checks.cause import Cause
from podpath.checks.finding import Repair
from podpath.datapath.reasons.devices import TunnelPortClosed, VniUnknown, Wrapped
from podpath.net.addresses import WIDTH, Address, Mac, Prefix
from podpath.node.change import (
    AddRoute,
    DeleteAddress,
    DeleteRoute,
    PutFdbEntry,
    PutNeighbour,
    SetLink,
)
from podpath.node.links import FdbEntry, Link, Neighbour, Vxlan
from podpath.node.node import HOST, Netns, Node
from podpath.node.routing import MAIN, Nexthop, Route


def route_to_pods(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the routes to the destination's node as the node at hand has those to others, or as
    that node has its own back: into the tunnel, else to its address.
    """
    here = node.namespaces.get(cause.step.netns)
    there = _home_of(node, cause.step.before.dst)
    if here is None or there is None or here.name == there.name:
        return
    prefix = _pods_of(there, cause.step.before.dst)
    if prefix is None:
        return
    for hop in (*_through_tunnel(here, there), *_over_wire(node, here, there)):
        onlink = " onlink" if hop.onlink else ""
        route = Route(prefix=prefix, nexthops=(hop,))
        replaced = tuple(
            DeleteRoute(netns=here.name, route=old)
            for old in here.routes.items
            if (old.prefix, old.table, old.metric) == (prefix, MAIN, 0)
        )
        yield Repair(
            title=f"route the pods of {there.node or node.name} to it",
            commands=(f"ip route replace {prefix} via {hop.gateway} dev {hop.link}{onlink}",),
            changes=(*replaced, AddRoute(netns=here.name, route=route)),
        )


def _home_of(node: Node, address: Address) -> Netns | None:
    """Return the host of the pod that has an address."""
    for netns in node.namespaces.values():
        if any(item.address == address for item in netns.addresses.items):
            host = f"{netns.node}/{HOST}" if netns.node else HOST
            return node.namespaces.get(host)
    return None


def _pods_of(host: Netns, address: Address) -> Prefix | None:
    """Return the range of pods that a host holds an address in: what it reaches without a gateway,
    or refuses what is left of.
    """
    ranges = [
        route.prefix
        for route in host.routes.items
        if route.table == MAIN and _is_direct(route) and route.prefix.covers(address)
    ]
    real = [prefix for prefix in ranges if 0 < prefix.length < WIDTH[address.family]]
    return min(real, key=lambda prefix: prefix.length, default=None)


def _is_direct(route: Route) -> bool:
    return all(hop.gateway is None for hop in route.nexthops)


def _through_tunnel(here: Netns, there: Netns) -> Iterator[Nexthop]:
    """Yield the way into a tunnel that both have a device of."""
    for own in here.links.items:
        for other in there.links.items:
            if own.vxlan is None or other.vxlan is None or own.vxlan.vni != other.vxlan.vni:
                continue
            far = next((item for item in there.addresses.items if item.link == other.name), None)
            if far is not None and far.address.family == 4:
                yield Nexthop(link=own.name, gateway=far.address, onlink=True)


def _over_wire(node: Node, here: Netns, there: Netns) -> Iterator[Nexthop]:
    """Yield the way to the other node's own address."""
    for wire in node.wires:
        own = [end for end in wire.ends if end.netns == here.name]
        far = [end for end in wire.ends if end.netns == there.name]
        if wire.prefix is not None and wire.prefix.family == 4 and own and far:
            yield Nexthop(link=own[0].link, gateway=far[0].address)


def rewrite_tunnel_mac(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the entries of the remote end with the MAC that its device has."""
    end = cause.trace.deciding
    receiver = _link_of(node, end.netns, end.link)
    device = cause.step.link
    hop = _next_hop(node, cause)
    remote = _remote_of(cause)
    mac = receiver.mac if receiver is not None else None
    if mac is None or device is None or hop is None or remote is None:
        return
    sender = _link_of(node, cause.step.netns, device)
    if sender is None:
        return
    yield _put_end(cause.step.netns, sender, hop, mac, remote)


def _put_end(netns: str, sender: Link, hop: Address, mac: Mac, remote: Address) -> Repair:
    entry = Neighbour(address=hop, link=sender.name, mac=mac, state="PERMANENT")
    fdb = FdbEntry(mac=mac, link=sender.name, dst=remote)
    return Repair(
        title=f"set the MAC of the tunnel's far end to {mac}",
        commands=(
            f"ip neigh replace {hop} lladdr {mac} dev {sender.name} nud permanent",
            f"bridge fdb replace {mac} dev {sender.name} dst {remote}",
        ),
        changes=(
            PutNeighbour(netns=netns, neighbour=entry),
            PutFdbEntry(netns=netns, entry=fdb),
        ),
    )


def _link_of(node: Node, netns: str, name: str | None) -> Link | None:
    found = node.namespaces.get(netns)
    links = found.links.items if found is not None else ()
    return next((link for link in links if link.name == name), None)


def _next_hop(node: Node, cause: Cause) -> Address | None:
    """Return the next hop whose entry was used."""
    found = node.namespaces.get(cause.step.netns)
    entries = found.neighbours.items if found is not None else ()
    return next((entry.address for entry in entries if entry.span in cause.step.spans), None)


def _remote_of(cause: Cause) -> Address | None:
    reasons = (step.reason for step in cause.trace.steps)
    return next((reason.remote for reason in reasons if isinstance(reason, Wrapped)), None)


def rewrite_tunnel_end(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the forwarding entry with the address of the node that the pod is on."""
    there = _home_of(node, cause.step.before.dst)
    here = node.namespaces.get(cause.step.netns)
    mac = cause.step.before.dmac
    if there is None or here is None or mac is None or cause.step.link is None:
        return
    for hop in _over_wire(node, here, there):
        link = _link_of(node, here.name, cause.step.link)
        if hop.gateway is not None and link is not None:
            entry = FdbEntry(mac=mac, link=link.name, dst=hop.gateway)
            yield Repair(
                title=f"send frames for {mac} to {hop.gateway}",
                commands=(f"bridge fdb replace {mac} dev {link.name} dst {hop.gateway}",),
                changes=(PutFdbEntry(netns=here.name, entry=entry),),
            )


def give_up_address(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the end of an address on the node that has it beside another one."""
    netns = node.namespaces.get(cause.step.netns)
    for item in netns.addresses.items if netns is not None else ():
        if item.secondary and item.span == next(iter(cause.step.spans), None):
            local = tuple(
                DeleteRoute(netns=cause.step.netns, route=route)
                for route in (netns.routes.items if netns is not None else ())
                if route.type == "local" and route.prefix == Prefix.of(item.address)
            )
            yield Repair(
                title=f"remove {item.address} from {item.link}",
                commands=(f"ip addr del {item.address}/{item.length} dev {item.link}",),
                changes=(DeleteAddress(netns=cause.step.netns, address=item), *local),
            )


def bring_tunnel_up(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the device up that the tunnel's packets are for."""
    link = _link_of(node, cause.step.netns, cause.step.link)
    if link is not None and not link.up:
        yield Repair(
            title=f"bring {link.name} up",
            commands=(f"ip link set dev {link.name} up",),
            changes=(
                SetLink(netns=cause.step.netns, link=link.name, attributes=(("state", "up"),)),
            ),
        )


def recreate_tunnel(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the device made anew with the network and port by which the other node sends, with all
    that stood on it.
    """
    reason = cause.trace.deciding.reason
    here = node.namespaces.get(cause.step.netns)
    link = _link_of(node, cause.step.netns, cause.step.link)
    if here is None or link is None or link.vxlan is None or link.master is not None:
        return
    vni, port = link.vxlan.vni, link.vxlan.port
    match reason:
        case VniUnknown(vni=sent):
            vni = sent
        case TunnelPortClosed(port=sent, own=own) if sent != own:
            port = sent
        case _:
            return
    yield Repair(
        title=f"recreate {link.name} with VNI {vni} and port {port}, which the other node uses",
        commands=(
            f"ip link del {link.name}",
            _spell_vxlan(link, link.vxlan, vni, port),
            *_spell_what_stands_on(here, link),
        ),
        changes=(
            SetLink(
                netns=here.name,
                link=link.name,
                attributes=(("vni", str(vni)), ("dstport", str(port))),
            ),
        ),
    )


def _spell_vxlan(link: Link, vxlan: Vxlan, vni: int, port: int) -> str:
    """Spell how a device is made, with the MAC that other nodes know."""
    words = [f"ip link add {link.name}"]
    words += [f"address {link.mac}"] if link.mac is not None else []
    words += [f"mtu {link.mtu} type vxlan id {vni} dstport {port}"]
    words += [f"local {vxlan.local}"] if vxlan.local is not None else []
    words += [f"remote {vxlan.remote}"] if vxlan.remote is not None else []
    words += [f"dev {vxlan.dev}"] if vxlan.dev is not None else []
    words += [] if vxlan.learning else ["nolearning"]
    return " ".join(words)


def _spell_what_stands_on(here: Netns, link: Link) -> Iterator[str]:
    """Spell the addresses, entries and routes that go with a device."""
    for item in here.addresses.items:
        if item.link == link.name and item.scope != "link":
            yield f"ip addr add {item.address}/{item.length} dev {link.name}"
    yield f"ip link set dev {link.name} up"
    for entry in here.neighbours.items:
        if entry.link == link.name and entry.state == "PERMANENT" and entry.mac is not None:
            known = f"{entry.address} lladdr {entry.mac}"
            yield f"ip neigh replace {known} dev {link.name} nud permanent"
    for far in here.fdb.items:
        if far.link == link.name and far.dst is not None:
            yield f"bridge fdb append {far.mac} dev {link.name} dst {far.dst}"
    for route in here.routes.items:
        hop = route.nexthops[0] if len(route.nexthops) == 1 else None
        if hop is not None and hop.link == link.name and route.table == MAIN and hop.gateway:
            onlink = " onlink" if hop.onlink else ""
            yield f"ip route replace {route.prefix} via {hop.gateway} dev {link.name}{onlink}"


def widen_mtu(node: Node, cause: Cause) -> Iterator[Repair]:
    """Yield the MTU of the wire's other end for the device that takes no frame of that length."""
    name = cause.step.link
    others = [
        link.mtu
        for wire in node.wires
        for end in wire.ends
        if end.netns != cause.step.netns
        and (link := _link_of(node, end.netns, end.link)) is not None
    ]
    if name is not None and others:
        mtu = str(max(others))
        yield Repair(
            title=f"give {name} the MTU of the other nodes",
            commands=(f"ip link set dev {name} mtu {mtu}",),
            changes=(SetLink(netns=cause.step.netns, link=name, attributes=(("mtu", mtu),)),),
        )

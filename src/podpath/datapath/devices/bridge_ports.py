"""Behind which port of a bridge a MAC is: the forwarding database, what the walk saw, and where the
node's devices are.
"""

from __future__ import annotations

from podpath.datapath.devices.segment import survey
from podpath.datapath.netns.namespace import Namespace
from podpath.datapath.tracing.frames import is_symbolic
from podpath.datapath.walk.learned import FdbKey
from podpath.datapath.walk.state import Walk
from podpath.net.addresses import Address, IfName, Mac, unseen_mac
from podpath.net.provenance import Basis, Inferred, Known
from podpath.node.links import Link


def find_port(
    walk: Walk, namespace: Namespace, bridge: Link, dmac: Mac, source: Link | None
) -> Link | None:
    """Return the port that a frame goes out of, the bridge itself where it is for the host, or None
    where nobody takes it.

    A learned entry follows its owner with the first frame, so the place of a device that the model
    holds comes before an entry of `bridge fdb`. A MAC that nobody is known to have is flooded: it
    leaves by a port that leads out of the model.
    """
    inside = _find_inside(walk, namespace, bridge, dmac)
    if inside is not None:
        return inside
    key = FdbKey(namespace.name, bridge.name, dmac)
    learned = walk.learned.fdb.get(key) or _listed(namespace, bridge, dmac)
    if learned is not None:
        return learned
    if (
        bridge.mac is None
        and not is_symbolic(dmac)
        and not namespace.netns.fdb.complete
        and source is not None
    ):
        return bridge
    outward = _free_port(walk, namespace, bridge)
    if outward is None and _may_hide_ends(namespace, bridge):
        outward = _unseen_port(namespace, bridge, dmac)
    if outward is not None:
        walk.learned.fdb[key] = outward
    return outward


def _may_hide_ends(namespace: Namespace, bridge: Link) -> bool:
    """Tell whether there may be an end on a bridge that no output shows: a port, or what is behind
    one.
    """
    if not namespace.netns.links.complete:
        return True
    peers = (port.peer for port in namespace.ports.get(bridge.name, ()))
    return any(isinstance(peer, Known) and peer.inferred is not None for peer in peers)


def _find_inside(walk: Walk, namespace: Namespace, bridge: Link, dmac: Mac) -> Link | None:
    """Return the port behind which a device of the model has the MAC, or the bridge itself; found
    once for a node.
    """
    key = ("port of", bridge.name, dmac)
    known = namespace.answers.get(key)
    if isinstance(known, Link):
        return known
    asked = walk.choices.asked
    ports = namespace.ports.get(bridge.name, ())
    if dmac == namespace.mac(bridge) or any(port.mac == dmac for port in ports):
        found = bridge
    else:
        found = None
    for port in ports if found is None else ():
        if any(
            walk.engine.namespace(netns).mac(link) == dmac
            for netns, link in survey(walk, namespace.name, port).stations
        ):
            found = port
            break
    if found is not None and walk.choices.asked == asked:
        namespace.answers[key] = found
    return found


def _listed(namespace: Namespace, bridge: Link, dmac: Mac) -> Link | None:
    for entry in namespace.fdb.get((bridge.name, dmac), ()):
        if entry.local:
            return bridge
        return namespace.link(entry.link)
    return None


def _outward(walk: Walk, namespace: Namespace, bridge: Link) -> list[Link]:
    """Return the ports that lead out of the model: pods' veths before uplinks."""
    ports = [
        port
        for port in namespace.ports.get(bridge.name, ())
        if survey(walk, namespace.name, port).exits
    ]
    return sorted(ports, key=lambda port: not leads_to_one(port))


def outside_mac(walk: Walk, namespace: Namespace, link: Link, address: Address) -> Mac:
    """Return the MAC of a host outside the model: its neighbor entry's, or words that stand for
    it.
    """
    entry = namespace.neighbour(link.name, address)
    if entry is not None and entry.mac is not None:
        return entry.mac
    if not walk.engine.watched:
        return unseen_mac(str(address))
    known = walk.learned.neighbours.outside
    return known.setdefault(address, unseen_mac(f"the host met as number {len(known) + 1}"))


def find_owner(walk: Walk, namespace: Namespace, bridge: Link, address: Address) -> str | None:
    """Return the network namespace behind one of a bridge's ports that has an address; None where
    the model knows of none.
    """
    for port in namespace.ports.get(bridge.name, ()):
        for netns, _ in survey(walk, namespace.name, port).stations:
            if netns != namespace.name and walk.engine.namespace(netns).owns(address):
                return netns
    return None


def place_outside(walk: Walk, namespace: Namespace, bridge: Link, address: Address) -> Link:
    """Return the port behind which a host outside the model is, the same one throughout a walk.

    The forwarding database says it where it holds the host's MAC. Else the port does not matter,
    only that two hosts are behind two: the first port that is free, or one that the evidence does
    not show.
    """
    mac = outside_mac(walk, namespace, bridge, address)
    key = FdbKey(namespace.name, bridge.name, mac)
    port = walk.learned.fdb.get(key) or _listed(namespace, bridge, mac)
    if port is None:
        port = _free_port(walk, namespace, bridge) or _unseen_port(namespace, bridge, mac)
    walk.learned.fdb[key] = port
    return port


def _free_port(walk: Walk, namespace: Namespace, bridge: Link) -> Link | None:
    """Return a port for one more host outside: a pod's veth that no other host is behind, else an
    uplink.
    """
    taken = {
        link.name
        for key, link in walk.learned.fdb.items()
        if (key.netns, key.bridge) == (namespace.name, bridge.name)
    }
    outward = _outward(walk, namespace, bridge)
    pods = [link for link in outward if leads_to_one(link)]
    free = [link for link in pods if link.name not in taken]
    return next(iter(free), None) or next(
        (link for link in outward if not leads_to_one(link)), None
    )


def leads_to_one(link: Link) -> bool:
    """Tell whether whatever leaves by a device reaches one other device: a veth that leads out of
    the node reaches whatever is on the cable.
    """
    return link.peer is not None or (link.kind == "veth" and not link.outward)


def _unseen_port(namespace: Namespace, bridge: Link, mac: Mac) -> Link:
    key = ("unseen port", bridge.name, mac)
    found = namespace.answers.get(key)
    if not isinstance(found, Link):
        name = IfName(f"(port of {bridge.name} to {mac.strip('()')})")
        station = mac.strip("()")
        why = f"the evidence does not show the port of {bridge.name} behind which {station} is"
        found = Link(
            name=name, kind="veth", master=bridge.name, inferred=Inferred(Basis.GUESSED, why)
        )
        namespace.answers[key] = found
        namespace.links[name] = found
    return found

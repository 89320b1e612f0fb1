"""Neighbour tables and sockets, from `ip neigh` and `ss`."""

from __future__ import annotations

from podpath.assembly.drafts.disputes import DisputeClaim, Disputes
from podpath.assembly.drafts.draft import ASKS, NodeDraft, ask_in
from podpath.assembly.scenes.scene import ReadSource, ReadSources
from podpath.evidence.node_records import NeighbourRecord, SocketRecord
from podpath.net.addresses import Address, IfName, Mac
from podpath.node.links import Neighbour
from podpath.node.node import Socket


def assemble_neighbours(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put the neighbor entries that outputs show into their namespaces."""
    found: dict[tuple[str, IfName, Address], list[tuple[ReadSource, NeighbourRecord]]] = {}
    for scene, record in evidence.records(NeighbourRecord):
        if record.link is None:
            disputes.gap(
                record.span, f"expected the device of neighbour {record.address}, saw none"
            )
            continue
        if scene.is_elsewhere:
            continue
        if "proxy" in record.flags:
            draft.netns(scene.netns).proxied.add((IfName(record.link), record.address))
            continue
        found.setdefault((scene.netns, IfName(record.link), record.address), []).append(
            (scene, record)
        )
    for (name, link, address), shown in found.items():
        fact = f"MAC of neighbour {address} on {link} in netns {name}"
        claims = [DisputeClaim(record.mac, record.span, scene.standing) for scene, record in shown]
        mac: Mac | None = disputes.decide(fact, ask_in(name, ASKS["neigh"]), claims)
        _, record = next((one for one in shown if one[1].mac == mac), shown[0])
        state = record.state or ("REACHABLE" if mac is not None else "INCOMPLETE")
        draft.netns(name).neighbours.append(
            Neighbour(address=address, link=link, mac=mac, state=state, span=record.span)
        )


def assemble_sockets(draft: NodeDraft, evidence: ReadSources, disputes: Disputes) -> None:
    """Put the sockets that outputs show into their namespaces."""
    known: set[tuple[object, ...]] = set()
    for scene, record in evidence.records(SocketRecord):
        if record.port is None:
            disputes.gap(record.span, "expected a socket with a port, saw none")
            continue
        if scene.is_elsewhere:
            continue
        netns = draft.netns(scene.netns)
        socket = Socket(
            protocol=record.protocol,
            local=record.local,
            port=record.port,
            state=record.state,
            link=None if record.link is None else IfName(record.link),
            process=record.process or "",
            transparent=record.transparent,
            span=record.span,
        )
        key = (scene.netns, socket.protocol, socket.local, socket.port, socket.state)
        if key not in known:
            known.add(key)
            netns.sockets.append(socket)

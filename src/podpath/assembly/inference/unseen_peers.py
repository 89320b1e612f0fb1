"""Veth devices whose other end no output shows: a namespace behind each that holds nothing but that
end.

A walk that sends a frame into such a device then ends in a namespace of which nothing is known, and
says so.
"""

from __future__ import annotations

from dataclasses import replace

from podpath.assembly.devices.names import looks_internal, looks_like_pod_side, looks_like_uplink
from podpath.assembly.drafts.draft import NetnsDraft, NodeDraft
from podpath.assembly.inference.pod_namespaces import POD_LINK
from podpath.net.provenance import Basis, Inferred, Known
from podpath.node.links import Link, Peer
from podpath.node.node import HOST


def infer_unseen_peers(draft: NodeDraft) -> None:
    """Add the other end of every veth device that leads to a pod; one that leads out of the node
    has none.
    """
    host = draft.host
    for link in list(host.links.values()):
        if link.peer is not None:
            continue
        to_pod = _leads_to_pod(host, link) and not host.leads_out(link)
        if link.kind == "veth" and not to_pod:
            host.links[link.name] = replace(link, outward=True)
        elif to_pod:
            name = f"behind-{link.name}"
            reason = Inferred(
                Basis.GUESSED, f"the other end of {link.name}, which no output shows", link.span
            )
            netns = draft.netns(name, reason)
            back = Known(Peer(netns=HOST, link=link.name), link.span, reason.why, reason)
            netns.links[POD_LINK] = Link(name=POD_LINK, kind="veth", peer=back, inferred=reason)
            there = Known(Peer(netns=name, link=POD_LINK), link.span, reason.why, reason)
            host.links[link.name] = replace(link, kind="veth", peer=there)


def _leads_to_pod(host: NetnsDraft, link: Link) -> bool:
    """Tell whether a device is a veth by its kind or name, or a port of a bridge that is nothing
    else by its.
    """
    master = host.links.get(link.master) if link.master is not None else None
    plain_port = master is not None and master.kind == "bridge" and not link.kind
    return looks_like_pod_side(link) or (
        plain_port and not (looks_like_uplink(link) or looks_internal(link))
    )

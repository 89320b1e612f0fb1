"""Pods that the host routes to one by one: a route to a single address over a device that leads to
no other host.
"""

from __future__ import annotations

from collections.abc import Iterator

from podpath.assembly.devices.names import looks_like_pod_side
from podpath.assembly.drafts.draft import NodeDraft
from podpath.assembly.inference.pod_namespaces import PodSeed, add_pod
from podpath.net.addresses import WIDTH
from podpath.node.node import HOST
from podpath.node.routing import MAIN


def infer_routed_pods(draft: NodeDraft) -> None:
    """Add a namespace for each address that the host routes over a device of its own."""
    for seed in list(_find_seeds(draft)):
        owner = draft.owner(seed.address)
        link = draft.host.links.get(seed.host_link) if seed.host_link is not None else None
        if owner is None or (owner.name != HOST and link is not None and link.peer is None):
            add_pod(draft, seed)


def _find_seeds(draft: NodeDraft) -> Iterator[PodSeed]:
    for route in draft.host.routes:
        single = route.prefix.length == WIDTH[route.prefix.family] and route.type == "unicast"
        if not single or route.table != MAIN or len(route.nexthops) != 1:
            continue
        hop = route.nexthops[0]
        link = draft.host.links.get(hop.link) if hop.link is not None else None
        if (
            hop.gateway is None
            and link is not None
            and looks_like_pod_side(link)
            and link.master is None
        ):
            address = route.prefix.address
            reason = f"the host's route at {route.span} leads to {address} alone over {link.name}"
            yield PodSeed(
                address=address, reason=reason, shown=True, span=route.span, host_link=link.name
            )

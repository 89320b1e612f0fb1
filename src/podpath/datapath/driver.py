"""The driver: one packet from stage to stage as the tables of `order` say, until an outcome."""

from __future__ import annotations

from podpath.datapath.not_modelled import boundary
from podpath.datapath.order import ORDER
from podpath.datapath.skb import Skb, Walk
from podpath.datapath.trace import Outcome

HOPS = 400
"""Changes of path after which a packet goes in a circle: a TTL of 64 allows 64 forwards of 5 changes each."""


def drive(walk: Walk, skb: Skb, path: str) -> Outcome:
    """Send a packet down a path until it ends."""
    for _ in range(HOPS):
        path_or_outcome = _run(walk, skb, path)
        if not isinstance(path_or_outcome, str):
            return path_or_outcome
        path = path_or_outcome
    return boundary(walk, skb, "circle")


def _run(walk: Walk, skb: Skb, path: str) -> str | Outcome:
    for stage in ORDER[skb.packet.family][path]:
        following = stage.run(walk, skb)
        if following is not None:
            return following
    raise AssertionError(f"the path {path} ends without saying how it goes on")
